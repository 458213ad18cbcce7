"""Sound that comes in: files of any format that PyAV reads, and streams of PCM at any rate."""

from __future__ import annotations

import io
from typing import cast

import av
import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from selfhost.server.errors import ApiError
from selfhost.server.transcription.whisper import SAMPLE_RATE_HZ, Audio


class Resampler:
    """A stream of mono PCM at `rate_hz` to 16 kHz, with its filter's memory between the chunks."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)

    def push(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        if self._rate_hz == SAMPLE_RATE_HZ or not len(samples):
            return samples
        frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="s16", layout="mono")
        frame.sample_rate = self._rate_hz
        return _joined(self._resampler.resample(frame))


def read_file(data: bytes, *, max_audio_s: float) -> Audio:
    """The sound of a file, mono at 16 kHz.

    Raises:
        ApiError: it is empty, no audio that can be read, or longer than `max_audio_s`.
    """
    if not data:
        raise ApiError(400, "file: the upload is empty.", code="empty_file", param="file")
    resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
    parts: list[NDArray[np.int16]] = []
    samples = 0
    try:
        with av.open(io.BytesIO(data), mode="r", metadata_errors="ignore") as container:
            if not container.streams.audio:
                raise _unreadable("it has no audio track")
            for frame in container.decode(container.streams.audio[0]):
                frame.pts = None
                part = _joined(resampler.resample(frame))
                samples += len(part)
                if samples > max_audio_s * SAMPLE_RATE_HZ:
                    raise ApiError(
                        413,
                        f"file: longer than {max_audio_s:g} s, the most that is taken; split it.",
                        code="audio_too_long",
                        param="file",
                    )
                parts.append(part)
        parts.append(_joined(resampler.resample(None)))
    except FFmpegError as error:
        # A file cut off in the middle is still worth what it holds.
        if not samples:
            raise _unreadable("expected wav, mp3, flac, ogg, webm, mp4 or another") from error
    if not samples:
        raise _unreadable("its audio track holds no sound")
    return as_audio(np.concatenate(parts))


def as_audio(samples: NDArray[np.int16]) -> Audio:
    """16-bit samples at 16 kHz as the models take them."""
    return np.divide(samples, 32768, dtype=np.float32)


def _unreadable(why: str) -> ApiError:
    return ApiError(
        400,
        f"file: cannot be read as audio ({why}).",
        code="invalid_audio",
        param="file",
    )


def _joined(frames: list[av.AudioFrame]) -> NDArray[np.int16]:
    arrays = [cast("NDArray[np.int16]", frame.to_ndarray()).reshape(-1) for frame in frames]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int16)
