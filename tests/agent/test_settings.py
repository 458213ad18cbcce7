"""Settings choose each endpoint by itself, and say what is wrong without showing a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.session import build_llm, build_stt, build_tts
from agent.settings import BadSettings, Provider, Settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable and no .env of the machine reaches these tests."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


def test_with_nothing_set_everything_is_on_this_machine() -> None:
    settings = Settings.load()
    assert settings.stt_url == settings.tts_url == "http://127.0.0.1:8100/v1"
    assert settings.llm_url == "http://127.0.0.1:8200/v1"
    assert settings.livekit_url == "ws://127.0.0.1:7880"


def test_each_part_can_be_replaced_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "openrouter")
    monkeypatch.setenv("OPENROUTER_API_KEY", "key")
    settings = Settings.load()
    assert settings.llm_url == "https://openrouter.ai/api/v1"
    assert build_llm(settings).model == "openai/gpt-4.1-mini"
    assert settings.stt_provider is settings.tts_provider is Provider.SELFHOSTED


def test_livekit_inference_is_linden_with_partials_and_fish_audio(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "STT_PROVIDER": "livekit",
        "TTS_PROVIDER": "livekit",
        "LIVEKIT_INFERENCE_URL": "https://inference.example",
        "LIVEKIT_INFERENCE_API_KEY": "key",
        "LIVEKIT_INFERENCE_API_SECRET": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    settings = Settings.load()
    stt = build_stt(settings, None, [])  # type: ignore[arg-type]
    assert stt.model == "speechmatics/linden-1"
    assert stt.capabilities.interim_results
    assert build_tts(settings).model == "fishaudio/s2.1-pro"


def test_the_default_recogniser_gives_partials_and_takes_keywords() -> None:
    stt = build_stt(Settings.load(), None, ["October"])  # type: ignore[arg-type]
    assert stt.capabilities.interim_results
    assert stt.capabilities.keyterms


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LLM_PROVIDER": "openrouter"}, "OPENROUTER_API_KEY"),
        ({"STT_PROVIDER": "openrouter"}, "expected selfhosted, livekit or openai"),
        ({"TTS_PROVIDER": "openai"}, "TTS_API_KEY"),
        ({"STT_PROVIDER": "elsewhere"}, "STT_PROVIDER"),
        ({"WORKER_PORT": "many"}, "WORKER_PORT"),
    ],
)
def test_a_setting_that_cannot_work_is_named(
    environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=expected):
        Settings.load()


def test_a_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-very-secret")
    monkeypatch.setenv("LLM_PROVIDER", "openrouter")
    with pytest.raises(BadSettings) as raised:
        Settings.load()
    assert "sk-very-secret" not in str(raised.value)
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-other-secret")
    settings = Settings.load()
    assert "secret" not in repr(settings.llm_api_key) + str(settings.describe_providers())


@pytest.mark.parametrize(
    ("provider", "wanted", "common", "replies"),
    [
        ("selfhosted", "", True, True),
        ("livekit", "", True, False),  # paid by the character, and some of it is never heard
        ("livekit", "all", True, True),
        ("selfhosted", "common", True, False),
        ("selfhosted", "none", False, False),
    ],
)
def test_speech_is_made_ahead_where_it_costs_nothing_or_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, provider: str, wanted: str, common: bool, replies: bool
) -> None:
    monkeypatch.setenv("TTS_PROVIDER", provider)
    monkeypatch.setenv("SPEECH_AHEAD", wanted)
    settings = Settings.load()
    assert settings.makes_common_speech_ahead is common
    assert settings.makes_replies_ahead is replies
