"""The voices: each turns text into phonemes, and phonemes into samples."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Protocol

import numpy as np
import onnxruntime
import piper
from numpy.typing import NDArray
from piper.config import PiperConfig, SynthesisConfig

from selfhost.server.speech.pieces import cut, split_sentence

Samples = NDArray[np.float32]
"""Mono, from -1 to 1, at the voice's own rate."""

# Piper's output peaks near 0.6. A fixed gain, not one to each piece's peak: that would make a short
# "yes" as loud as the loudest word of a sentence.
PIPER_GAIN = 1.4
HIBARI_MAX_PHONEMES = 400  # where its own cutting at clauses ends
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|Prof|St)\.(?=\s)")
_SPEAKABLE = re.compile(r"\w")


def speakable(text: str) -> bool:
    """Whether there is a word in `text`; of signs alone a phonemizer would read out the names."""
    return _SPEAKABLE.search(text) is not None


def plain_titles(text: str) -> str:
    """`text` without the dots of titles, which a phonemizer takes for the end of a sentence."""
    return _TITLE.sub(r"\1", text)


class Voice(Protocol):
    """A voice in memory. Not for two threads at once."""

    @property
    def sample_rate_hz(self) -> int: ...

    def pieces(self, text: str) -> list[str]:
        """The phonemes of `text`, in pieces to speak in turn; [] if nothing can be spoken."""

    def speak(self, piece: str, speed: float) -> Samples:
        """The sound of one piece, `speed` times as fast as the voice's own pace."""


class PiperVoice:
    """A Piper voice.

    Args:
        folder: holds one voice: a .onnx file and its .onnx.json.
        threads: CPU threads of one synthesis.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        model = next(folder.glob("*.onnx"))
        config = PiperConfig.from_dict(json.loads(Path(f"{model}.json").read_text("utf-8")))
        session = onnxruntime.InferenceSession(
            str(model), sess_options=_quiet_options(threads), providers=["CPUExecutionProvider"]
        )
        self._voice = piper.PiperVoice(session, config)

    @property
    def sample_rate_hz(self) -> int:
        return int(self._voice.config.sample_rate)

    def pieces(self, text: str) -> list[str]:
        if not speakable(text):
            return []
        sentences = self._voice.phonemize(plain_titles(text))
        whole = ["".join(phonemes) for phonemes in sentences if phonemes]
        return [
            piece
            for index, sentence in enumerate(whole)
            for piece in split_sentence(sentence, starts_reply=index == 0)
        ]

    def speak(self, piece: str, speed: float) -> Samples:
        ids = self._voice.phonemes_to_ids(list(piece))
        scale = self._voice.config.length_scale / speed
        samples = self._voice.phoneme_ids_to_audio(ids, SynthesisConfig(length_scale=scale))
        return np.atleast_1d(np.asarray(samples, np.float32)) * PIPER_GAIN


class HibariVoice:
    """The voice in the hibari-tts package: a second speaker, for test callers."""

    def __init__(self, *, threads: int) -> None:
        from hibari import Hibari

        self._voice = Hibari(threads=threads)

    @property
    def sample_rate_hz(self) -> int:
        return int(self._voice.sample_rate)

    def pieces(self, text: str) -> list[str]:
        if not speakable(text):
            return []
        return [
            piece
            for whole in self._voice.phonemize(text)
            for piece in cut(whole, HIBARI_MAX_PHONEMES)
        ]

    def speak(self, piece: str, speed: float) -> Samples:
        samples: Samples = self._voice.from_ids(self._voice.ids(piece), speed)
        return samples


def _quiet_options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A thread that spins while it waits takes the core from the model that a caller waits for.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
