"""POST /v1/audio/transcriptions, with the real model."""

from __future__ import annotations

import io
import re
import wave
from typing import Any, cast

import av
import httpx
import numpy as np
import pytest
from av.audio import AudioStream
from av.audio.layout import AudioLayout

from selfhost.server.transcription.guards import plain
from tests.selfhost.server.conftest import RATE_HZ, Pcm, Say, quiet, wait_until_idle

SENTENCE = "Good evening. I would like to book a twin room for three nights."
WORDS = plain(SENTENCE).split()


def wav(pcm: Pcm, rate_hz: int = RATE_HZ) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(pcm.astype("<i2").tobytes())
    return out.getvalue()


def encoded(pcm: Pcm, container: str, codec: str, rate_hz: int) -> bytes:
    out = io.BytesIO()
    with av.open(out, mode="w", format=container) as file:
        stream = cast("AudioStream", file.add_stream(codec, rate=rate_hz))
        stream.layout = AudioLayout("stereo")
        resampler = av.AudioResampler(
            format=stream.codec_context.format, layout="stereo", rate=rate_hz
        )
        frame = av.AudioFrame.from_ndarray(pcm[np.newaxis], format="s16", layout="mono")
        frame.sample_rate = RATE_HZ
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            part.pts = None
            for packet in stream.encode(part):
                file.mux(packet)
        for packet in stream.encode(None):
            file.mux(packet)
    return out.getvalue()


def transcribe(client: httpx.Client, data: bytes, **fields: Any) -> httpx.Response:
    fields = {"model": "whisper-base", "language": "en"} | fields
    return client.post("/v1/audio/transcriptions", files={"file": ("sound", data)}, data=fields)


def test_json_is_the_text_and_its_length(client: httpx.Client, say: Say) -> None:
    pcm = say(SENTENCE)
    body = transcribe(client, wav(pcm)).json()
    assert plain(body["text"]).split() == WORDS
    assert body["usage"]["seconds"] == pytest.approx(len(pcm) / RATE_HZ, abs=0.05)


def test_text_is_plain(client: httpx.Client, say: Say) -> None:
    answer = transcribe(client, wav(say(SENTENCE)), response_format="text")
    assert answer.headers["content-type"].startswith("text/plain")
    assert plain(answer.text).split() == WORDS


def test_word_times_rise_and_stay_within_the_sound(client: httpx.Client, say: Say) -> None:
    pcm = np.concatenate([quiet(1.0), say(SENTENCE), quiet(0.5)])
    fields = {
        "response_format": "verbose_json",
        "timestamp_granularities[]": ["word", "segment"],
    }
    body = transcribe(client, wav(pcm), **fields).json()
    assert [plain(word["word"]) for word in body["words"]] == WORDS
    times = [moment for word in body["words"] for moment in (word["start"], word["end"])]
    assert times == sorted(times)
    assert 0.7 < times[0] < 1.6
    assert times[-1] <= body["duration"]
    assert " ".join(segment["text"] for segment in body["segments"]) == body["text"]


def test_words_come_only_when_asked_for(client: httpx.Client, say: Say) -> None:
    body = transcribe(client, wav(say(SENTENCE)), response_format="verbose_json").json()
    assert "words" not in body
    assert body["segments"]


@pytest.mark.parametrize(
    ("response_format", "first_line", "arrow"),
    [
        ("srt", "1", r"\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}"),
        ("vtt", "WEBVTT", r"\d\d:\d\d:\d\d\.\d{3} --> \d\d:\d\d:\d\d\.\d{3}"),
    ],
)
def test_captions(
    client: httpx.Client, say: Say, response_format: str, first_line: str, arrow: str
) -> None:
    text = transcribe(client, wav(say(SENTENCE)), response_format=response_format).text
    assert text.splitlines()[0] == first_line
    assert len(re.findall(arrow, text)) == 2  # one caption a sentence
    assert "twin room" in text


@pytest.mark.parametrize(
    ("container", "codec", "rate_hz"),
    [
        ("mp3", "libmp3lame", 44_100),
        ("flac", "flac", 48_000),
        ("ogg", "libopus", 48_000),
        ("webm", "libopus", 48_000),
        ("mp4", "aac", 44_100),
        ("wav", "pcm_mulaw", 8_000),
    ],
)
def test_any_format_and_rate_is_heard(
    client: httpx.Client, say: Say, container: str, codec: str, rate_hz: int
) -> None:
    data = encoded(say(SENTENCE), container, codec, rate_hz)
    words = plain(transcribe(client, data).json()["text"]).split()
    assert words[-4:] == WORDS[-4:]


