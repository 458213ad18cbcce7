"""Which sets of providers can be compared."""

from __future__ import annotations

import pytest

from selfhost.errors import SetupError
from selfhost.load.latency_bench.providers import ProviderSet, parse, skipped


def test_one_name_is_for_all_three_two_part_the_words_from_the_sound() -> None:
    assert parse("selfhosted, livekit+openrouter,openai+livekit+selfhosted") == [
        ProviderSet("selfhosted", "selfhosted", "selfhosted", "selfhosted"),
        ProviderSet("livekit+openrouter", "livekit", "openrouter", "livekit"),
        ProviderSet("openai+livekit+selfhosted", "openai", "livekit", "selfhosted"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected sets"),
        ("selfhosted,nobody", "nobody"),
        ("openrouter", "language models only"),
        ("livekit+openai+livekit+openai", "at most three"),
        ("selfhosted,selfhosted", "each set once"),
    ],
)
def test_what_is_no_set_is_refused_with_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(SetupError, match=problem):
        parse(text)


@pytest.mark.parametrize(
    ("text", "environment", "missing"),
    [
        ("selfhosted", {}, []),
        ("selfhosted+openrouter", {}, ["OPENROUTER_API_KEY"]),
        ("selfhosted+openrouter", {"OPENROUTER_API_KEY": "key"}, []),
        ("livekit", {}, ["LIVEKIT_INFERENCE_API_KEY", "LIVEKIT_INFERENCE_API_SECRET"]),
        ("livekit", {"LIVEKIT_URL": "wss://one.livekit.cloud"}, []),
        ("openai", {"STT_BASE_URL": "http://one", "LLM_API_KEY": "key"}, ["TTS_API_KEY"]),
    ],
)
def test_a_set_without_its_keys_is_left_out_and_says_which_to_set(
    text: str, environment: dict[str, str], missing: list[str]
) -> None:
    (chosen,) = parse(text)
    assert chosen.missing(environment) == missing
    reason = skipped(chosen, environment)
    assert (reason is None) is (not missing)
    for name in missing:
        assert reason is not None
        assert name in reason
