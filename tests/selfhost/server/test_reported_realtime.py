"""Faults of other realtime servers that users reported, each as a test of its whole kind."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Iterator, Sequence

import httpx
import numpy as np
import pytest
from websockets.asyncio.client import connect

from selfhost.server.realtime.events import COMMITTED, COMPLETED, DELTA
from selfhost.server.transcription.guards import plain
from tests.selfhost.server.conftest import KEY, RATE_HZ, ModelServer, Pcm, Say, appends, quiet
from tests.selfhost.server.test_realtime_protocol import COMMIT, STARTED, Session, session

PHRASES = ["I need a twin room.", "There are two guests.", "We stay for three nights."]
ROOMS = ("single room", "double room", "twin room", "family suite")
GUESTS = ("two guests", "three guests", "four guests", "five guests", "one guest")
MONTHS = ("January", "March", "April", "May", "June", "August", "September", "October")
VERBS = ("would like", "want", "wish for", "prefer")


def sentences() -> Iterator[str]:
    """Sentences of a caller who never says one twice running."""
    for month, verb, guests, room in itertools.product(MONTHS, VERBS, GUESTS, ROOMS):
        yield f"For {guests} we {verb} a {room} in {month}."


def continuous(say: Say, seconds: float) -> tuple[Pcm, str]:
    """Speech without a pause, and what is said in it: some sentences in ever other orders."""
    chosen = list(itertools.islice(sentences(), 0, None, 17))
    order = np.random.default_rng(0)
    sound: list[Pcm] = []
    said: list[str] = []
    while True:
        for index in order.permutation(len(chosen)):
            if sum(map(len, sound)) >= seconds * RATE_HZ:
                assert thrice_running(" ".join(said).split()) is None
                return np.concatenate(sound), " ".join(said)
            sound.append(say(chosen[index]))
            said.append(plain(chosen[index]))


def thrice_running(words: Sequence[str]) -> str | None:
    """A phrase of up to twelve words that comes three times in a row, or None."""
    for length in range(1, 13):
        for start in range(len(words) - 3 * length + 1):
            first, second, third = (
                words[start + turn * length : start + (turn + 1) * length] for turn in range(3)
            )
            if first == second == third:
                return " ".join(first)
    return None


async def test_phrases_with_silences_of_four_seconds_are_all_heard(
    server: ModelServer, say: Say
) -> None:
    parts = [part for text in PHRASES for part in (say(text), quiet(4.0))]
    async with session(server) as client:  # the client commits
        text = await client.hear(np.concatenate([quiet(0.5), *parts]))
    assert plain(text) == plain(" ".join(PHRASES))
    async with session(server, model="whisper-base") as client:  # the server does
        await client.send(appends(np.concatenate([quiet(0.5), *parts])))
        heard = [plain((await client.until(COMPLETED))["transcript"]) for _ in PHRASES]
    assert heard == [plain(text) for text in PHRASES]


@pytest.mark.parametrize("model", ["gpt-live-transcribe", "whisper-base"])
@pytest.mark.parametrize("length_ms", [40, 100])
async def test_a_scrap_of_speech_is_no_text_and_the_session_lives(
    server: ModelServer, say: Say, model: str, length_ms: int
) -> None:
    speech = say("A twin room, please.")
    scrap = speech[RATE_HZ // 4 :][: RATE_HZ * length_ms // 1000]
    async with session(server, model=model) as client:
        await client.send([*appends(scrap), COMMIT])
        if length_ms >= 100:  # less is told to be no sound, as by OpenAI's own server
            assert len((await client.until(COMPLETED))["transcript"].split()) <= 1
        else:
            assert (await client.until("error", COMPLETED))["type"] in ("error", COMPLETED)
        assert plain(await client.hear(np.concatenate([quiet(0.2), speech]))).endswith(
            "twin room please"
        )


async def test_a_session_for_transcripts_makes_nothing_else_and_lives_on(
    server: ModelServer, say: Say
) -> None:
    async with session(server) as client:
        for text in PHRASES:
            assert plain(await client.hear(say(text))) == plain(text)
        made = {event["type"] for event in client.seen}
    allowed = ("session.", "input_audio_buffer.", "conversation.item.input_audio_transcription.")
    assert all(kind.startswith(allowed) for kind in made), made


async def test_a_minute_of_speech_is_not_doubled_and_its_lag_is_reported(
    server: ModelServer, client: httpx.Client, say: Say
) -> None:
    sound, said = continuous(say, 60)
    before = lag_buckets(client)
    async with session(server) as listener:
        await listener.settings(transcription={"languages": ["en"]})
        for start in range(0, len(sound), RATE_HZ):  # three times as fast as it is spoken
            await listener.send(appends(sound[start : start + RATE_HZ]))
            await asyncio.sleep(1 / 3)
        await listener.send([COMMIT])
        text = plain((await listener.until(COMPLETED, timeout_s=60))["transcript"])
        deltas = plain("".join(e["delta"] for e in listener.seen if e["type"] == DELTA))
    assert_said_once(text, said)
    assert thrice_running(deltas.split()) is None
    assert len(deltas.split()) <= 1.15 * len(said.split())
    after = lag_buckets(client)
    reported = after["+Inf"] - before["+Inf"]
    assert reported >= 2
    # Three times as fast as speech; yet no words came half a minute after their sound.
    assert after["30.0"] - before["30.0"] == reported


def lag_buckets(client: httpx.Client) -> dict[str, float]:
    page = client.get("/metrics").text
    head = 'model_server_realtime_lag_seconds_bucket{le="'
    return {
        line[len(head) :].split('"')[0]: float(line.split()[-1])
        for line in page.splitlines()
        if line.startswith(head)
    }


def assert_said_once(text: str, said: str) -> None:
    assert thrice_running(text.split()) is None
    assert 0.9 * len(said.split()) <= len(text.split()) <= 1.1 * len(said.split())
    for month in MONTHS:
        assert text.count(month.lower()) <= said.count(month.lower()) + 1


async def test_ten_minutes_without_a_pause_never_repeat_themselves(
    server: ModelServer, say: Say
) -> None:
    sound, said = continuous(say, 600)
    async with session(server) as listener:
        await listener.settings(
            transcription={"model": "whisper-tiny", "languages": ["en"]}, turn_detection=None
        )
        reading = asyncio.create_task(listener.until(COMPLETED, timeout_s=200))
        await listener.send([*appends(sound, chunk_s=0.5), COMMIT])
        await reading
        # An utterance ends after ten minutes at the latest; what is said after it is another.
        while len(texts(listener)) < committed(listener):
            await listener.until(COMPLETED, timeout_s=60)
        text = plain(" ".join(texts(listener)))
        deltas = plain("".join(e["delta"] for e in listener.seen if e["type"] == DELTA))
    assert thrice_running(text.split()) is None
    assert thrice_running(deltas.split()) is None
    assert 0.9 * len(said.split()) <= len(text.split()) <= 1.1 * len(said.split())


def committed(client: Session) -> int:
    return sum(event["type"] == COMMITTED for event in client.seen)


def texts(client: Session) -> list[str]:
    return [event["transcript"] for event in client.seen if event["type"] == COMPLETED]


async def test_ten_calls_at_once_are_each_heard_right(
    server: ModelServer, client: httpx.Client, say: Say
) -> None:
    said = list(itertools.islice(sentences(), 0, 70, 7))
    alive: list[int] = []

    async def call(text: str) -> str:
        async with session(server) as caller:
            await caller.settings(transcription={"languages": ["en"]})
            sound = np.concatenate([quiet(0.5), say(text), quiet(0.3)])
            for start in range(0, len(sound), RATE_HZ // 2):
                await caller.send(appends(sound[start : start + RATE_HZ // 2]))
                await asyncio.sleep(0.25)
            await caller.send([COMMIT])
            return plain((await caller.until(COMPLETED, timeout_s=60))["transcript"])

    async def watch() -> None:
        async with httpx.AsyncClient(base_url=server.root, timeout=30) as probe:
            while True:
                alive.append((await probe.get("/health")).status_code)
                await asyncio.sleep(0.2)

    before = lag_buckets(client)["+Inf"]
    watching = asyncio.create_task(watch())
    heard = await asyncio.gather(*map(call, said))
    watching.cancel()
    right = [_overlap(text, plain(given)) for text, given in zip(heard, said, strict=True)]
    assert min(right) >= 0.7, heard
    assert sum(right) / len(right) >= 0.9, heard
    assert lag_buckets(client)["+Inf"] > before
    assert set(alive) == {200}  # load is no reason to be restarted


def _overlap(heard: str, said: str) -> float:
    """How many of the words said were heard, from 0 to 1."""
    return len(set(said.split()) & set(heard.split())) / len(set(said.split()))


@pytest.mark.parametrize("end", ["abort", "close code", "broken frame", "no goodbye"])
async def test_however_others_end_a_call_goes_on(server: ModelServer, say: Say, end: str) -> None:
    speech = say("A twin room, please.")
    async with session(server) as staying:
        await staying.send(appends(speech[: len(speech) // 2]))
        for _ in range(3):
            await end_badly(server, end, speech)
        await staying.send([*appends(speech[len(speech) // 2 :]), COMMIT])
        assert plain((await staying.until(COMPLETED))["transcript"]) == "a twin room please"
    for _ in range(2):  # and the next ones are served
        async with session(server) as fresh:
            assert plain(await fresh.hear(speech)) == "a twin room please"


async def end_badly(server: ModelServer, end: str, speech: Pcm) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    socket = await connect(server.realtime_url, additional_headers=headers)
    for event in appends(speech):
        await socket.send(json.dumps(event))
    if end == "close code":
        await socket.close(1011, "gone")
        return
    if end == "broken frame":
        socket.transport.write(b"\xff\xff" + os.urandom(64))
        await asyncio.sleep(0.1)
    elif end == "no goodbye":
        socket.transport.write_eof()
        await asyncio.sleep(0.1)
    socket.transport.abort()


async def test_speech_that_has_begun_may_be_cut_by_the_commit(
    server: ModelServer, say: Say
) -> None:
    """The server has told that speech began, and never that it stopped."""
    async with session(server, model="whisper-base") as client:
        await client.send(appends(np.concatenate([quiet(0.3), say("A twin room.")])))
        await client.until(STARTED)
        await client.send([COMMIT])
        assert "twin" in plain((await client.until(COMPLETED))["transcript"])
        assert plain(await client.hear(say("Two guests."))) == "two guests"
