"""GET /v1/realtime event by event: what a client other than the plugin may do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from selfhost.server.realtime.events import COMMITTED, COMPLETED, DELTA
from selfhost.server.transcription.guards import plain
from tests.selfhost.server.conftest import (
    KEY,
    ModelServer,
    Pcm,
    Say,
    appends,
    quiet,
    wait_until_idle,
)

COMMIT = {"type": "input_audio_buffer.commit"}
STARTED = "input_audio_buffer.speech_started"
STOPPED = "input_audio_buffer.speech_stopped"


class Session:
    """A client that sends events and waits for answers."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.seen: list[dict[str, Any]] = []

    async def send(self, events: Iterable[dict[str, Any]]) -> None:
        for event in events:
            await self._socket.send(json.dumps(event))

    async def send_text(self, text: str) -> None:
        await self._socket.send(text)

    async def until(self, *kinds: str, timeout_s: float = 20) -> dict[str, Any]:
        async with asyncio.timeout(timeout_s):
            while True:
                event: dict[str, Any] = json.loads(await self._socket.recv())
                self.seen.append(event)
                if event["type"] in kinds:
                    return event

    async def hear(self, pcm: Pcm) -> str:
        """The transcript of one utterance, committed by this client."""
        await self.send([*appends(pcm), COMMIT])
        return str((await self.until(COMPLETED))["transcript"])

    async def settings(self, **audio_input: Any) -> dict[str, Any]:
        session = {"type": "transcription", "audio": {"input": audio_input}}
        await self.send([{"type": "session.update", "session": session}])
        return await self.until("session.updated")


@asynccontextmanager
async def session(
    server: ModelServer, model: str = "gpt-live-transcribe", key: str = KEY
) -> AsyncIterator[Session]:
    headers = {"Authorization": f"Bearer {key}"}
    url = f"{server.realtime_url}&model={model}"
    async with connect(url, additional_headers=headers) as socket:
        client = Session(socket)
        await client.until("session.created")
        yield client


async def test_an_utterance_is_committed_and_completed_under_one_id(
    server: ModelServer, say: Say
) -> None:
    async with session(server) as client:
        await client.settings(transcription={"model": "gpt-live-transcribe", "languages": ["en"]})
        text = await client.hear(np.concatenate([say("A twin room, please."), quiet(0.2)]))
        assert plain(text) == "a twin room please"
        committed, completed = client.seen[-2:]
        assert committed["type"] == COMMITTED
        assert committed["item_id"] == completed["item_id"]
        assert completed["usage"]["type"] == "duration"


async def test_sound_before_any_session_update_is_heard(server: ModelServer, say: Say) -> None:
    async with session(server) as client:
        assert "twin room" in await client.hear(say("A twin room, please."))


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("{not json", "invalid_json"),
        ("[1, 2]", "invalid_event"),
        ('{"type": "conversation.dance"}', "unknown_event"),
        ('{"type": "input_audio_buffer.commit"}', "input_audio_buffer_commit_empty"),
        ('{"type": "input_audio_buffer.append"}', "invalid_audio"),
        ('{"type": "input_audio_buffer.append", "audio": "?!"}', "invalid_audio"),
        ('{"type": "input_audio_buffer.append", "audio": "AAAA"}', "invalid_audio"),
        ('{"type": "session.update"}', "invalid_value"),
        ('{"type": "session.update", "session": {"type": "realtime"}}', "invalid_value"),
    ],
)
async def test_a_wrong_event_is_told_and_the_session_goes_on(
    server: ModelServer, say: Say, sent: str, code: str
) -> None:
    async with session(server) as client:
        await client.send_text(sent)
        error = (await client.until("error"))["error"]
        assert error["code"] == code
        assert {"message", "type", "param", "code", "event_id"} <= set(error)
        assert "twin room" in await client.hear(say("A twin room, please."))


