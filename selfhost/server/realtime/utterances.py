"""What a caller says in a realtime session: where utterances begin and end, what to decode when,
and what may be told to the client.

Pure: time is the position in the sound, decoding happens elsewhere. The connection feeds it the
voice detector's probabilities, the client's commits and the decoded texts; it answers with events
to send and asks for the next decode.

An utterance is one item of the protocol. Where it is long it is decoded in parts, cut in its
pauses, so that neither memory nor the wait for its transcript grow with its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from selfhost.server.realtime import events
from selfhost.server.realtime.config import ServerVad
from selfhost.server.transcription.activity import WINDOW_MS, WINDOW_SAMPLES
from selfhost.server.transcription.stability import StableText
from selfhost.server.transcription.whisper import SAMPLE_RATE_HZ

Event = dict[str, Any]

MS = SAMPLE_RATE_HZ // 1000  # samples in a millisecond

VOICE_PROBABILITY = 0.5
QUIET_MARGIN = 0.15  # a voice, once there, ends where the probability falls this much lower
MIN_VOICED_MS = 64  # two windows: one is a click
LEAD_MS = 300  # sound before the detected onset that belongs to the first word
TAIL_MS = 300  # sound after the voice that is decoded with it

FIRST_PARTIAL_MS = 256  # of sound since the onset
FIRST_STEP_MS = 128  # of new sound since the last partial, until words were told
PARTIAL_STEP_MS = 256  # and then
SPECULATE_AFTER_QUIET_MS = 96
PART_PAUSE_MS = 1_000
MAX_PART_MS = 24_000
MIN_PART_MS = 6_000  # a pause earlier than this is not worth a cut
GAP_MS = 96
MAX_UTTERANCE_MS = 600_000


class Kind(StrEnum):
    PARTIAL = "partial"
    SPECULATIVE = "speculative"
    FINAL = "final"


@dataclass(frozen=True)
class DecodeRequest:
    """Sound to decode: from `start` to before `end`; `end` is None for "as far as it has come"."""

    kind: Kind
    item_id: str
    part_index: int
    start: int
    end: int | None
    voiced_ms: int
    prefix: str = ""  # how its text begins, as was passed on already


@dataclass
class _Part:
    start: int
    onset: int
    voice_end: int
    voiced_ms: int = 0
    stable: StableText = field(default_factory=StableText)
    partial_end: int | None = None  # how far the last partial's sound went
    gap_end: int | None = None  # after the latest short pause that is fit for a cut
    closed_end: int | None = None
    guess: tuple[int, str] | None = None  # (how far its sound went, text) of a speculative decode
    text: str | None = None

    def guess_holds(self) -> bool:
        return self.guess is not None and self.guess[0] >= self.voice_end


@dataclass
class _Item:
    id: str
    start: int
    parts: list[_Part] = field(default_factory=list)
    committed_at: int | None = None
    told: bool = False  # a delta was sent
    failure: str | None = None

    @property
    def open_part(self) -> _Part | None:
        return self.parts[-1] if self.parts and self.parts[-1].closed_end is None else None

    def is_decoded(self) -> bool:
        return self.committed_at is not None and all(part.text is not None for part in self.parts)


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
        self._announced = False  # speech_started was sent for the current item
        self._previous_id: str | None = None
        self._item = _Item(new_id(), 0)
        self._waiting: list[_Item] = []  # committed, transcript not yet told
        self._busy: DecodeRequest | None = None
        self.speculations = {"used": 0, "outdated": 0}
        self.first_delta_s: float | None = None
        """From the onset to the latest delta, in sound; None if it was not its item's first."""

    @property
    def position(self) -> int:
        return self._position

    @property
    def needed_from(self) -> int:
        """Sound before this position is not needed any more."""
        lead_ms = max(LEAD_MS, self._vad.prefix_padding_ms if self._vad else 0)
        starts = [self._position - (lead_ms + 500) * MS]
        for item in (*self._waiting, self._item):
            starts.extend(part.start for part in item.parts if part.text is None)
        return max(0, min(starts))

    def set_vad(self, vad: ServerVad | None) -> None:
        self._vad = vad

    # -- what comes in ---------------------------------------------------------------------------

    def heard(self, probabilities: Iterable[float]) -> list[Event]:
        """Take the voice probabilities of the next windows of sound."""
        told: list[Event] = []
        for probability in probabilities:
            self._position += WINDOW_SAMPLES
            told += self._window(probability)
        return told

    def commit(self) -> list[Event]:
        """End the utterance here, as the client asks.

        Raises:
            ApiError: no sound has come since the last commit.
        """
        if self._position - self._item.start < MIN_VOICED_MS * MS:
            raise events.empty_commit()
        return self._commit()

    def clear(self) -> list[Event]:
        """Forget the sound since the last commit."""
        self._item = _Item(self._new_id(), self._position)
        self._speaking = self._announced = False
        return [events.cleared()]

    def decoded(self, request: DecodeRequest, text: str, end: int) -> list[Event]:
        """Take the text of a decode, after the guards, and how far its sound went."""
        if self._busy is request:
            self._busy = None
        found = self._find(request)
        if found is None:
            return []
        item, part = found
        if request.kind is Kind.FINAL:
            part.guess = (part.voice_end, text)
        elif request.kind is Kind.SPECULATIVE:
            part.guess = (end, text)
        if request.kind is not Kind.FINAL and part.closed_end is None:
            return self._tell(item, part, part.stable.advance(text))
        return self._settle(item)

    def failed(self, request: DecodeRequest, message: str) -> list[Event]:
        """A decode failed: its item ends as failed if the transcript depended on it."""
        if self._busy is request:
            self._busy = None
        found = self._find(request)
        if found is None or request.kind is not Kind.FINAL:
            return []
        item, part = found
        part.text, item.failure = "", message
        return self._settle(item)

    # -- what goes out ---------------------------------------------------------------------------

    def next_request(self) -> DecodeRequest | None:
        """The most urgent decode that is not under way, or None. The caller must carry it out."""
        request = self._urgent() or self._speculative() or self._partial()
        if request is not None:
            self._busy = request
        return request

    def abandoned(self, request: DecodeRequest) -> None:
        """The decode was given up before it began."""
        if self._busy is request:
            self._busy = None

    def is_outdated(self, request: DecodeRequest) -> bool:
        """Whether the result of `request` would not be used, so that it need not begin."""
        found = self._find(request)
        if found is None:
            return True
        _, part = found
        if request.kind is Kind.PARTIAL:
            return part.closed_end is not None or not self._speaking
        if request.kind is Kind.SPECULATIVE:
            return request.end is not None and request.end < part.voice_end
        return False

    # -- inside ----------------------------------------------------------------------------------

    def _window(self, probability: float) -> list[Event]:
        threshold = self._vad.threshold if self._vad else VOICE_PROBABILITY
        if self._speaking:
            threshold -= QUIET_MARGIN
        is_voice = probability >= threshold
        part = self._item.open_part
        told: list[Event] = []
        if is_voice:
            if part is None:
                part = self._begin_part()
            if (
                not self._speaking
                and self._position - WINDOW_SAMPLES - part.voice_end >= GAP_MS * MS
            ):
                part.gap_end = self._position - WINDOW_SAMPLES
            self._speaking = True
            if part.guess is not None and not part.text:
                self.speculations["outdated"] += 1
                part.guess = None
            part.voice_end = self._position
            part.voiced_ms += WINDOW_MS
            if self._vad and not self._announced and part.voiced_ms >= MIN_VOICED_MS:
                self._announced = True
                told.append(events.speech_started(self._item.id, part.start // MS))
        else:
            self._speaking = False
        if part is None:
            return told
        quiet_ms = (self._position - part.voice_end) // MS
        if self._vad and self._announced and quiet_ms >= self._vad.silence_duration_ms:
            told.append(events.speech_stopped(self._item.id, self._position // MS))
            return told + self._commit()
        if quiet_ms >= PART_PAUSE_MS:
            told += self._close(part, min(self._position, part.voice_end + TAIL_MS * MS))
        elif self._position - part.start >= MAX_PART_MS * MS:
            told += self._cut(part)
        parts = self._item.parts
        if parts and self._position - parts[0].start >= MAX_UTTERANCE_MS * MS:
            told += self._commit()
        return told

    def _begin_part(self) -> _Part:
        onset = self._position - WINDOW_SAMPLES
        lead_ms = max(LEAD_MS, self._vad.prefix_padding_ms if self._vad else 0)
        earliest = self._item.start
        if self._item.parts and (end := self._item.parts[-1].closed_end) is not None:
            earliest = end
        part = _Part(max(earliest, onset - lead_ms * MS), onset, onset)
        self._item.parts.append(part)
        return part

    def _close(self, part: _Part, end: int) -> list[Event]:
        if part.voiced_ms < MIN_VOICED_MS:  # a click
            self._item.parts.remove(part)
            return []
        part.closed_end = end
        return self._settle(self._item)

    def _cut(self, part: _Part) -> list[Event]:
        """Close a part that has grown long, in its latest pause if there is one."""
        usable = part.gap_end is not None and part.gap_end - part.start >= MIN_PART_MS * MS
        at = part.gap_end if usable and part.gap_end is not None else self._position
        rest_ms = (self._position - at) // MS
        latest_voice = part.voice_end
        part.voice_end = min(part.voice_end, at)
        part.guess = None
        told = self._close(part, at)
        if rest_ms:
            rest = _Part(at, at, latest_voice, voiced_ms=rest_ms)
            self._item.parts.append(rest)
        return told

    def _commit(self) -> list[Event]:
        item = self._item
        item.committed_at = self._position
        part = item.open_part
        told = [events.committed(item.id, self._previous_id)]
        self._previous_id = item.id
        self._item = _Item(self._new_id(), self._position)
        self._speaking = self._announced = False
        self._waiting.append(item)
        if part is not None:
            if part.voiced_ms < MIN_VOICED_MS:
                item.parts.remove(part)
            else:
                part.closed_end = min(item.committed_at, part.voice_end + TAIL_MS * MS)
        return told + self._settle(item)

    def _settle(self, item: _Item) -> list[Event]:
        """Take over guesses that hold for closed parts, and tell what can be told in order."""
        told: list[Event] = []
        for part in item.parts:
            if part.closed_end is not None and part.text is None and part.guess_holds():
                assert part.guess is not None
                part.text = part.guess[1]
                self.speculations["used"] += 1
                if item.committed_at is None:
                    told += self._tell(item, part, part.stable.finish(part.text))
        while self._waiting and self._waiting[0].is_decoded():
            done = self._waiting.pop(0)
            if done.failure is not None:
                told.append(events.failed(done.id, done.failure))
                continue
            transcript = " ".join(part.text for part in done.parts if part.text)
            seconds = sum(part.voiced_ms for part in done.parts) / 1000
            told.append(events.completed(done.id, transcript, seconds))
        return told

    def _tell(self, item: _Item, part: _Part, advance: tuple[StableText, str]) -> list[Event]:
        if self._waiting:
            # The plugin joins deltas whatever their item: those of this utterance must wait until
            # the transcript of the one before is out.
            return []
        is_further_part = item.told and not part.stable.emitted
        part.stable, delta = advance
        if not delta:
            return []
        if is_further_part:
            delta = " " + delta
        self.first_delta_s = (
            None if item.told else (self._position - item.parts[0].onset) / SAMPLE_RATE_HZ
        )
        item.told = True
        return [events.delta(item.id, delta)]

    def _urgent(self) -> DecodeRequest | None:
        for item in (*self._waiting, self._item):
            for index, part in enumerate(item.parts):
                if part.closed_end is None or part.text is not None:
                    continue
                busy = self._busy
                if busy is not None and (busy.item_id, busy.part_index) == (item.id, index):
                    if busy.kind is Kind.FINAL:
                        return None
                    if busy.kind is Kind.SPECULATIVE and (busy.end or 0) >= part.voice_end:
                        return None  # what is under way will be the transcript
                if busy is not None and busy.kind is Kind.FINAL:
                    return None
                return DecodeRequest(
                    Kind.FINAL, item.id, index, part.start, part.closed_end, part.voiced_ms
                )
        return None

    def _speculative(self) -> DecodeRequest | None:
        part = self._item.open_part
        if self._busy is not None or part is None or self._speaking or part.guess_holds():
            return None
        if part.voiced_ms < MIN_VOICED_MS:
            return None
        if self._position - part.voice_end < SPECULATE_AFTER_QUIET_MS * MS:
            return None
        return DecodeRequest(
            Kind.SPECULATIVE,
            self._item.id,
            len(self._item.parts) - 1,
            part.start,
            self._position,
            part.voiced_ms,
        )

    def _partial(self) -> DecodeRequest | None:
        part = self._item.open_part
        if self._busy is not None or part is None or not self._speaking or self._waiting:
            return None
        if part.partial_end is None:
            since, needed_ms = part.onset, FIRST_PARTIAL_MS
        else:
            since = part.partial_end
            needed_ms = PARTIAL_STEP_MS if part.stable.emitted else FIRST_STEP_MS
        if self._position - since < needed_ms * MS:
            return None
        part.partial_end = self._position
        return DecodeRequest(
            Kind.PARTIAL,
            self._item.id,
            len(self._item.parts) - 1,
            part.start,
            None,
            part.voiced_ms,
            prefix=part.stable.prefix,
        )

    def _find(self, request: DecodeRequest) -> tuple[_Item, _Part] | None:
        items: Sequence[_Item] = (*self._waiting, self._item)
        for item in items:
            if item.id == request.item_id and request.part_index < len(item.parts):
                return item, item.parts[request.part_index]
        return None
