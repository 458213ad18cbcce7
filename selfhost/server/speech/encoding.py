"""Sound that goes out: at 24 kHz, in the format that the client asked for, while it is made."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Protocol, cast

import av
import numpy as np
from av.audio import AudioStream
from av.audio.format import AudioFormat
from av.audio.layout import AudioLayout
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 24_000
Pcm = NDArray[np.int16]
_UNKNOWN_LENGTH = 0xFFFFFFFF


class OutputResampler:
    """A stream of samples at a voice's rate to 16-bit PCM at 24 kHz.

    The filter keeps its memory between the chunks, so that they join without a click.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)

    def push(self, samples: NDArray[np.float32]) -> Pcm:
        pcm = (np.clip(samples, -1.0, 1.0) * 32767).astype(np.int16)
        if self._rate_hz == SAMPLE_RATE_HZ or not len(pcm):
            return pcm
        frame = av.AudioFrame.from_ndarray(pcm[np.newaxis], format="s16", layout="mono")
        frame.sample_rate = self._rate_hz
        return _joined(self._resampler.resample(frame))

    def finish(self) -> Pcm:
        """What the filter still holds: the last moment of the sound."""
        if self._rate_hz == SAMPLE_RATE_HZ:
            return np.zeros(0, np.int16)
        return _joined(self._resampler.resample(None))


class Encoder(Protocol):
    """Turns PCM into the bytes of a format; each call returns what is ready to be sent."""

    def push(self, pcm: Pcm) -> bytes: ...

    def finish(self) -> bytes: ...


class PcmEncoder:
    """The samples as they are: signed, 16 bits, little-endian, mono."""

    def push(self, pcm: Pcm) -> bytes:
        return pcm.astype("<i2").tobytes()

    def finish(self) -> bytes:
        return b""


class WavEncoder:
    """WAV whose header says "length unknown", since it is sent before the sound is made."""

    def __init__(self) -> None:
        self._header = _wav_header()

    def push(self, pcm: Pcm) -> bytes:
        header, self._header = self._header, b""
        return header + pcm.astype("<i2").tobytes()

    def finish(self) -> bytes:
        return self._header


@dataclass(frozen=True)
class _Codec:
    container: str
    codec: str
    sample_format: str
    container_options: dict[str, str]
    bit_rate: int | None = None


class _Sink:
    """Collects what the muxer writes. Without `seek`, so that it never goes back."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._written.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        data = b"".join(self._written)
        self._written.clear()
        return data


class CodecEncoder:
    """A compressed format, through FFmpeg."""

    def __init__(self, codec: _Codec) -> None:
        self._sink = _Sink()
        self._container: Any = av.open(
            cast("Any", self._sink),
            mode="w",
            format=codec.container,
            container_options=codec.container_options,
        )
        stream = self._container.add_stream(codec.codec, rate=SAMPLE_RATE_HZ)
        self._stream = cast("AudioStream", stream)
        self._stream.layout = AudioLayout("mono")
        self._stream.format = AudioFormat(codec.sample_format)
        if codec.bit_rate:
            self._stream.bit_rate = codec.bit_rate
        self._position = 0

    def push(self, pcm: Pcm) -> bytes:
        if len(pcm):
            frame = av.AudioFrame.from_ndarray(pcm[np.newaxis], format="s16", layout="mono")
            frame.sample_rate = SAMPLE_RATE_HZ
            frame.pts = self._position
            self._position += len(pcm)
            self._mux(frame)
        return self._sink.take()

    def finish(self) -> bytes:
        self._mux(None)
        self._container.close()
        return self._sink.take()

    def _mux(self, frame: av.AudioFrame | None) -> None:
        for packet in self._stream.encode(frame):
            self._container.mux(packet)


_FLUSH = {"flush_packets": "1"}
_CODECS = {
    "flac": _Codec("flac", "flac", "s16", _FLUSH),
    "mp3": _Codec("mp3", "libmp3lame", "s16p", _FLUSH | {"write_xing": "0"}, 64_000),
    # A short page duration: a page is sent only when it is full.
    "opus": _Codec("ogg", "libopus", "s16", _FLUSH | {"page_duration": "100000"}, 32_000),
    "aac": _Codec("adts", "aac", "fltp", _FLUSH, 64_000),
}
CONTENT_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}


def encoder(response_format: str) -> Encoder:
    """An encoder for one of CONTENT_TYPES."""
    if response_format == "pcm":
        return PcmEncoder()
    if response_format == "wav":
        return WavEncoder()
    return CodecEncoder(_CODECS[response_format])


def _wav_header() -> bytes:
    bytes_per_s = SAMPLE_RATE_HZ * 2
    form = struct.pack("<HHIIHH", 1, 1, SAMPLE_RATE_HZ, bytes_per_s, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", _UNKNOWN_LENGTH)
        + b"WAVEfmt "
        + struct.pack("<I", len(form))
        + form
        + b"data"
        + struct.pack("<I", _UNKNOWN_LENGTH)
    )


def _joined(frames: list[av.AudioFrame]) -> Pcm:
    arrays = [cast("Pcm", frame.to_ndarray()).reshape(-1) for frame in frames]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int16)