async def test_wrong_settings_are_told_and_change_nothing(server: ModelServer, say: Say) -> None:
    async with session(server) as client:
        for wrong in (
            {"transcription": {"model": "whisper-9"}},
            {"transcription": {"language": "klingon"}},
            {"format": {"type": "audio/pcmu"}},
            {"turn_detection": {"type": "server_vad", "silence_duration_ms": -1}},
        ):
            update = {"type": "transcription", "audio": {"input": wrong}}
            await client.send([{"type": "session.update", "session": update, "event_id": "e1"}])
            error = (await client.until("error"))["error"]
            assert error["event_id"] == "e1"
        assert "twin room" in await client.hear(say("A twin room, please."))


@pytest.mark.parametrize(
    "sound",
    [quiet(3, level=0), quiet(3, level=8), quiet(3, level=600), quiet(0.1, level=9000)],
    ids=["silence", "near silence", "noise", "a burst of 100 ms"],
)
async def test_no_speech_is_completed_empty(server: ModelServer, sound: Pcm, say: Say) -> None:
    async with session(server) as client:
        assert await client.hear(sound) == ""
        assert not any(event["type"] == DELTA for event in client.seen)
        assert "twin room" in await client.hear(say("A twin room, please."))


async def test_server_vad_ends_each_utterance_by_itself(server: ModelServer, say: Say) -> None:
    phrases = ["I need a twin room.", "There are two guests.", "We stay for three nights."]
    async with session(server, model="whisper-base") as client:
        await client.settings(
            turn_detection={
                "type": "server_vad",
                "prefix_padding_ms": 600,
                "silence_duration_ms": 350,
            }
        )
        sound = [part for text in phrases for part in (say(text), quiet(2.0))]
        await client.send(appends(np.concatenate([quiet(1.0), *sound])))
        transcripts = [(await client.until(COMPLETED))["transcript"] for _ in phrases]
        assert [plain(text) for text in transcripts] == [plain(text) for text in phrases]
        kinds = [event["type"] for event in client.seen if event["type"] != DELTA]
        assert kinds.count(STARTED) == kinds.count(STOPPED) == kinds.count(COMMITTED) == 3
        first = [event for event in client.seen if event["type"] in (STARTED, STOPPED)][:2]
        assert 300 <= first[0]["audio_start_ms"] <= 1000
        assert first[1]["audio_end_ms"] > first[0]["audio_start_ms"] + 900
        assert first[0]["item_id"] == first[1]["item_id"]


async def test_keywords_decide_how_a_name_is_spelt(server: ModelServer, say: Say) -> None:
    async with session(server) as client:
        await client.settings(
            transcription={"model": "gpt-live-transcribe", "keywords": ["Xiomara Quispe", "suite"]}
        )
        assert "Xiomara Quispe" in await client.hear(say("The guest is called Xiomara Quispe."))
        await client.settings(transcription={"keywords": []})
        assert "Xiomara" not in await client.hear(say("The guest is called Xiomara Quispe."))


async def test_cleared_sound_is_not_heard(server: ModelServer, say: Say) -> None:
    async with session(server) as client:
        await client.send(
            [*appends(say("We are two guests.")), {"type": "input_audio_buffer.clear"}]
        )
        await client.until("input_audio_buffer.cleared")
        text = await client.hear(np.concatenate([quiet(0.3), say("A twin room, please.")]))
        assert plain(text) == "a twin room please"


async def test_a_client_that_vanishes_leaves_nothing_behind(
    server: ModelServer, client: httpx.Client, say: Say
) -> None:
    async with session(server) as listener:
        await listener.send(appends(np.concatenate([say("We would like a room.")] * 20)))
        listener._socket.transport.abort()
    await asyncio.to_thread(wait_until_idle, client, "realtime")


async def test_refusals_come_before_the_socket_opens(server: ModelServer) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with session(server, key="another-key"):
            pass
    assert refused.value.response.status_code == 401
    assert json.loads(refused.value.response.body)["error"]["code"] == "invalid_api_key"
    with pytest.raises(InvalidStatus) as unknown:
        async with session(server, model="whisper-9"):
            pass
    assert unknown.value.response.status_code == 404
