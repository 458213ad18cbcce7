"""What is noted of one attempt at a reply is not taken for another's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from livekit.agents import Agent, AgentSession, ModelSettings, SpeechCreatedEvent, llm

from agent.timeline.clock import CallClock
from agent.timeline.replies import Replies, Stage


class Noting(Agent):
    """Says one sentence, and notes how far it has got in the framework's own tasks."""

    def __init__(self, replies: Replies) -> None:
        super().__init__(instructions="")
        self._replies = replies

    async def llm_node(
        self, chat_ctx: llm.ChatContext, tools: list[llm.Tool], model_settings: ModelSettings
    ) -> AsyncGenerator[str, None]:
        async def words() -> AsyncGenerator[str, None]:
            yield "Two "
            yield "guests."

        async for word in self._replies.noting(Stage.FIRST_TOKEN, words()):
            await asyncio.sleep(0.005)
            self._replies.reached(Stage.FIRST_SENTENCE)
            yield word


class NeverAsked(llm.LLM):
    """The session wants a model; the agent's own node takes its place."""

    def chat(self, **_: object) -> llm.LLMStream:  # type: ignore[override]
        raise AssertionError


async def test_stages_are_kept_by_the_reply_that_the_framework_is_making() -> None:
    replies = Replies(CallClock())
    created: list[str] = []
    async with AgentSession[None](llm=NeverAsked()) as session:

        def on_speech(event: SpeechCreatedEvent) -> None:
            created.append(event.speech_handle.id)

        session.on("speech_created", on_speech)
        await session.start(Noting(replies))
        for _ in range(2):
            await session.run(user_input="For how many?")
    first, second = (replies.of(speech) for speech in created)
    assert list(first) == list(second) == [Stage.FIRST_TOKEN, Stage.FIRST_SENTENCE]
    assert first[Stage.FIRST_TOKEN] < first[Stage.FIRST_SENTENCE] < second[Stage.FIRST_TOKEN]


def test_outside_of_any_reply_nothing_is_noted() -> None:
    replies = Replies(CallClock())
    replies.reached(Stage.CHECK)
    assert replies.of(None) == {}
