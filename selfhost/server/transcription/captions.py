"""Words with their times as segments, and as the texts of the caption formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selfhost.server.transcription.whisper import Word

MAX_CHARS = 84  # two lines of a caption
MAX_S = 7.0
PAUSE_S = 0.8


@dataclass(frozen=True)
class Segment:
    start_s: float
    end_s: float
    text: str


def segments(words: Sequence[Word]) -> list[Segment]:
    """Group words into captions: at sentence ends, at pauses, and before one grows too long."""
    groups: list[list[Word]] = []
    for word in words:
        if not groups or _ends(groups[-1], word):
            groups.append([])
        groups[-1].append(word)
    return [
        Segment(group[0].start_s, group[-1].end_s, " ".join(word.text for word in group))
        for group in groups
    ]


def srt(parts: Sequence[Segment]) -> str:
    return "".join(
        f"{number}\n{_clock(part.start_s, ',')} --> {_clock(part.end_s, ',')}\n{part.text}\n\n"
        for number, part in enumerate(parts, 1)
    )


def vtt(parts: Sequence[Segment]) -> str:
    cues = (
        f"{_clock(part.start_s, '.')} --> {_clock(part.end_s, '.')}\n{part.text}\n\n"
        for part in parts
    )
    return "WEBVTT\n\n" + "".join(cues)


def _ends(group: Sequence[Word], following: Word) -> bool:
    last = group[-1]
    length = sum(len(word.text) + 1 for word in group) + len(following.text)
    return (
        last.text.endswith((".", "?", "!"))
        or following.start_s - last.end_s > PAUSE_S
        or following.end_s - group[0].start_s > MAX_S
        or length > MAX_CHARS
    )


def _clock(seconds: float, mark: str) -> str:
    total_ms = round(seconds * 1000)
    minutes, ms = divmod(total_ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{ms // 1000:02}{mark}{ms % 1000:03}"
