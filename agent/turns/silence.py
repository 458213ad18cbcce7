"""What the agent does about a caller who says nothing: asks twice, then says goodbye.

Words count, not sounds. A noisy room keeps the detector of speech busy for ever, and a recogniser
makes words of it now and then that mean nothing; neither may keep a line open that nobody speaks
on. A sound only earns a little more time, as words may still come of it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from livekit.agents import AgentSession, ErrorEvent, UserInputTranscribedEvent

logger = logging.getLogger("agent.turns.silence")

GLANCE_S = 0.2  # how often it is looked at
AFTER_GOODBYE_S = 3.0  # for a last word, once both have said goodbye
# Words are there within this time after a sound, also on a busy machine. They are waited for, but
# no silence takes more than twice as long for it.
WORDS_AFTER_S = 5.0
# A caller who is not understood so often in a row will not be understood the next time either.
UNCLEAR_TURNS = 4


class Step(StrEnum):
    """What is done about the silence now."""

    WAIT = "wait"
    PROMPT = "prompt"
    GIVE_UP = "give_up"  # say goodbye and hang up
    HANG_UP = "hang_up"  # goodbye has been said


@dataclass(frozen=True)
class Patience:
    """How long the agent waits for a caller.

    Attributes:
        prompt_s: silence before each prompt and before the goodbye, in seconds.
        prompts: how often the agent asks before it says goodbye.
    """

    prompt_s: float
    prompts: int = 2


def next_step(
    silent_s: float,
    *,
    soundless_s: float,
    prompts: int,
    unclear_turns: int,
    farewell: bool,
    patience: Patience,
) -> Step:
    """Decide about a silence.

    Args:
        silent_s: since the caller's last word or the agent's last sound, in seconds.
        soundless_s: since the caller was last heard to make a sound, in seconds.
        prompts: how often the agent has asked since the caller was last understood.
        unclear_turns: how many turns in a row were words without a meaning.
        farewell: whether the agent has answered the caller's goodbye.
        patience: how long the agent waits.
    """
    if farewell:
        return Step.HANG_UP if silent_s >= AFTER_GOODBYE_S else Step.WAIT
    if unclear_turns >= UNCLEAR_TURNS:
        return Step.GIVE_UP
    wait_s = patience.prompt_s * (2 if soundless_s < WORDS_AFTER_S else 1)
    if silent_s < wait_s:
        return Step.WAIT
    return Step.PROMPT if prompts < patience.prompts else Step.GIVE_UP


class SilenceWatch:
    """Watches one call, and ends it when nobody speaks.

    Args:
        session: the call's session.
        patience: how long it waits.
        words: what to say at a step.
        hang_up: ends the call.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        session: AgentSession[None],
        patience: Patience,
        *,
        words: Callable[[Step], str],
        hang_up: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._patience = patience
        self._words = words
        self._hang_up = hang_up
        self._clock = clock
        self._since_s = clock()
        self._sound_s = -math.inf  # when the caller was last heard to make a sound
        self._prompts = 0
        self._unclear_turns = 0
        self._farewell = False
        self._task: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None

    @property
    def prompts(self) -> int:
        """How often the agent has asked since the caller was last understood."""
        return self._prompts

    def start(self) -> None:
        """Watch from now on."""
        self._session.on("user_input_transcribed", self._on_transcribed)
        self._session.on("error", self._on_error)
        self._task = asyncio.create_task(self._watch())

    def stop(self) -> None:
        """The call is over."""
        if self._task is not None:
            self._task.cancel()

    def heard(self, *, understood: bool, farewell: bool) -> None:
        """Take note of a turn of the caller's.

        Args:
            understood: whether anything in it had a meaning.
            farewell: whether the agent answers it with goodbye.
        """
        self._farewell = farewell
        if understood:
            self._prompts = self._unclear_turns = 0
        else:
            self._unclear_turns += 1

    def _on_transcribed(self, _: UserInputTranscribedEvent) -> None:
        self._since_s = self._clock()

    def _on_error(self, _: ErrorEvent) -> None:
        # A caller who is not heard because a part failed is not silent.
        self._since_s = self._clock()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(GLANCE_S)
            if self._session.user_state == "speaking":
                self._sound_s = self._clock()
            if self._session.agent_state != "listening" or self._session.current_speech is not None:
                self._since_s = self._clock()
                continue
            step = next_step(
                self._clock() - self._since_s,
                soundless_s=self._clock() - self._sound_s,
                prompts=self._prompts,
                unclear_turns=self._unclear_turns,
                farewell=self._farewell,
                patience=self._patience,
            )
            if step is Step.WAIT:
                continue
            logger.info("the caller is silent: %s", step.value)
            spoken_over = False
            if step is not Step.HANG_UP:
                speech = self._session.say(self._words(step))
                await speech
                spoken_over = speech.interrupted
            if step is Step.PROMPT or spoken_over:
                self._prompts = 0 if spoken_over else self._prompts + 1
                self._since_s = self._clock()
                continue
            # The end of the call stops this watch, which still has the call to end.
            self._leaving, self._task = self._task, None
            await self._hang_up()
            return
