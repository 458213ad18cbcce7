"""The realtime endpoint through LiveKit's own client, at the pace of a call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from livekit import rtc
from livekit.agents import inference, stt, tts, utils
from livekit.plugins import openai

from selfhost.server.transcription.guards import plain
from tests.selfhost.server.conftest import KEY, RATE_HZ, ModelServer, Pcm, Say, quiet

FRAME = RATE_HZ // 100


@dataclass
class Heard:
    events: list[stt.SpeechEvent] = field(default_factory=list)

    def texts(self, kind: stt.SpeechEventType) -> list[str]:
        return [event.alternatives[0].text for event in self.events if event.type is kind]

    @property
    def finals(self) -> list[str]:
        return self.texts(stt.SpeechEventType.FINAL_TRANSCRIPT)

    @property
    def partials(self) -> list[str]:
        return self.texts(stt.SpeechEventType.INTERIM_TRANSCRIPT)


@asynccontextmanager
async def listening(
    server: ModelServer, **options: Any
) -> AsyncIterator[tuple[stt.SpeechStream, Heard]]:
    """A stream of the plugin as an agent opens it, and what it hears."""
    vad = inference.VAD(model="silero", min_silence_duration=0.2)
    settings: dict[str, Any] = {"model": "gpt-live-transcribe", "vad": vad} | options
    async with utils.http_context.open():
        client = openai.STT(use_realtime=True, base_url=server.url, api_key=KEY, **settings)
        stream = client.stream()
        heard = Heard()

        async def read() -> None:
            async for event in stream:
                heard.events.append(event)

        reader = asyncio.create_task(read())
        try:
            yield stream, heard
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
            await stream.aclose()
            await client.aclose()


async def play(stream: stt.SpeechStream, pcm: Pcm) -> None:
    """Push sound as a microphone does: frames of 10 ms, one every 10 ms."""
    due = time.perf_counter()
    for start in range(0, len(pcm) - FRAME + 1, FRAME):
        stream.push_frame(rtc.AudioFrame(pcm[start : start + FRAME].tobytes(), RATE_HZ, 1, FRAME))
        due += 0.01
        await asyncio.sleep(max(0.0, due - time.perf_counter()))


def assert_partials_only_grow(heard: Heard) -> None:
    """Within an utterance each partial continues the one before."""
    shown = ""
    for event in heard.events:
        if event.type is stt.SpeechEventType.FINAL_TRANSCRIPT:
            shown = ""
        elif event.type is stt.SpeechEventType.INTERIM_TRANSCRIPT:
            text = event.alternatives[0].text
            assert text.startswith(shown), (shown, text)
            shown = text


async def test_a_caller_is_heard_while_speaking_and_right_at_the_end(
    server: ModelServer, say: Say
) -> None:
    said = "We would like to have a room with a view of the garden"
    async with listening(server) as (stream, heard):
        await play(stream, np.concatenate([quiet(0.5), say(said + "."), quiet(1.5)]))
    assert plain(" ".join(heard.finals)) == plain(said)
    assert_partials_only_grow(heard)
    first_final = next(
        index
        for index, event in enumerate(heard.events)
        if event.type is stt.SpeechEventType.FINAL_TRANSCRIPT
    )
    kinds = [event.type for event in heard.events[:first_final]]
    assert kinds.count(stt.SpeechEventType.INTERIM_TRANSCRIPT) >= 2
    # Partials say what the final says, from its beginning.
    assert plain(heard.finals[0]).startswith(plain(heard.partials[0]))


async def test_phrases_with_long_pauses_are_all_heard(server: ModelServer, say: Say) -> None:
    phrases = ["I need a twin room.", "There are two guests.", "We stay for three nights."]
    parts = [part for text in phrases for part in (say(text), quiet(3.0))]
    async with listening(server, keywords=["Harbour View"]) as (stream, heard):
        await play(stream, np.concatenate([quiet(0.5), *parts]))
    assert plain(" ".join(heard.finals)) == plain(" ".join(phrases))
    assert_partials_only_grow(heard)
    ids = {
        event.request_id
        for event in heard.events
        if event.type is stt.SpeechEventType.FINAL_TRANSCRIPT
    }
    assert len(ids) == len(heard.finals)


async def test_several_callers_at_once_are_each_heard(server: ModelServer, say: Say) -> None:
    phrases = ["I need a twin room.", "There are two guests.", "We stay for three nights."]

    async def call(text: str) -> Heard:
        async with listening(server) as (stream, heard):
            await play(stream, np.concatenate([quiet(0.5), say(text), quiet(2.5)]))
        return heard

    for text, heard in zip(phrases, await asyncio.gather(*map(call, phrases)), strict=True):
        assert plain(" ".join(heard.finals)) == plain(text)
        assert_partials_only_grow(heard)


async def test_noise_alone_gives_no_events_of_speech(server: ModelServer) -> None:
    async with listening(server) as (stream, heard):
        await play(stream, np.concatenate([quiet(2.0, level=8), quiet(2.0, level=400)]))
    assert heard.finals == heard.partials == []


async def test_a_model_without_client_commits_gets_server_vad(
    server: ModelServer, say: Say
) -> None:
    async with listening(server, model="whisper-base", vad=None) as (stream, heard):
        await play(stream, np.concatenate([quiet(0.5), say("I need a twin room."), quiet(2.0)]))
    assert plain(" ".join(heard.finals)) == "i need a twin room"
    kinds = [event.type for event in heard.events]
    assert stt.SpeechEventType.START_OF_SPEECH in kinds
    assert stt.SpeechEventType.END_OF_SPEECH in kinds


async def test_the_plugins_speech_is_the_whole_sound(server: ModelServer, say: Say) -> None:
    text = "Good evening, thank you for calling the hotel."
    async with utils.http_context.open():
        for response_format in ("pcm", "wav", "mp3", "opus"):
            voice = openai.TTS(
                model="tts-1",
                voice="joe",
                base_url=server.url,
                api_key=KEY,
                response_format=response_format,
            )
            stream: tts.ChunkedStream = voice.synthesize(text)
            frame = await stream.collect()
            await stream.aclose()
            await voice.aclose()
            assert frame.sample_rate == RATE_HZ
            assert 2.0 < frame.duration < 4.0, response_format
