"""POST /v1/audio/speech, with the real voices; what was said is transcribed back."""

from __future__ import annotations

import time
from typing import Any

import httpx
import numpy as np
import pytest

from selfhost.server.transcription.guards import plain
from tests.selfhost.server.conftest import RATE_HZ, Say, wait_until_idle
from tests.selfhost.server.test_speech_parts import seconds_of
from tests.selfhost.server.test_transcriptions import error_of, transcribe, wav

REPLY = "I have a double room from the first of May to the third of May. Shall I read it back?"


def speak(client: httpx.Client, text: str, **fields: Any) -> httpx.Response:
    body = {"model": "tts-1", "voice": "joe", "input": text, "response_format": "pcm"} | fields
    return client.post("/v1/audio/speech", json=body)


def heard(client: httpx.Client, pcm: bytes) -> list[str]:
    sound = np.frombuffer(pcm, "<i2").astype(np.int16)
    return plain(transcribe(client, wav(sound)).json()["text"]).split()


@pytest.mark.parametrize(
    ("response_format", "content_type"),
    [
        ("wav", "audio/wav"),
        ("flac", "audio/flac"),
        ("mp3", "audio/mpeg"),
        ("opus", "audio/ogg"),
        ("aac", "audio/aac"),
    ],
)
def test_each_format_is_what_its_type_says(
    client: httpx.Client, response_format: str, content_type: str
) -> None:
    answer = speak(client, REPLY, response_format=response_format)
    assert answer.headers["content-type"] == content_type
    assert 3 < seconds_of(answer.content) < 9
    words = plain(transcribe(client, answer.content).json()["text"]).split()
    assert words[-2:] == ["it", "back"]


def test_pcm_is_24_khz_mono_and_speaks_at_a_natural_pace(client: httpx.Client) -> None:
    answer = speak(client, REPLY)
    assert answer.headers["content-type"] == "audio/pcm"
    words_a_minute = len(REPLY.split()) / (len(answer.content) / 2 / RATE_HZ) * 60
    assert 120 < words_a_minute < 300
    assert heard(client, answer.content)[-2:] == ["it", "back"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("Good evening, thank you for calling the hotel.", "hotel"),
        ("Two guests, a twin room, and breakfast.", "breakfast"),
        ("I am sorry; could you repeat the second name?", "name"),
        ("Mr. Smith, your room has a balcony.", "balcony"),
        ("Your room is on the fourth floor", "floor"),
        ("A double (sea view)—and breakfast", "breakfast"),
    ],
)
@pytest.mark.parametrize("voice", ["joe", "hibari"])
def test_no_reply_loses_its_last_word(
    client: httpx.Client, text: str, last: str, voice: str
) -> None:
    # Piper says no sentence twice alike, and Whisper base may mishear one of them; an end that is
    # cut off would be missing each time.
    ends = (heard(client, speak(client, text, voice=voice).content)[-1] for _ in range(3))
    assert last in ends


def test_speed_changes_the_length_and_not_the_words(client: httpx.Client) -> None:
    slow, normal, fast = (len(speak(client, REPLY, speed=s).content) for s in (0.25, 1.0, 4.0))
    assert slow > 2.5 * normal
    assert fast < 0.7 * normal  # a phoneme has a shortest length, so it is not a quarter
    assert heard(client, speak(client, REPLY, speed=1.3).content)[-2:] == ["it", "back"]


def test_the_sound_begins_before_it_is_all_made(client: httpx.Client) -> None:
    text = " ".join(f"Sentence number {n} is here to make the reply long." for n in range(15))
    body = {"model": "piper", "input": text, "response_format": "pcm"}
    with client.stream("POST", "/v1/audio/speech", json=body) as answer:
        started = time.perf_counter()
        chunks = answer.iter_raw()
        next(chunks)
        first_s = time.perf_counter() - started
        for _ in chunks:
            pass
        all_s = time.perf_counter() - started
    assert first_s < all_s / 3


def test_the_sound_of_pieces_joins_without_clicks(client: httpx.Client) -> None:
    text = "One, two, three. Four, five, six. Seven, eight, nine."
    pcm = np.frombuffer(speak(client, text).content, "<i2").astype(int)
    # Neither voice has much above 8 kHz; a click is a step, which has.
    steps = np.abs(np.diff(pcm, n=2))
    assert steps.max() < 20_000


@pytest.mark.parametrize("text", ["...", "—", "?!", "🙂"])
def test_signs_alone_are_a_short_silence(client: httpx.Client, text: str) -> None:
    pcm = np.frombuffer(speak(client, text).content, "<i2")
    assert 0 < len(pcm) < RATE_HZ
    assert not pcm.any()


def test_wrong_fields_are_named(client: httpx.Client) -> None:
    assert error_of(speak(client, "Hi.", voice="nobody"), 400)["code"] == "voice_not_found"
    assert error_of(speak(client, "Hi.", model="tts-9"), 404)["code"] == "model_not_found"
    assert error_of(speak(client, "Hi.", response_format="midi"), 400)["param"] == "response_format"
    assert error_of(speak(client, "Hi.", speed=9), 400)["param"] == "speed"
    too_long = error_of(speak(client, "word " * 5000), 400)
    assert too_long["code"] == "string_above_max_length"
    answer = client.post(
        "/v1/audio/speech", content=b"{not json", headers={"Content-Type": "application/json"}
    )
    assert error_of(answer, 400)["code"] == "invalid_json"


def test_a_client_that_leaves_stops_the_synthesis(client: httpx.Client, say: Say) -> None:
    text = "This reply is so long that nobody hears it to its end, whatever it says. " * 100
    body = {"model": "piper", "input": text, "response_format": "pcm"}
    with client.stream("POST", "/v1/audio/speech", json=body) as answer:
        next(answer.iter_raw())
    wait_until_idle(client, "speech")
    assert heard(client, speak(client, REPLY).content)[-2:] == ["it", "back"]
