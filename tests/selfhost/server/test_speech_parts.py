"""The pure parts of speech: where a text is cut, how samples become a format."""

from __future__ import annotations

import io
import wave
from typing import cast

import av
import numpy as np
import pytest
from av.container import InputContainer

from selfhost.server.speech.encoding import CONTENT_TYPES, OutputResampler, encoder
from selfhost.server.speech.pieces import MAX_PHONEMES, split_sentence


def test_only_the_first_sentence_gives_up_its_first_clause() -> None:
    sentence = "ɡʊd iːvnɪŋ tuː juː, aɪ hæv ɐ dʌbəl ɹuːm fɔːɹ juː."
    first, rest = split_sentence(sentence, starts_reply=True)
    assert f"{first} {rest}" == sentence
    assert split_sentence(sentence, starts_reply=False) == [sentence]


@pytest.mark.parametrize("sentence", ["jɛs, pliːz.", "jɛs, aɪ hæv ɐ ɹuːm fɔːɹ juː.", "ɡʊd iːvnɪŋ."])
def test_a_short_opening_is_not_cut_off(sentence: str) -> None:
    assert split_sentence(sentence, starts_reply=True) == [sentence]


def test_a_long_sentence_is_cut_at_its_clauses_and_loses_nothing() -> None:
    sentence = ", ".join("wʌn tuː θɹiː fɔːɹ faɪv" for _ in range(30))
    pieces = split_sentence(sentence, starts_reply=False)
    assert len(pieces) > 1
    assert all(len(piece) <= MAX_PHONEMES for piece in pieces)
    assert " ".join(pieces) == sentence


@pytest.mark.parametrize("words", [1, 60, 600])
@pytest.mark.parametrize("word", ["hoʊtˈɛl", "a" * 700, "ɐ"])
def test_even_a_sentence_without_a_pause_is_cut_and_loses_nothing(word: str, words: int) -> None:
    sentence = f"jɛs, aɪ hæv {' '.join([word] * words)}."
    pieces = split_sentence(sentence, starts_reply=True)
    assert all(0 < len(piece) <= MAX_PHONEMES for piece in pieces)
    assert "".join(pieces).replace(" ", "") == sentence.replace(" ", "")
    if len(word) < MAX_PHONEMES:
        assert " ".join(pieces) == sentence  # only between words


def seconds_of(data: bytes) -> float:
    """How long the sound in a file is, by decoding it."""
    with cast("InputContainer", av.open(io.BytesIO(data))) as container:
        return sum(frame.samples / frame.sample_rate for frame in container.decode(audio=0))


def tone(seconds: float, rate_hz: int) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * 440 * np.arange(int(seconds * rate_hz)) / rate_hz)).astype(
        np.float32
    )


def test_resampling_in_chunks_has_no_clicks_and_loses_nothing() -> None:
    sound = tone(2.0, 22_050)
    resampler = OutputResampler(22_050)
    chunks = [resampler.push(part) for part in np.array_split(sound, 17)]
    joined = np.concatenate([*chunks, resampler.finish()])
    assert abs(len(joined) - 48_000) <= 2
    # A tone of this pitch and height never rises faster than this between two samples; the filter
    # may ring where the sound sets in and ends.
    steepest = 0.5 * 32767 * 2 * np.pi * 440 / 24_000
    assert np.abs(np.diff(joined[50:-50].astype(int))).max() <= steepest * 1.02


def test_too_loud_samples_are_limited_and_do_not_wrap() -> None:
    loud = OutputResampler(24_000).push(np.array([2.0, -2.0, 0.0], np.float32))
    assert loud.tolist() == [32767, -32767, 0]


@pytest.mark.parametrize("response_format", CONTENT_TYPES)
def test_every_format_holds_the_whole_sound(response_format: str) -> None:
    encoding = encoder(response_format)
    pcm = (tone(1.5, 24_000) * 32767).astype(np.int16)
    data = b"".join(encoding.push(part) for part in np.array_split(pcm, 7)) + encoding.finish()
    if response_format == "pcm":
        assert np.array_equal(np.frombuffer(data, "<i2"), pcm)
        return
    assert 1.4999 <= seconds_of(data) < 1.65  # codecs pad their last frame


@pytest.mark.parametrize("response_format", ["flac", "mp3", "opus", "aac"])
def test_a_compressed_stream_starts_before_its_end_is_known(response_format: str) -> None:
    encoding = encoder(response_format)
    assert encoding.push((tone(1.0, 24_000) * 32767).astype(np.int16))


def test_a_wav_of_nothing_is_still_a_wav() -> None:
    with wave.open(io.BytesIO(encoder("wav").finish())) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
