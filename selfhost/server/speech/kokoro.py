"""Kokoro-82M: one small network, many voices, through ONNX.

Kokoro (hexgrad/Kokoro-82M, after StyleTTS 2, Li et al. 2023) turns phonemes and a style vector into
sound at 24 kHz. A voice is a table of such vectors, one for each length of the phonemes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from piper.phonemize_espeak import EspeakPhonemizer

from selfhost.errors import SetupError
from selfhost.server.onnx_session import CPU, open_session
from selfhost.server.speech.kokoro_phonemes import cut, known_signs
from selfhost.server.speech.pieces import split_sentence
from selfhost.server.speech.voices import Samples, plain_titles, speakable

SAMPLE_RATE_HZ = 24_000
STYLE_SIZE = 256
# The network takes 510; a piece of 200 is ten seconds of speech, and takes a third of the memory.
MAX_PHONEMES = 200

# Each piece comes between about 0.3 s and 0.7 s of silence: the first would be heard as the model's
# slowness, the second as a stop at every comma.
AUDIBLE = 0.01
LEAD_S = 0.05
TRAIL_S = 0.2

Style = NDArray[np.float32]
"""[phonemes, 256]"""


class Kokoro:
    """The network and its voices in memory. Not for two threads at once.

    Args:
        folder: either of the two forms in which the model is published: a graph with `vocab.json`
            and `voices.npz` beside it, or the hub's `onnx/model.onnx`, `tokenizer.json`, and
            `voices/NAME.bin`.
        device, threads: as for `open_session`.

    Raises:
        SetupError: the files are not those of a Kokoro model, or the device cannot be had.
    """

    def __init__(self, folder: Path, *, device: str, threads: int) -> None:
        self._styles = _styles(folder)
        self._ids = _vocabulary(folder)
        graph = next(iter(sorted([*folder.glob("*.onnx"), *folder.glob("onnx/model.onnx")])), None)
        if graph is None or not self._styles:
            raise SetupError(f"{folder} holds no graph or no voices of a Kokoro model")
        self._session = open_session(graph, device=device, threads=threads)
        names = {node.name for node in self._session.get_inputs()}
        # Two exports are in use; they differ in this name.
        self._tokens = next((name for name in ("input_ids", "tokens") if name in names), "")
        if names != {self._tokens, "style", "speed"}:
            raise SetupError(
                f"{graph} is no Kokoro graph: it takes {', '.join(sorted(names))}; expected "
                "input_ids (or tokens), style and speed"
            )
        self._phonemizer = EspeakPhonemizer()
        self._run = onnxruntime.RunOptions()
        if self._session.get_providers()[0] == CPU:
            # What a long piece needs for a moment, some 300 MB, would otherwise be kept for ever.
            self._run.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def voices(self) -> dict[str, KokoroVoice]:
        """A voice for each of the model's speakers."""
        return {name: KokoroVoice(self, name) for name in self._styles}

    def phonemes(self, text: str, voice: str) -> list[str]:
        """The sentences of `text` in the model's own signs."""
        # The hub names its British voices bf_… and bm_….
        language = "en-gb-x-rp" if voice.startswith(("bf_", "bm_")) else "en-us"
        sentences = self._phonemizer.phonemize(language, text)
        return [known_signs("".join(sentence), self._ids) for sentence in sentences]

    def sound(self, phonemes: str, voice: str, speed: float) -> Samples:
        ids = [self._ids[sign] for sign in phonemes][:MAX_PHONEMES]
        styles = self._styles[voice]
        feed = {
            self._tokens: np.array([[0, *ids, 0]], np.int64),
            "style": styles[min(len(ids), len(styles)) - 1][np.newaxis],
            "speed": np.array([speed], np.float32),
        }
        (samples,) = self._session.run(None, feed, self._run)[:1]
        return trimmed(np.asarray(samples, np.float32).reshape(-1))


class KokoroVoice:
    """One of Kokoro's voices."""

    sample_rate_hz = SAMPLE_RATE_HZ

    def __init__(self, model: Kokoro, name: str) -> None:
        self._model = model
        self._name = name

    def pieces(self, text: str) -> list[str]:
        if not speakable(text):
            return []
        sentences = [one for one in self._model.phonemes(plain_titles(text), self._name) if one]
        return [
            short
            for index, sentence in enumerate(sentences)
            for piece in split_sentence(sentence, starts_reply=index == 0)
            for short in cut(piece, MAX_PHONEMES)
        ]

    def speak(self, piece: str, speed: float) -> Samples:
        return self._model.sound(piece, self._name, speed)


def trimmed(samples: Samples) -> Samples:
    """Without the silence at both ends, but for a breath of it."""
    audible = np.flatnonzero(~(np.abs(samples) <= AUDIBLE))  # what is no number is not silence
    if not len(audible):
        return samples
    start = max(0, audible[0] - int(LEAD_S * SAMPLE_RATE_HZ))
    return samples[start : audible[-1] + int(TRAIL_S * SAMPLE_RATE_HZ)]


def _styles(folder: Path) -> dict[str, Style]:
    if (archive := folder / "voices.npz").is_file():
        with np.load(archive) as tables:
            return {name: _table(archive, tables[name]) for name in tables.files}
    return {
        file.stem: _table(file, np.fromfile(file, "<f4"))
        for file in sorted(folder.glob("voices/*.bin"))
    }


def _table(file: Path, values: NDArray[Any]) -> Style:
    if not values.size or values.size % STYLE_SIZE:
        raise SetupError(f"{file} holds no table of styles of {STYLE_SIZE} numbers each")
    return values.astype(np.float32).reshape(-1, STYLE_SIZE)


def _vocabulary(folder: Path) -> dict[str, int]:
    own, hub = folder / "vocab.json", folder / "tokenizer.json"
    try:
        if own.is_file():
            found: dict[str, int] = json.loads(own.read_text("utf-8"))["vocab"]
        else:
            found = json.loads(hub.read_text("utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError) as error:
        raise SetupError(f"{folder} holds no list of Kokoro's phonemes: {error}") from error
    return found