def test_a_long_file_is_heard_to_its_end(client: httpx.Client, say: Say) -> None:
    names = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    parts = [say(f"This is message number {name}. {SENTENCE}") for name in names]
    pcm = np.concatenate([part for spoken in parts for part in (spoken, quiet(0.6))])
    assert len(pcm) > 45 * RATE_HZ
    text = plain(transcribe(client, wav(pcm)).json()["text"])
    assert text.count("book a twin room") == len(names)


def test_fast_speech_is_heard_to_its_last_word(client: httpx.Client) -> None:
    text = "My telephone number is four one five, five five five, oh one nine seven, thank you."
    body = {"model": "piper", "input": text, "speed": 1.4, "response_format": "wav"}
    sound = client.post("/v1/audio/speech", json=body).content
    assert plain(transcribe(client, sound).json()["text"]).endswith("thank you")


def test_keywords_decide_how_a_name_is_spelt(client: httpx.Client, say: Say) -> None:
    data = wav(say("The guest is called Xiomara Quispe."))
    assert "Xiomara" not in transcribe(client, data).json()["text"]
    told = transcribe(client, data, keywords=["Xiomara Quispe", "Harbour View"])
    assert "Xiomara Quispe" in told.json()["text"]


@pytest.mark.parametrize(
    "sound",
    [
        np.zeros(5 * RATE_HZ, np.int16),
        quiet(5, level=8),
        quiet(5, level=300),
        quiet(5, level=3000),
        (3000 * np.sin(2 * np.pi * 100 * np.arange(5 * RATE_HZ) / RATE_HZ)).astype(np.int16),
        np.where(np.arange(5 * RATE_HZ) % RATE_HZ < 200, 20_000, 0).astype(np.int16),
    ],
    ids=["silence", "near silence", "noise", "loud noise", "hum", "clicks"],
)
def test_no_speech_no_words(client: httpx.Client, sound: Pcm) -> None:
    assert transcribe(client, wav(sound)).json()["text"] == ""


def error_of(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def test_what_is_no_audio_is_refused(client: httpx.Client) -> None:
    assert error_of(transcribe(client, b"not a sound" * 50), 400)["code"] == "invalid_audio"
    assert error_of(transcribe(client, b""), 400)["param"] == "file"


def test_a_file_cut_off_in_the_middle_gives_what_it_holds(client: httpx.Client, say: Say) -> None:
    data = wav(np.concatenate([say(SENTENCE), quiet(1)]))
    assert "twin room" in transcribe(client, data[: len(data) - 20_001]).json()["text"]


def test_wrong_fields_are_named(client: httpx.Client, say: Say) -> None:
    data = wav(say("Yes."))
    assert error_of(transcribe(client, data, model="whisper-9"), 404)["code"] == "model_not_found"
    assert error_of(transcribe(client, data, response_format="xml"), 400)["param"] == (
        "response_format"
    )
    assert error_of(transcribe(client, data, language="klingon"), 400)["param"] == "language"
    answer = client.post("/v1/audio/transcriptions", data={"model": "whisper-base"})
    assert error_of(answer, 400)["param"] == "file"


@pytest.mark.parametrize("announced", [True, False], ids=["with its length", "without"])
def test_over_long_uploads_are_refused(client: httpx.Client, announced: bool) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    parts = [head, *[bytes(1_000_000)] * 60, b"\r\n--b--\r\n"]
    answer = client.post(
        "/v1/audio/transcriptions",
        content=b"".join(parts) if announced else iter(parts),
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    error_of(answer, 413)


def test_a_client_that_leaves_frees_its_work(client: httpx.Client, say: Say) -> None:
    data = wav(np.concatenate([say(SENTENCE)] * 60))
    with pytest.raises(httpx.ReadTimeout):
        client.post(
            "/v1/audio/transcriptions",
            files={"file": ("sound", data)},
            data={"model": "whisper-base", "language": "en"},
            timeout=httpx.Timeout(60, read=2.0),
        )
    wait_until_idle(client, "transcriptions")
    body = transcribe(client, wav(say(SENTENCE))).json()
    assert plain(body["text"]).split() == WORDS
