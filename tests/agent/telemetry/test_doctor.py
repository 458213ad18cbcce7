"""What the doctor says of the collector."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.doctor import Finding, examine
from agent.settings import Settings
from agent.telemetry import otlp
from selfhost.ports import free_port
from tests.collector import collecting


@pytest.fixture(autouse=True)
def nothing_else_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(otlp.ENDPOINT, raising=False)


async def collector() -> Finding:
    nowhere = free_port()
    settings = Settings(
        livekit_url=f"ws://127.0.0.1:{nowhere}",
        model_server_port=nowhere,
        generation_port=nowhere,
    )
    (found,) = (one for one in await examine(settings) if one.part == "collector")
    return found


async def test_a_collector_that_takes_traces_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as running:
        monkeypatch.setenv(otlp.ENDPOINT, f"{running.url}/")
        monkeypatch.setenv(otlp.HEADERS, "authorization=concealed")
        found = await collector()
    assert found.ok
    assert running.requests == [b""]
    assert "concealed" not in found.detail


async def test_a_collector_that_is_not_there_is_told_and_none_is_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (await collector()).ok
    monkeypatch.setenv(otlp.ENDPOINT, f"http://127.0.0.1:{free_port()}")
    found = await collector()
    assert (found.ok, found.detail) == (False, "cannot be reached")
    assert otlp.ENDPOINT in found.cure
