"""Whisper on a window no longer than it needs.

Whisper is trained on windows of 30 s, and the usual libraries pad every input to that length,
which on a CPU makes a one-word answer as slow as a long one. The encoder takes any length: here the
window is the audio and a little silence, which is several times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.feature_extractor import FeatureExtractor
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens
from numpy.typing import NDArray

from selfhost.errors import SetupError
from selfhost.server.transcription.together import groups

Audio = NDArray[np.float32]
"""Mono samples at 16 kHz, one dimension, from -1 to 1."""

SAMPLE_RATE_HZ = 16_000
MAX_WINDOW_S = 30.0
FRAME_SAMPLES = 160  # the spectrogram's step

# A shorter window makes Whisper mishear more, and say short phrases twice. A partial transcript can
# bear that, since only words that two decodes agree on are shown.
MIN_WINDOW_S = 10.0
MIN_DRAFT_WINDOW_S = 4.0
TRAILING_SILENCE_S = 1.5

# Speech has at most about 5 words or digits, or 10 tokens, a second; a decode that runs on beyond
# is a loop, and cutting it here is what keeps it from delaying the others.
TOKENS_PER_S = 10
SPARE_TOKENS = 8
# The model reads at most 223 tokens of what comes before; the latest of them count most.
MAX_PROMPT_TOKENS = 223
MAX_KEYWORD_TOKENS = 160


@dataclass(frozen=True)
class Word:
    text: str
    start_s: float
    end_s: float
    probability: float


@dataclass(frozen=True)
class Decoded:
    """What the model made of one window.

    `avg_logprob` is the mean over the tokens; `no_speech_prob` the model's own estimate that
    nobody spoke. `words` is None unless word times were asked for.
    """

    text: str
    audio_s: float
    language: str
    avg_logprob: float
    no_speech_prob: float
    words: tuple[Word, ...] | None = None


@dataclass(frozen=True)
class Hints:
    """What a client knows beforehand.

    Args:
        language: a code such as "en"; None lets the model detect it.
        keywords: names and terms to expect, spelt as they should be written.
        prompt: text in the style of what is to come.
    """

    language: str | None = "en"
    keywords: tuple[str, ...] = ()
    prompt: str = ""


def default_compute_type(device: str) -> str:
    """int8 on a CPU, where it halves the time; float16, as the weights are published, on a GPU."""
    if device == "cuda" or (device == "auto" and ctranslate2.get_cuda_device_count() > 0):
        return "float16"
    return "int8"


@dataclass(frozen=True)
class Draft:
    """A sound for a partial transcript. Its parts are those of `Whisper.decode`."""

    audio: Audio
    hints: Hints
    prefix: str = ""


@dataclass(frozen=True)
class _Asked:
    """
    Args:
        before: the prompt, up to where the text begins.
        known: the tokens of the text that is known already.
        room: how many tokens may follow.
    """

    audio_s: float
    language: str
    tokenizer: Tokenizer
    before: list[int]
    known: list[int]
    room: int

    @property
    def kind(self) -> tuple[str, int, bool]:
        """Only those of one kind can share a run: CTranslate2 wants the text to begin at the same
        place, and has one set of rules for all."""
        return self.language, len(self.before), bool(self.known)


@dataclass(frozen=True)
class _Generated:
    tokens: list[int]
    said: Decoded


class Whisper:
    """A Whisper model in memory. Not for two threads at once.

    Args:
        folder: the model in CTranslate2's form: model.bin, config.json, tokenizer.json.
        threads: CPU threads of one decode.
        device: "cpu", "cuda", or "auto" for CUDA where there is a GPU.
        compute_type: as CTranslate2 names it; None takes what suits the device.

    Raises:
        SetupError: it cannot be loaded, or not on that device, or cannot compute so there.
    """

    def __init__(
        self, folder: Path, *, threads: int, device: str, compute_type: str | None
    ) -> None:
        chosen = compute_type or default_compute_type(device)
        try:
            self._model = WhisperModel(
                str(folder),
                device=device,
                compute_type=chosen,
                cpu_threads=threads,
                local_files_only=True,
            )
        except (ValueError, RuntimeError) as error:
            raise SetupError(
                f"{folder} cannot be loaded on {device} with compute type {chosen}: {error}\n"
                "MODEL_SERVER_DEVICE and MODEL_SERVER_COMPUTE_TYPE say where and how."
            ) from error
        # The number of mel bins is the model's own (80, from large-v3 on 128); without a
        # preprocessor_config.json the library takes it for 80.
        bins = self._model.model.n_mels
        if len(self._model.feature_extractor.mel_filters) != bins:
            self._model.feature_extractor = FeatureExtractor(feature_size=bins)
        self._languages = frozenset(self._model.supported_languages)
        self._tokenizers: dict[str, Tokenizer] = {}

    @property
    def languages(self) -> frozenset[str]:
        return self._languages

    def close(self) -> None:
        """Free its memory, whoever still refers to it."""
        self._model.model.unload_model()

    def decode(
        self,
        audio: Audio,
        hints: Hints,
        *,
        draft: bool = False,
        prefix: str = "",
        word_times: bool = False,
    ) -> Decoded:
        """The words in `audio`, which is at most 30 s long.

        Args:
            draft: for a partial transcript: faster, and less sure.
            prefix: how the text begins, as is known already; it is not decoded again.
            word_times: say when each word was spoken.
        """
        audio_s = len(audio) / SAMPLE_RATE_HZ
        encoded = self._encode([audio], _window_s(audio_s, draft=draft))
        language = hints.language or self._detect_language(encoded)
        asked = self._asked(audio_s, language, hints, prefix)
        (decoded,) = self._generate(encoded, [asked])
        if not word_times:
            return decoded.said
        words = self._word_times(encoded, asked.tokenizer, decoded.tokens, audio_s)
        return replace(decoded.said, words=words)

    def decode_drafts(self, drafts: Sequence[Draft]) -> list[Decoded]:
        """The words of several sounds for partial transcripts, in fewer runs than sounds.

        Args:
            drafts: of any lengths; which of them share a run is decided here.
        """
        alone = [place for place, one in enumerate(drafts) if one.hints.language is None]
        found = {
            place: self.decode(
                drafts[place].audio, drafts[place].hints, draft=True, prefix=drafts[place].prefix
            )
            for place in alone
        }
        rest = [place for place in range(len(drafts)) if place not in found]
        asked = [
            self._asked(
                len(one.audio) / SAMPLE_RATE_HZ, one.hints.language or "en", one.hints, one.prefix
            )
            for one in (drafts[place] for place in rest)
        ]
        windows_s = [_window_s(one.audio_s, draft=True) for one in asked]
        for group in groups([one.kind for one in asked], windows_s):
            sounds = [drafts[rest[number]].audio for number in group]
            encoded = self._encode(sounds, max(windows_s[number] for number in group))
            results = self._generate(encoded, [asked[number] for number in group])
            for number, result in zip(group, results, strict=True):
                found[rest[number]] = result.said
        return [found[place] for place in range(len(drafts))]

    def _asked(self, audio_s: float, language: str, hints: Hints, prefix: str) -> _Asked:
        tokenizer = self._tokenizer(language)
        known = tokenizer.encode(" " + prefix) if prefix else []
        before = self._prompt(tokenizer, hints)
        room = max(int(audio_s * TOKENS_PER_S) - len(known), 0) + SPARE_TOKENS
        return _Asked(audio_s, language, tokenizer, before, known, room)

    def _generate(
        self, encoded: ctranslate2.StorageView, asked: Sequence[_Asked]
    ) -> list[_Generated]:
        """
        Args:
            asked: one for each of `encoded`, all of one kind.
        """
        prompts = [[*one.before, *one.known] for one in asked]
        room = max(one.room for one in asked)
        results = self._model.model.generate(
            encoded,
            prompts,
            beam_size=1,
            # CTranslate2 generates at most half of this, and at most this less the prompt.
            max_length=min(max(2 * room, max(map(len, prompts)) + room), self._model.max_length),
            return_scores=True,
            return_no_speech_prob=True,
            # Where words are known, the rest may be empty.
            suppress_blank=not asked[0].known,
            suppress_tokens=get_suppressed_tokens(asked[0].tokenizer, [-1]),
        )
        return [_generated(one, result) for one, result in zip(asked, results, strict=True)]

    def _encode(self, sounds: Sequence[Audio], window_s: float) -> ctranslate2.StorageView:
        samples = int(window_s * SAMPLE_RATE_HZ)
        padded = (np.pad(one[:samples], (0, max(0, samples - len(one)))) for one in sounds)
        frames = samples // FRAME_SAMPLES
        features = [self._model.feature_extractor(one)[:, :frames] for one in padded]
        return self._model.encode(np.stack(features))

    def _detect_language(self, encoded: ctranslate2.StorageView) -> str:
        if not self._model.model.is_multilingual:
            return "en"
        token, _ = self._model.model.detect_language(encoded)[0][0]
        return str(token).strip("<|>")

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            self._tokenizers[language] = Tokenizer(
                self._model.hf_tokenizer,
                self._model.model.is_multilingual,
                task="transcribe",
                language=language,
            )
        return self._tokenizers[language]

    def _prompt(self, tokenizer: Tokenizer, hints: Hints) -> list[int]:
        keywords, prior = [], []
        if hints.keywords:
            # With its full stop the list reads as a sentence, and the text keeps its punctuation.
            keywords = tokenizer.encode(f" {', '.join(hints.keywords)}.")[:MAX_KEYWORD_TOKENS]
        if hints.prompt.strip():
            prior = tokenizer.encode(" " + hints.prompt.strip())
        before = [*keywords, *prior[-(MAX_PROMPT_TOKENS - len(keywords)) :]]
        prefix = [tokenizer.sot_prev, *before] if before else []
        return [*prefix, *tokenizer.sot_sequence, tokenizer.no_timestamps]

    def _word_times(
        self,
        encoded: ctranslate2.StorageView,
        tokenizer: Tokenizer,
        tokens: Sequence[int],
        audio_s: float,
    ) -> tuple[Word, ...]:
        text_tokens = [token for token in tokens if token < tokenizer.eot]
        frames = int(audio_s * SAMPLE_RATE_HZ) // FRAME_SAMPLES
        found = self._model.find_alignment(tokenizer, [text_tokens], encoded, max(frames, 1))
        words: list[Word] = []
        for part in found[0] if found else []:
            text = part["word"]
            # A token that starts no new word (punctuation, a suffix) belongs to the one before.
            if words and not text.startswith(" "):
                last = words.pop()
                words.append(Word(last.text + text, last.start_s, last.end_s, last.probability))
                continue
            end_s = min(float(part["end"]), audio_s)
            start_s = min(float(part["start"]), end_s)
            words.append(Word(text.strip(), start_s, end_s, float(part["probability"])))
        return tuple(words)


def _window_s(audio_s: float, *, draft: bool) -> float:
    least_s = MIN_DRAFT_WINDOW_S if draft else MIN_WINDOW_S
    return min(MAX_WINDOW_S, max(least_s, audio_s + TRAILING_SILENCE_S))


def _generated(asked: _Asked, result: Any) -> _Generated:
    # CTranslate2 repeats in its answer what was known of the text.
    given = list(result.sequences_ids[0])
    new = given[len(asked.known) :] if given[: len(asked.known)] == asked.known else given
    # In a run with longer sounds a loop could go on for as long as those may.
    tokens = [*asked.known, *new[: asked.room]]
    said = Decoded(
        text=asked.tokenizer.decode(tokens).strip(),
        audio_s=asked.audio_s,
        language=asked.language,
        avg_logprob=float(result.scores[0]),
        no_speech_prob=float(result.no_speech_prob),
    )
    return _Generated(tokens, said)
