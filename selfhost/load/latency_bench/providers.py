"""Sets of providers to compare: who hears, who words, who speaks. Pure: from words to settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selfhost.errors import SetupError

SELFHOSTED, LIVEKIT, OPENAI, OPENROUTER = "selfhosted", "livekit", "openai", "openrouter"
PROVIDERS = (SELFHOSTED, LIVEKIT, OPENAI, OPENROUTER)


@dataclass(frozen=True)
class ProviderSet:
    """A provider for each of the three parts.

    Args:
        name: as the user wrote it.
    """

    name: str
    stt: str
    llm: str
    tts: str

    def settings(self) -> dict[str, str]:
        """The worker's settings that choose it."""
        return {
            "STT_PROVIDER": self.stt,
            "LLM_PROVIDER": self.llm,
            "TTS_PROVIDER": self.tts,
        }

    def missing(self, environment: Mapping[str, str]) -> list[str]:
        """The variables that it needs and that are not set."""
        wanted: list[str] = []
        parts = {"STT": self.stt, "LLM": self.llm, "TTS": self.tts}
        for part, provider in parts.items():
            if provider == OPENAI and not environment.get(f"{part}_BASE_URL"):
                wanted.append(f"{part}_API_KEY")
        if OPENROUTER in parts.values():
            wanted.append("OPENROUTER_API_KEY")
        # With a room in LiveKit Cloud, the room's own keys are good for its models too.
        if LIVEKIT in parts.values() and not environment.get("LIVEKIT_URL"):
            wanted += ["LIVEKIT_INFERENCE_API_KEY", "LIVEKIT_INFERENCE_API_SECRET"]
        return [name for name in wanted if not environment.get(name)]


ALL_SELFHOSTED = ProviderSet(SELFHOSTED, SELFHOSTED, SELFHOSTED, SELFHOSTED)


def parse(text: str) -> list[ProviderSet]:
    """Read `SET[,SET]`: `A` is A for all three, `A+B` is A to hear and speak and B to word,
    `A+B+C` is A to hear, B to word and C to speak.

    Raises:
        SetupError: this is no list of sets.
    """
    sets = [_parse_set(one.strip()) for one in text.split(",") if one.strip()]
    if not sets:
        raise SetupError(f"--providers: expected sets such as {SELFHOSTED},{LIVEKIT}+{OPENROUTER}")
    if len({one.name for one in sets}) < len(sets):
        raise SetupError(f"--providers {text}: expected each set once")
    return sets


def _parse_set(text: str) -> ProviderSet:
    names = [name.strip() for name in text.split("+")]
    for name in names:
        if name not in PROVIDERS:
            raise SetupError(f"--providers {text}: expected names of {', '.join(PROVIDERS)}")
    match names:
        case [all_three]:
            found = ProviderSet(text, all_three, all_three, all_three)
        case [ears_and_mouth, words]:
            found = ProviderSet(text, ears_and_mouth, words, ears_and_mouth)
        case [ears, words, mouth]:
            found = ProviderSet(text, ears, words, mouth)
        case _:
            raise SetupError(f"--providers {text}: expected at most three names joined by +")
    if OPENROUTER in (found.stt, found.tts):
        raise SetupError(
            f"--providers {text}: OpenRouter serves language models only; "
            f"expected a set such as {LIVEKIT}+{OPENROUTER}"
        )
    return found


def skipped(chosen: ProviderSet, environment: Mapping[str, str]) -> str | None:
    """Why a set cannot be measured, in one sentence; None if it can."""
    missing = chosen.missing(environment)
    if not missing:
        return None
    return f"{chosen.name} is left out: to measure it, set {', '.join(missing)}."
