"""Who has the floor while the agent speaks and the caller makes a sound.

At the caller's first sound the agent is held, as nobody can know yet what it will be. Words decide:
a "wait" or an answer ends the reply; a "mhmm", a cough or nothing lets it go on from where it was
held. What lets it go on is kept from the framework, which would take it for a turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from livekit.agents import AgentSession, UserStateChangedEvent, stt

from agent.turns.backchannel import Verdict, over_agent
from agent.turns.playout import Playout

# After the detector of speech is sure, so that a clap does not hold the agent.
HOLD_AFTER_S = 0.06
# A sound that brings no words for so long is no speech, however long it lasts.
HOLD_AT_MOST_S = 1.0
# After so many sounds without a word, as from a room full of people, the rest of the reply is not
# held for any more of them.
WORDLESS_HOLDS = 2
# The words of a sound that has ended are there within this time of the detector's noticing.
WORDS_AFTER_S = 0.35

_WORDS = (
    stt.SpeechEventType.INTERIM_TRANSCRIPT,
    stt.SpeechEventType.PREFLIGHT_TRANSCRIPT,
    stt.SpeechEventType.FINAL_TRANSCRIPT,
)


@dataclass(frozen=True)
class Overlap:
    """A sound of the caller's that began while the agent was heard."""

    asks_yes_or_no: bool
    remaining_s: float | None


class Floor:
    """Holds the agent's sound while the caller makes one, and lets the words decide.

    Args:
        session: the call's session.
        playout: the agent's sound.
        asks_yes_or_no: tells whether the reply being spoken ends in a question that "yes" answers.
    """

    def __init__(
        self,
        session: AgentSession[None],
        playout: Playout,
        asks_yes_or_no: Callable[[], bool],
    ) -> None:
        self._session = session
        self._playout = playout
        self._asks_yes_or_no = asks_yes_or_no
        self._overlap: Overlap | None = None
        self._wordless = 0  # how often this reply was held for a sound that brought no words
        self._timer: asyncio.TimerHandle | None = None
        session.on("user_state_changed", self._on_user_state)

    async def passes(self, event: stt.SpeechEvent) -> bool:
        """Whether what the recogniser heard is for the framework; returns once it may have it."""
        if event.type in _WORDS and not self._takes_the_floor(event):
            return False
        await self._uninterruptible()
        return True

    def _takes_the_floor(self, event: stt.SpeechEvent) -> bool:
        overlap = self._overlap
        if overlap is None and self._playout.sounding:
            # Begun before the reply that it comes into, so it cannot be an answer to it.
            overlap = Overlap(asks_yes_or_no=False, remaining_s=None)
        if overlap is None or not event.alternatives:
            return True
        self._wordless = 0
        verdict = over_agent(
            event.alternatives[0].text,
            asks_yes_or_no=overlap.asks_yes_or_no,
            remaining_s=overlap.remaining_s,
        )
        if verdict is Verdict.GIVE_WAY:
            self._overlap = None
            self._give_way()
            return True
        if event.type is stt.SpeechEventType.FINAL_TRANSCRIPT or not self._caller_speaks():
            self._let_go_on()
        return False

    def _give_way(self) -> None:
        speech = self._session.current_speech
        if speech is not None and speech.allow_interruptions and self._playout.sounding:
            # Cut first: what the framework gives up is still being made for a moment.
            self._playout.cut()
            with contextlib.suppress(RuntimeError):  # the session is closing
                self._session.interrupt()
        self._let_go_on()

    async def _uninterruptible(self) -> None:
        """Keep words that came over a line that may not be interrupted until it has been said.

        The framework would drop a turn that ends while such a line is spoken.
        """
        speech = self._session.current_speech
        if speech is not None and not speech.allow_interruptions and self._playout.sounding:
            await speech.wait_for_playout()
            # The framework takes a moment to see that it has, and has no event for that.
            while self._session.current_speech is speech:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    # --- the sound itself ---

    def _caller_speaks(self) -> bool:
        return self._session.user_state == "speaking"

    def _on_user_state(self, event: UserStateChangedEvent) -> None:
        if event.new_state == "speaking":
            self._cancel_timer()
            if self._playout.sounding:
                self._overlap = Overlap(self._asks_yes_or_no(), self._playout.remaining_s)
                if self._wordless < WORDLESS_HOLDS:
                    self._after(HOLD_AFTER_S, self._hold)
            else:
                self._overlap = None
                self._wordless = 0
        elif event.old_state == "speaking" and self._overlap is not None:
            self._after(WORDS_AFTER_S, self._let_go_on)

    def _hold(self) -> None:
        speech = self._session.current_speech
        if speech is not None and speech.allow_interruptions and self._caller_speaks():
            self._playout.hold()
            self._wordless += 1
            self._after(HOLD_AT_MOST_S, self._let_go_on)

    def _let_go_on(self) -> None:
        self._cancel_timer()
        self._playout.release()

    def _after(self, delay_s: float, what: Callable[[], None]) -> None:
        self._cancel_timer()
        self._timer = asyncio.get_running_loop().call_later(delay_s, what)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
