"""What a caller says in a realtime session: where utterances begin and end, what to decode when,
and what may be told to the client.

Pure: time is the position in the sound, decoding happens elsewhere. The connection feeds it the
voice detector's probabilities, the client's commits and the decoded texts; it answers with events
to send and asks for the next decode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from selfhost.server.realtime import events
from selfhost.server.realtime.config import ServerVad
from selfhost.server.realtime.events import Event
from selfhost.server.realtime.utterance import MIN_VOICED_MS, MS, Guess, Part, Utterance
from selfhost.server.transcription.activity import WINDOW_SAMPLES
from selfhost.server.transcription.stability import StableText

VOICE_PROBABILITY = 0.5
QUIET_MARGIN = 0.15  # a voice, once there, ends where the probability falls this much lower
LEAD_MS = 300  # sound before the detected onset that belongs to the first word

# How much new sound makes a partial decode worth while: little until the client has seen words. In
# less sound than the first, a third of the first words are wrong.
FIRST_PARTIAL_MS = 320
FIRST_STEP_MS = 128
PARTIAL_STEP_MS = 256
# One window: only 11 of 105 utterances had so short a quiet in them, and all end a window sooner.
SPECULATE_AFTER_QUIET_MS = 32
PART_PAUSE_MS = 1_000
MAX_UTTERANCE_MS = 600_000


class Kind(StrEnum):
    PARTIAL = "partial"
    SPECULATIVE = "speculative"
    FINAL = "final"


@dataclass(frozen=True, eq=False)
class DecodeRequest:
    """Sound to decode: from `start` to before `end`; `end` is None for "as far as it has come".

    `prefix` is how the text begins, as far as that was told already.
    """

    kind: Kind
    part: Part
    start: int
    end: int | None
    voiced_ms: int
    prefix: str = ""


class Utterances:
    """The utterances of one session.

    Args:
        new_id: makes a fresh item id.
        vad: the server ends utterances by these; None leaves that to the client's commits.
    """

    def __init__(self, new_id: Callable[[], str], vad: ServerVad | None = None) -> None:
        self._new_id = new_id
        self._vad = vad
        self._position = 0
        self._speaking = False
        self._previous_id: str | None = None
        self._current = Utterance(new_id(), 0)
        self._waiting: list[Utterance] = []  # committed, transcript not yet told
        self._busy: DecodeRequest | None = None
        self.speculations = {"used": 0, "outdated": 0}
        self.first_delta_s: float | None = None
        """From the onset to the latest delta, in sound; None if it was not the first."""

    @property
    def position(self) -> int:
        return self._position

    @property
    def needed_from(self) -> int:
        """Sound before this position is not needed any more."""
        starts = [self._position - (self._lead_ms + 500) * MS]
        for utterance in (*self._waiting, self._current):
            starts.extend(part.start for part in utterance.parts if part.text is None)
        return max(0, min(starts))

    def set_vad(self, vad: ServerVad | None) -> None:
        self._vad = vad

    # -- what comes in ---------------------------------------------------------------------------

    def heard(self, probabilities: Iterable[float]) -> list[Event]:
        """Take the voice probabilities of the next windows of sound."""
        told: list[Event] = []
        for probability in probabilities:
            self._position += WINDOW_SAMPLES
            told += self._hear_voice() if self._is_voice(probability) else self._hear_quiet()
        return told

    def commit(self) -> list[Event]:
        """End the utterance here, as the client asks.

        Raises:
            ApiError: no sound has come since the last commit.
        """
        if self._position - self._current.start < MIN_VOICED_MS * MS:
            raise events.empty_commit()
        return self._commit()

    def clear(self) -> list[Event]:
        """Forget the sound since the last commit."""
        self._begin_utterance()
        return [events.cleared()]

    def decoded(
        self, request: DecodeRequest, text: str, end: int, avg_logprob: float
    ) -> list[Event]:
        """Take the text of a decode, after the guards, how far its sound went, and its score."""
        self.abandoned(request)
        part, utterance = request.part, self._utterance_of(request.part)
        if utterance is None or part.text is not None:
            return []
        if request.kind is Kind.FINAL:
            return self._take(utterance, part, text)
        if request.kind is Kind.SPECULATIVE:
            part.guess = Guess(text, end)
        if part.closed_end is None:
            # The words of a guess count as a decode like any other.
            return self._tell(utterance, part, part.stable.advance(text, avg_logprob))
        return self._take_guesses(utterance)

    def failed(self, request: DecodeRequest, message: str) -> list[Event]:
        """A decode failed: its utterance ends as failed if the transcript depended on it."""
        self.abandoned(request)
        utterance = self._utterance_of(request.part)
        if utterance is None or request.kind is not Kind.FINAL:
            return []
        utterance.failure = message
        return self._take(utterance, request.part, "")

    def abandoned(self, request: DecodeRequest) -> None:
        """The decode was given up."""
        if self._busy is request:
            self._busy = None

    # -- what goes out ---------------------------------------------------------------------------

    def next_request(self) -> DecodeRequest | None:
        """The most urgent decode that is not under way, or None. The caller must carry it out."""
        request = self._final() or self._speculative() or self._partial()
        if request is not None:
            self._busy = request
        return request

    def is_outdated(self, request: DecodeRequest) -> bool:
        """Whether the result of `request` would not be used, so that it need not begin."""
        part = request.part
        if self._utterance_of(part) is None:
            return True
        if request.kind is Kind.PARTIAL:
            return part.closed_end is not None or part.guessed_at == part.voice_end
        if request.kind is Kind.SPECULATIVE:
            return request.end is not None and request.end < part.voice_end
        return False

    # -- listening -------------------------------------------------------------------------------

    @property
    def _lead_ms(self) -> int:
        return max(LEAD_MS, self._vad.prefix_padding_ms if self._vad else 0)

    def _is_voice(self, probability: float) -> bool:
        threshold = self._vad.threshold if self._vad else VOICE_PROBABILITY
        return probability >= (threshold - QUIET_MARGIN if self._speaking else threshold)

    def _hear_voice(self) -> list[Event]:
        utterance = self._current
        part = utterance.open_part or utterance.begin_part(
            self._position - WINDOW_SAMPLES, lead_ms=self._lead_ms
        )
        if part.hear(self._position, after_quiet=not self._speaking):
            self.speculations["outdated"] += 1
        self._speaking = True
        told: list[Event] = []
        if self._vad and not utterance.is_announced and not part.is_click:
            utterance.is_announced = True
            told.append(events.speech_started(utterance.id, part.start // MS))
        utterance.cut_part(self._position)
        if self._position - utterance.parts[0].start >= MAX_UTTERANCE_MS * MS:
            told += self._commit()
        return told

    def _hear_quiet(self) -> list[Event]:
        self._speaking = False
        utterance = self._current
        if not utterance.parts:
            return []
        quiet_ms = (self._position - utterance.parts[-1].voice_end) // MS
        if self._vad and utterance.is_announced and quiet_ms >= self._vad.silence_duration_ms:
            stopped = events.speech_stopped(utterance.id, self._position // MS)
            return [stopped, *self._commit()]
        if utterance.open_part is not None and quiet_ms >= PART_PAUSE_MS:
            utterance.close_part(self._position)
            return self._take_guesses(utterance)
        return []

    def _commit(self) -> list[Event]:
        utterance = self._current
        utterance.close_part(self._position)
        utterance.is_committed = True
        self._waiting.append(utterance)
        committed = events.committed(utterance.id, self._previous_id)
        self._previous_id = utterance.id
        self._begin_utterance()
        return [committed, *self._take_guesses(utterance)]

    def _begin_utterance(self) -> None:
        self._current = Utterance(self._new_id(), self._position)
        self._speaking = False

    # -- telling ---------------------------------------------------------------------------------

    def _take_guesses(self, utterance: Utterance) -> list[Event]:
        """Make the guesses that hold the texts of their parts, now that these are closed."""
        told: list[Event] = []
        for part in list(utterance.undecoded):
            if part.guess is not None and part.guess_holds:
                self.speculations["used"] += 1
                told += self._take(utterance, part, part.guess.text)
        return told or self._complete()

    def _take(self, utterance: Utterance, part: Part, text: str) -> list[Event]:
        part.text = text
        if utterance.is_committed:  # its transcript says it all
            return self._complete()
        return self._tell(utterance, part, part.stable.finish(text))

    def _complete(self) -> list[Event]:
        """The transcripts of committed utterances, in order, as far as they are there."""
        told: list[Event] = []
        while self._waiting and self._waiting[0].is_done:
            done = self._waiting.pop(0)
            if done.failure is not None:
                told.append(events.failed(done.id, done.failure))
            else:
                told.append(events.completed(done.id, done.transcript, done.voiced_s))
        return told

    def _tell(
        self, utterance: Utterance, part: Part, advance: tuple[StableText, str]
    ) -> list[Event]:
        if self._waiting:
            # The plugin joins deltas whatever their item: those of this utterance must wait until
            # the transcript of the one before is out.
            return []
        continues = utterance.has_deltas and not part.stable.emitted
        part.stable, delta = advance
        if not delta:
            return []
        onset = utterance.parts[0].onset
        self.first_delta_s = (
            None if utterance.has_deltas else (self._position - onset) / (1000 * MS)
        )
        utterance.has_deltas = True
        return [events.delta(utterance.id, " " + delta if continues else delta)]

    # -- deciding what to decode -----------------------------------------------------------------

    def _final(self) -> DecodeRequest | None:
        busy = self._busy
        if busy is not None and busy.kind is Kind.FINAL:
            return None
        for utterance in (*self._waiting, self._current):
            for part in utterance.undecoded:
                if busy is not None and busy.part is part and self._will_be_text(busy):
                    return None
                return DecodeRequest(Kind.FINAL, part, part.start, part.closed_end, part.voiced_ms)
        return None

    def _will_be_text(self, request: DecodeRequest) -> bool:
        return request.kind is Kind.SPECULATIVE and not self.is_outdated(request)

    def _speculative(self) -> DecodeRequest | None:
        part = self._current.open_part
        if self._busy is not None and self._busy.kind is not Kind.PARTIAL:
            return None
        if part is None or self._speaking or part.is_click:
            return None
        quiet_ms = (self._position - part.voice_end) // MS
        if part.guessed_at == part.voice_end or quiet_ms < SPECULATE_AFTER_QUIET_MS:
            return None
        part.guessed_at = part.voice_end
        return DecodeRequest(Kind.SPECULATIVE, part, part.start, self._position, part.voiced_ms)

    def _partial(self) -> DecodeRequest | None:
        part = self._current.open_part
        if self._busy is not None or part is None or not self._speaking or self._waiting:
            return None
        if part.drafted_to is None:
            since, needed_ms = part.onset, FIRST_PARTIAL_MS
        else:
            since = part.drafted_to
            needed_ms = PARTIAL_STEP_MS if part.stable.emitted else FIRST_STEP_MS
        if self._position - since < needed_ms * MS:
            return None
        part.drafted_to = self._position
        prefix = part.stable.prefix
        return DecodeRequest(Kind.PARTIAL, part, part.start, None, part.voiced_ms, prefix)

    def _utterance_of(self, part: Part) -> Utterance | None:
        """The utterance of a part; None if it is completed, cleared, or the part was a click."""
        for utterance in (*self._waiting, self._current):
            if part in utterance.parts:
                return utterance
        return None
