"""One utterance: the sound of it that matters, and what has been made of that so far.

An utterance is one item of the protocol. Where it is long it is decoded in parts, cut in its
pauses, so that neither memory nor the wait for its transcript grow with its length.

All positions are samples at 16 kHz since the session began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from selfhost.server.transcription.activity import WINDOW_MS, WINDOW_SAMPLES
from selfhost.server.transcription.stability import StableText
from selfhost.server.transcription.whisper import SAMPLE_RATE_HZ

MS = SAMPLE_RATE_HZ // 1000  # samples in a millisecond

MIN_VOICED_MS = 64  # two windows: one is a click
TAIL_MS = 300  # sound after the voice that is decoded with it
GAP_MS = 96  # a pause that a part may be cut in
MIN_PART_MS = 6_000  # an earlier pause is not worth a cut
MAX_PART_MS = 24_000


@dataclass(frozen=True)
class Guess:
    """A transcript made before it was asked for, from the sound before `end`."""

    text: str
    end: int


@dataclass(eq=False)
class Part:
    """A stretch of speech that is decoded as one.

    `start` lies a little before the `onset` of the voice; `closed_end` is None while it may grow;
    `text` is its final text, None until there is one.
    """

    start: int
    onset: int
    voice_end: int
    voiced_ms: int = 0
    gap_end: int | None = None
    closed_end: int | None = None
    stable: StableText = field(default_factory=StableText)
    drafted_to: int | None = None  # how far the sound of the last partial decode went
    guessed_at: int | None = None  # the `voice_end` that a guess was last asked for at
    guess: Guess | None = None
    text: str | None = None

    @property
    def is_click(self) -> bool:
        return self.voiced_ms < MIN_VOICED_MS

    @property
    def guess_holds(self) -> bool:
        """Whether nothing was said since the sound of the guess."""
        return self.guess is not None and self.guess.end >= self.voice_end

    def hear(self, position: int, *, after_quiet: bool) -> bool:
        """Take a window with a voice that ends at `position`.

        Returns:
            Whether it outdates a guess.
        """
        begin = position - WINDOW_SAMPLES
        if after_quiet and begin - self.voice_end >= GAP_MS * MS:
            self.gap_end = begin
        self.voice_end = position
        self.voiced_ms += WINDOW_MS
        outdated = self.guess is not None
        self.guess = None
        return outdated

    def cut(self, position: int) -> Part | None:
        """Close this part, which has grown long: in its latest pause, or else at `position`.

        Returns:
            The part that goes on from there, if some of the sound belongs to it already.
        """
        gap = self.gap_end
        at = gap if gap is not None and gap - self.start >= MIN_PART_MS * MS else position
        rest = Part(at, at, self.voice_end, voiced_ms=(position - at) // MS)
        self.voice_end = min(self.voice_end, at)
        self.guess = None
        self.closed_end = at
        return rest if at < position else None


@dataclass(eq=False)
class Utterance:
    """What is said between two commits: its parts in order."""

    id: str
    start: int
    parts: list[Part] = field(default_factory=list)
    is_committed: bool = False
    is_announced: bool = False  # its client knows that speech began
    has_deltas: bool = False
    failure: str | None = None

    @property
    def open_part(self) -> Part | None:
        return self.parts[-1] if self.parts and self.parts[-1].closed_end is None else None

    @property
    def undecoded(self) -> Iterator[Part]:
        """The closed parts without a text."""
        return (p for p in self.parts if p.closed_end is not None and p.text is None)

    @property
    def is_done(self) -> bool:
        return self.is_committed and all(part.text is not None for part in self.parts)

    @property
    def transcript(self) -> str:
        return " ".join(part.text for part in self.parts if part.text)

    @property
    def voiced_s(self) -> float:
        return sum(part.voiced_ms for part in self.parts) / 1000

    def begin_part(self, onset: int, *, lead_ms: int) -> Part:
        """A new part, from `lead_ms` before the onset where that sound is not another part's."""
        earliest = self.start
        if self.parts and (end := self.parts[-1].closed_end) is not None:
            earliest = end
        part = Part(max(earliest, onset - lead_ms * MS), onset, onset)
        self.parts.append(part)
        return part

    def close_part(self, position: int) -> None:
        """Close the open part, if there is one; a click is dropped."""
        part = self.open_part
        if part is None:
            return
        if part.is_click:
            self.parts.remove(part)
        else:
            part.closed_end = min(position, part.voice_end + TAIL_MS * MS)

    def cut_part(self, position: int) -> None:
        """Go on in a new part if the open one has grown long."""
        part = self.open_part
        if part is not None and position - part.start >= MAX_PART_MS * MS:
            rest = part.cut(position)
            if rest is not None:
                self.parts.append(rest)
