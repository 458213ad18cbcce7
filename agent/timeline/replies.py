"""How far each reply has got, whichever of them comes to be spoken.

A reply is begun before the turn is known to be over, and begun anew when the caller goes on. Each
is a speech of the framework's, whose tasks inherit a variable that names it; so what is noted while
a reply is made is kept apart from what other attempts noted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from enum import StrEnum
from typing import TypeVar

from livekit.agents.voice.agent_activity import _SpeechHandleContextVar

from agent.timeline.clock import CallClock

T = TypeVar("T")

KEPT = 16  # attempts at once are few; a call has many replies


class Stage(StrEnum):
    """What a reply goes through before it sounds; the names are the waterfall's."""

    FIRST_TOKEN = "first_token"
    FIRST_SENTENCE = "first_sentence"
    CHECK = "check"
    FIRST_AUDIO = "first_audio"


def speech_id() -> str | None:
    """The framework's id of the reply that the running task works on; None outside of any."""
    handle = _SpeechHandleContextVar.get(None)
    return None if handle is None else handle.id


class Replies:
    """When the last replies reached each stage, in milliseconds of the call."""

    def __init__(self, clock: CallClock) -> None:
        self._clock = clock
        self._reached: dict[str, dict[Stage, float]] = {}

    def reached(self, *stages: Stage) -> None:
        """The reply that the running task works on is there; only the first time counts."""
        speech = speech_id()
        if speech is None:
            return
        moments = self._reached.setdefault(speech, {})
        for stage in stages:
            moments.setdefault(stage, self._clock.now_ms())
        if len(self._reached) > KEPT:
            del self._reached[next(iter(self._reached))]

    async def noting(self, stage: Stage, items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """Pass items on; with the first of them the reply has reached `stage`."""
        async with aclosing(items):
            async for item in items:
                self.reached(stage)
                yield item

    def of(self, speech: str | None) -> Mapping[Stage, float]:
        """The stages that a reply has reached; empty for one that nothing was noted of."""
        return self._reached.get(speech or "", {})
