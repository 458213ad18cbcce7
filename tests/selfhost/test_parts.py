"""Which parts run, what they need, and what they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from selfhost import parts
from selfhost.errors import SetupError
from selfhost.settings import StackSettings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but the test's own."""
    monkeypatch.chdir(tmp_path)
    for name in StackSettings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def build(settings: StackSettings, profile: parts.Profile = "cpu") -> dict[str, parts.Part]:
    every = parts.build(
        settings,
        profile,
        room_server_program=Path("/bin/livekit-server"),
        room_server_config=Path("/state/room-server.yaml"),
    )
    return {part.name: part for part in every}


def test_the_worker_waits_for_the_rooms_and_the_models() -> None:
    every = build(StackSettings())
    assert list(every) == list(parts.NAMES)
    assert every["worker"].needs == ("room-server", "model-server", "generation")
    assert all(not every[name].needs for name in parts.NAMES if name != "worker")


@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_the_model_server_waits_for_generation_where_both_use_the_card(device: str) -> None:
    settings = StackSettings(model_server_device=device)
    every = build(settings, "gpu")
    assert every["model-server"].needs == ("generation",)
    assert every["generation"].needs == ()
    assert build(settings, "cpu")["model-server"].needs == ()


def test_a_model_server_beside_the_card_waits_for_nobody() -> None:
    assert build(StackSettings(), "gpu")["model-server"].needs == ()
    elsewhere = StackSettings(model_server_device="cuda", llm_provider="openrouter")
    assert build(elsewhere, "gpu")["model-server"].needs == ()


def test_a_room_server_elsewhere_is_used_and_none_is_started() -> None:
    settings = StackSettings(
        livekit_url="wss://rooms.example", livekit_api_key="key", livekit_api_secret="hidden"
    )
    every = build(settings)
    assert "room-server" not in every
    assert every["worker"].needs == ("model-server", "generation")
    assert every["page"].environment["LIVEKIT_URL"] == "wss://rooms.example"


def test_models_reached_elsewhere_are_not_started() -> None:
    every = build(StackSettings(llm_provider="openrouter", stt_provider="livekit"))
    assert "generation" not in every
    assert "model-server" in every  # it still speaks
    every = build(StackSettings(stt_provider="livekit", tts_base_url="http://voice.example/v1"))
    assert "model-server" not in every


def test_only_drops_needs_that_run_elsewhere() -> None:
    every = tuple(build(StackSettings()).values())
    chosen = parts.choose(every, ("worker", "generation"))
    assert [part.name for part in chosen] == ["generation", "worker"]
    assert chosen[1].needs == ("generation",)


def test_every_part_is_told_where_the_others_are_and_to_stay_on_this_machine() -> None:
    environment = build(StackSettings(livekit_port=9000, generation_port=9100))[
        "worker"
    ].environment
    assert environment["LIVEKIT_URL"] == "ws://127.0.0.1:9000"
    assert environment["GENERATION_PORT"] == "9100"
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert "127.0.0.1" in environment["NO_PROXY"].split(",")


def test_only_the_worker_serves_its_metrics_and_only_if_it_is_to() -> None:
    every = build(StackSettings(worker_metrics_port=9200))
    assert every["worker"].environment["WORKER_METRICS_PORT"] == "9200"
    assert [port.variable for port in every["worker"].ports] == [
        *("WORKER_PORT", "WORKER_METRICS_PORT"),
    ]
    assert "WORKER_METRICS_PORT" not in every["page"].environment
    (health,) = build(StackSettings(worker_metrics_port=0))["worker"].ports
    assert health.variable == "WORKER_PORT"


def test_a_proxy_exception_that_the_user_made_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    no_proxy = build(StackSettings())["page"].environment["NO_PROXY"]
    assert no_proxy.split(",")[0] == "intranet.example"


def test_no_key_is_on_a_command_line_that_any_user_can_read() -> None:
    settings = StackSettings(
        livekit_api_key="key", livekit_api_secret="hidden", model_server_api_key="concealed"
    )
    words = " ".join(word for part in build(settings).values() for word in part.command)
    assert "hidden" not in words
    assert "concealed" not in words


def test_the_models_key_is_given_to_whoever_asks_them() -> None:
    environment = build(StackSettings(model_server_api_key="concealed"))["worker"].environment
    assert environment["MODEL_SERVER_API_KEY"] == environment["LLM_API_KEY"] == "concealed"
    elsewhere = StackSettings(model_server_api_key="concealed", llm_provider="openrouter")
    assert "LLM_API_KEY" not in build(elsewhere)["worker"].environment


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"livekit_url": "wss://rooms.example"}, "needs LIVEKIT_API_KEY and LIVEKIT_API_SECRET"),
        ({"livekit_url": "rooms"}, "LIVEKIT_URL: expected an address"),
        ({"livekit_api_key": "alone"}, "belong together"),
        ({"selfhost_host": "0.0.0.0"}, "set LIVEKIT_API_KEY and LIVEKIT_API_SECRET"),
        (
            {"selfhost_host": "0.0.0.0", "livekit_api_key": "k", "livekit_api_secret": "hidden"},
            "set MODEL_SERVER_API_KEY",
        ),
        ({"selfhost_host": "myhost"}, "SELFHOST_HOST: expected an address such as 127.0.0.1"),
        ({"page_port": "70000"}, "PAGE_PORT"),
    ],
)
def test_settings_that_cannot_work_are_one_message(given: dict[str, str], expected: str) -> None:
    with pytest.raises(SetupError) as failure:
        StackSettings.load(**given)
    assert expected in str(failure.value)
    assert "hidden" not in str(failure.value)


def test_generation_is_served_by_the_engine_that_was_asked_for() -> None:
    def command(profile: parts.Profile, **given: str) -> tuple[str, ...]:
        return build(StackSettings.load(**given), profile)["generation"].command

    assert command("cpu")[3:7] == ("generate", "--engine", "llama", "--device")
    assert command("gpu")[4:8] == ("--engine", "vllm", "--device", "gpu")
    assert command("cpu", generation_engine="vllm")[4:8] == ("--engine", "vllm", "--device", "cpu")
    with pytest.raises(SetupError, match="GENERATION_ENGINE"):
        command("gpu", generation_engine="llama")


def test_a_hung_engine_is_its_fronts_to_end_and_the_stack_asks_the_front() -> None:
    generation = build(StackSettings())["generation"]
    assert generation.live_url is not None
    assert generation.live_url != generation.ready_url
