"""What a call sends to a collector, and that a collector at fault costs the call nothing."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from agent.settings import BadSettings
from agent.telemetry import otlp
from agent.telemetry.call import CallTelemetry
from agent.telemetry.otlp import CallExport
from agent.timeline.clock import CallClock
from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline
from selfhost.ports import free_port
from tests.agent.telemetry.test_spans import GAP_MS, SAID, WATERFALL
from tests.collector import collecting

PROVIDERS = {"stt": "selfhosted/default", "llm": "openrouter/gpt", "tts": "livekit/default"}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but the test's own."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", otlp.HTTP_PROTOBUF)  # put back afterwards


def hold_call(telemetry: CallTelemetry) -> Timeline:
    """A call with one turn, as its timeline has it."""
    timeline = Timeline(CallClock())
    telemetry.listen(timeline)
    timeline.emit(EventType.CALL_STARTED, t_ms=0, call_id="RM_1", providers=PROVIDERS)
    timeline.emit(EventType.AGENT_SPEAKING, t_ms=800, gap_ms=None, waterfall=None)
    timeline.turn = 1
    timeline.emit(EventType.FINAL_TRANSCRIPT, t_ms=4_600, text=SAID, silence_to_final_ms=300.0)
    timeline.emit(EventType.AGENT_SPEAKING, t_ms=5_000, gap_ms=GAP_MS, waterfall=WATERFALL)
    timeline.emit(EventType.AGENT_STOPPED, t_ms=7_000, text=SAID, interrupted=False)
    timeline.emit(EventType.CALL_ENDED, t_ms=9_000, reason="user_initiated")
    return timeline


async def test_a_collector_gets_the_call_as_one_trace_whose_parts_add_up_to_the_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with collecting() as collector:
        monkeypatch.setenv(otlp.ENDPOINT, collector.url)
        telemetry = CallTelemetry.load()
        hold_call(telemetry)
        await telemetry.aclose()
    (call,) = (span for span in collector.spans if not span.parent)
    assert (call.name, call.ms) == ("call", pytest.approx(9_000, abs=0.01))
    assert call.attributes == {"call_id": "RM_1", "reason": "user_initiated", **PROVIDERS}
    greeting, turn = collector.below(call, "turn")
    assert greeting.attributes["turn"] == 0
    (gap,) = collector.below(turn, "gap")
    parts = collector.below(gap)
    assert sum(part.ms for part in parts) == pytest.approx(gap.ms, abs=0.01)
    assert gap.ms == pytest.approx(GAP_MS, abs=0.01)
    assert collector.services == {otlp.SERVICE}
    assert collector.histogram("hotel_voice.gap") == (1, GAP_MS / 1000)
    assert collector.histogram("hotel_voice.end_of_turn") == (1, 0.3)
    assert SAID.encode() not in b"".join(collector.requests)


@contextmanager
def silent() -> Iterator[str]:
    """A collector that takes a connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def refusing() -> Iterator[str]:
    yield f"http://127.0.0.1:{free_port()}"


@pytest.mark.parametrize("fault", [silent, refusing])
async def test_a_collector_at_fault_takes_nothing_from_the_call(
    fault: Callable[[], AbstractContextManager[str]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(otlp, "FLUSH_S", 0.5)
    with fault() as url:
        monkeypatch.setenv(otlp.ENDPOINT, url)
        telemetry = CallTelemetry.load()
        timeline = hold_call(telemetry)
        # Everything was told while nothing could be sent, and the end does not wait for it.
        assert "this call's telemetry ends here" not in caplog.messages
        assert [event.seq for event in timeline.events] == [1, 2, 3, 4, 5, 6]
        await asyncio.wait_for(telemetry.aclose(), timeout=5)


def test_a_fault_of_the_telemetry_ends_it_and_not_the_call(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(otlp.ENDPOINT, f"http://127.0.0.1:{free_port()}")
    export = CallExport.if_configured()
    assert export is not None
    monkeypatch.setattr(export, "add", lambda *_: 1 / 0)
    timeline = hold_call(CallTelemetry(None, export))
    assert timeline.events[-1].type is EventType.CALL_ENDED
    assert [record.getMessage() for record in caplog.records if record.exc_info] == [
        "this call's telemetry ends here"
    ]


def test_nothing_is_sent_unless_a_collector_is_named(tmp_path: Path) -> None:
    assert CallExport.if_configured() is None
    (tmp_path / ".env").write_text("OTEL_EXPORTER_OTLP_ENDPOINT=\n")
    assert CallExport.if_configured() is None


def test_a_collector_may_be_named_in_the_env_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    (tmp_path / ".env").write_text("OTEL_EXPORTER_OTLP_ENDPOINT=http://10.0.0.1:4318\n")
    assert otlp.endpoint() == "http://10.0.0.1:4318"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        (otlp.ENDPOINT, "collector:4318", "expected an address such as http://"),
        (otlp.PROTOCOL, "grpc", "expected http/protobuf"),
    ],
)
def test_a_collector_that_cannot_be_reached_so_is_named(
    name: str, value: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(otlp.ENDPOINT, "http://127.0.0.1:4318")
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=expected):
        otlp.endpoint()
