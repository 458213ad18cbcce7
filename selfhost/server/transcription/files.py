"""Transcribing a whole file: cut in its pauses, decoded piece by piece, put together again.

Each piece is a decode of its own in the model's queue, so that a long file never holds up a caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from faster_whisper.vad import VadOptions, get_speech_timestamps

from selfhost.server.scheduling import Priority
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import SAMPLE_RATE_HZ, Audio, Decoded, Hints, Word

MAX_PIECE_S = 24.0
SHORT_S = 20.0  # somebody probably waits for the answer
_VAD = VadOptions(min_silence_duration_ms=300, speech_pad_ms=200, max_speech_duration_s=MAX_PIECE_S)


@dataclass(frozen=True)
class Transcript:
    text: str
    language: str
    audio_s: float
    pieces: tuple[Decoded, ...]
    words: tuple[Word, ...]  # empty unless asked for; times since the file's beginning


async def transcribe_file(
    model: TranscriptionModel,
    audio: Audio,
    hints: Hints,
    *,
    owner: Hashable,
    word_times: bool,
) -> Transcript:
    """The words in `audio`, however long.

    Args:
        owner: whose turn the work takes.
        word_times: say when each word was spoken.
    """
    audio_s = len(audio) / SAMPLE_RATE_HZ
    priority = Priority.SPECULATIVE if audio_s <= SHORT_S else Priority.BACKGROUND
    pieces: list[Decoded] = []
    words: list[Word] = []
    spans = await asyncio.to_thread(speech_spans, audio)
    for index, (start, end) in enumerate(spans):
        piece = audio[start:end]
        decoded = await model.transcribe(
            partial(np.asarray, piece),
            hints,
            owner=owner,
            priority=priority,
            kind="file",
            voiced_ms=len(piece) * 1000 / SAMPLE_RATE_HZ,
            word_times=word_times,
            may_refuse=index == 0,  # what has begun is not thrown away for want of a place
        )
        if not decoded.text:
            continue
        if hints.language is None:  # a file has one language
            hints = replace(hints, language=decoded.language)
        pieces.append(decoded)
        words.extend(_shifted(decoded.words or (), start / SAMPLE_RATE_HZ))
    return Transcript(
        text=" ".join(decoded.text for decoded in pieces),
        language=hints.language or "en",
        audio_s=audio_s,
        pieces=tuple(pieces),
        words=tuple(words),
    )


def speech_spans(audio: Audio) -> list[tuple[int, int]]:
    """Where somebody speaks: (first, last + 1) samples, each at most 24 s, joined where short."""
    return join_spans(
        [(int(span["start"]), int(span["end"])) for span in get_speech_timestamps(audio, _VAD)],
        max_samples=int(MAX_PIECE_S * SAMPLE_RATE_HZ),
    )


def join_spans(spans: Sequence[tuple[int, int]], *, max_samples: int) -> list[tuple[int, int]]:
    """Join neighbours as far as the whole stays within `max_samples`: context helps the model."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and end - joined[-1][0] <= max_samples:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _shifted(words: Sequence[Word], by_s: float) -> list[Word]:
    return [replace(word, start_s=word.start_s + by_s, end_s=word.end_s + by_s) for word in words]
