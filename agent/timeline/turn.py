"""A caller's turn as it goes on: its words so far, and the moments that its gap is counted from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.timeline.replies import Stage
from agent.timeline.waterfall import Moments


@dataclass
class CallerTurn:
    """What is known of a turn. Moments are milliseconds of the call; None until they come.

    Args:
        speech_started_ms: the detector's estimate of the first sound.
        speech_ended_ms: the detector's estimate of the last sound; Silero's is 0.13 s after what
            was audible (0.10 to 0.16, n = 25).
        end_detected_ms: when the detector said so.
        final_ms: when the last final came.
        decided_ms: when the turn was over, and what it said was kept.
        speaking: whether the detector hears the caller.
        heard_words: whether any word was made out.
        finals: the finals so far, which a pause may have cut in pieces.
    """

    speech_started_ms: float | None = None
    speech_ended_ms: float | None = None
    end_detected_ms: float | None = None
    final_ms: float | None = None
    decided_ms: float | None = None
    speaking: bool = False
    heard_words: bool = False
    finals: list[str] = field(default_factory=list)

    def starts_speaking(self, at_ms: float) -> None:
        """The detector hears the caller, again after a pause or for the first time."""
        self.speaking = True
        # A sound that nothing was heard in was no beginning; a pause is no new one.
        if self.speech_started_ms is None or not self.heard_words:
            self.speech_started_ms = at_ms
        self.speech_ended_ms = self.end_detected_ms = None

    def stops_speaking(self, at_ms: float, now_ms: float) -> None:
        """The detector says, now, that the caller fell silent at `at_ms`."""
        self.speaking = False
        self.speech_ended_ms, self.end_detected_ms = at_ms, now_ms

    def hears_final(self, text: str, now_ms: float) -> None:
        """A piece of the turn is settled; if it was decided to be over, it was not."""
        self.finals.append(text)
        self.final_ms, self.decided_ms = now_ms, None

    def was_over_before(self, at_ms: float) -> bool:
        """Whether all its sound was before a moment, and nothing is going to answer it."""
        ended_ms = self.speech_ended_ms
        return ended_ms is not None and ended_ms < at_ms and self.decided_ms is None

    def last_sound_ms(self, heard_ms: float | None, audible: bool) -> float | None:
        """When the turn's last sound was.

        Args:
            heard_ms: the last audible sound on the caller's line, whatever it was.
            audible: whether that sound goes on.

        Returns:
            None where the caller's voice was not detected, still is, or was not audible.
        """
        if self.speech_started_ms is None or self.speaking or heard_ms is None:
            return None
        if audible:
            # It is not the caller's voice: a noise, in which only the detector knows its end.
            return self.speech_ended_ms
        return heard_ms if heard_ms >= self.speech_started_ms else self.speech_ended_ms

    def moments(
        self, last_sound_ms: float | None, first_sound_ms: float, reached: Mapping[Stage, float]
    ) -> Moments:
        """The moments of this turn and of the reply to it."""
        return Moments(
            last_sound=last_sound_ms,
            end_of_speech=self.end_detected_ms,
            final_transcript=self.final_ms,
            end_of_turn=self.decided_ms,
            **{stage.value: at_ms for stage, at_ms in reached.items()},
            first_sound=first_sound_ms,
        )
