"""Callers who all speak at once: the server's realtime transcription, and the library as it is."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect

from selfhost import models
from selfhost.load.model_bench.lateness import Step, Stream, step
from selfhost.load.voice import SAMPLE_RATE

Pcm = NDArray[np.int16]

MODEL = "whisper-base"
CHUNK_S = 0.05
STAGGER_S = 0.37  # callers do not begin in step with each other
ANSWER_TIMEOUT_S = 30.0
SETTLE_S = 0.7  # between a caller's utterances

REDO_EVERY_S = 0.3
WHISPER_HZ = 16_000
DELTA = "conversation.item.input_audio_transcription.delta"
COMPLETED = "conversation.item.input_audio_transcription.completed"


def served(realtime_url: str, utterances: Sequence[Pcm], streams: int) -> Step:
    """So many callers on the server at once, each speaking every utterance, in real time.

    Args:
        utterances: mono samples at 24 kHz that begin and end with speech.
    """

    async def run() -> Step:
        callers = [_call(realtime_url, utterances, number * STAGGER_S) for number in range(streams)]
        return step(await asyncio.gather(*callers))

    return asyncio.run(run())


async def _call(url: str, utterances: Sequence[Pcm], delay_s: float) -> Stream:
    await asyncio.sleep(delay_s)
    first_s: list[float | None] = []
    last_s: list[float | None] = []
    async with connect(f"{url}&model=gpt-live-transcribe", max_size=None) as socket:
        for pcm in utterances:
            hearing = asyncio.create_task(_listen(socket))
            began = time.perf_counter()
            for number, chunk in enumerate(_chunks(pcm), start=1):
                await socket.send(json.dumps(_append(chunk)))
                await asyncio.sleep(max(0.0, began + number * CHUNK_S - time.perf_counter()))
            ended = time.perf_counter()
            await socket.send(json.dumps({"type": "input_audio_buffer.commit"}))
            words_at, final_at = await hearing
            first_s.append(None if words_at is None else words_at - began)
            last_s.append(None if final_at is None else final_at - ended)
            await asyncio.sleep(SETTLE_S)
    return Stream(first_s, last_s)


async def _listen(socket: ClientConnection) -> tuple[float | None, float | None]:
    """When the first words and the final transcript of one utterance came."""
    words_at: float | None = None
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            while True:
                event = json.loads(await socket.recv())
                now = time.perf_counter()
                if event["type"] == DELTA and event["delta"].strip() and words_at is None:
                    words_at = now
                elif event["type"] == COMPLETED:
                    return words_at if words_at is not None else now, now
    except TimeoutError:
        return words_at, None


def direct(utterances: Sequence[Pcm], streams: int) -> Step:
    """The same callers on the library alone: one model, a thread a caller, each transcribing what
    it has so far again and again, as the common example does."""
    from faster_whisper import WhisperModel

    model = WhisperModel(str(models.path(MODEL)), device="cpu", compute_type="int8", cpu_threads=2)
    heard = [_at_16_khz(pcm) for pcm in utterances]
    with ThreadPoolExecutor(streams) as threads:
        return step(
            list(
                threads.map(
                    lambda number: _call_library(model, heard, number * STAGGER_S), range(streams)
                )
            )
        )


def _call_library(
    model: object, utterances: Sequence[NDArray[np.float32]], delay_s: float
) -> Stream:
    time.sleep(delay_s)
    first_s: list[float | None] = []
    last_s: list[float | None] = []
    for audio in utterances:
        began = time.perf_counter()
        length_s = len(audio) / WHISPER_HZ
        words_s: float | None = None
        while (passed_s := time.perf_counter() - began) < length_s:
            so_far = audio[: int(passed_s * WHISPER_HZ)]
            if passed_s >= REDO_EVERY_S and _text(model, so_far) and words_s is None:
                words_s = time.perf_counter() - began
            time.sleep(max(0.0, min(REDO_EVERY_S, length_s - (time.perf_counter() - began))))
        _text(model, audio)
        final_s = time.perf_counter() - began
        first_s.append(words_s if words_s is not None else final_s)
        last_s.append(final_s - length_s)
        time.sleep(SETTLE_S)
    return Stream(first_s, last_s)


def _text(model: object, audio: NDArray[np.float32]) -> str:
    segments, _ = model.transcribe(audio, language="en", beam_size=1)  # type: ignore[attr-defined]
    return "".join(segment.text for segment in segments).strip()


def _append(chunk: Pcm) -> dict[str, str]:
    data = base64.b64encode(chunk.astype("<i2").tobytes()).decode()
    return {"type": "input_audio_buffer.append", "audio": data}


def _chunks(pcm: Pcm) -> list[Pcm]:
    size = int(CHUNK_S * SAMPLE_RATE)
    return [pcm[begin : begin + size] for begin in range(0, len(pcm), size)]


def _at_16_khz(pcm: Pcm) -> NDArray[np.float32]:
    """By linear interpolation: good enough for a recogniser, and the same for every caller."""
    seconds = len(pcm) / SAMPLE_RATE
    at_s = np.arange(int(seconds * WHISPER_HZ)) / WHISPER_HZ
    return np.interp(at_s, np.arange(len(pcm)) / SAMPLE_RATE, pcm / 32768).astype(np.float32)
