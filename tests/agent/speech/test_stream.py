"""A reply is spoken sentence by sentence; what may not be said is replaced and ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import pytest

from agent.speech.finding import Finding, Reason
from agent.speech.stream import checked
from tests.agent.speech.situations import GROUNDS, MAY_BE_SAID, MUST_NOT_BE_SAID

INSTEAD = "The front desk will confirm it."


@dataclass
class Reply:
    """A reply spoken through `checked`, and what came of it."""

    instead: str = INSTEAD
    replaced: list[tuple[Finding, str]] = field(default_factory=list)
    chunks_read: int = 0

    async def spoken(
        self,
        text: str | Iterable[str],
        situation: str = "nothing",
        *,
        max_sentences: int = 3,
        thinking: bool = False,
    ) -> list[str]:
        async def chunks() -> AsyncIterator[str]:
            for chunk in text:
                self.chunks_read += 1
                yield chunk

        return [
            sentence
            async for sentence in checked(
                chunks(),
                GROUNDS[situation],
                max_sentences=max_sentences,
                on_replaced=lambda finding, spoken: self.replaced.append((finding, spoken)),
                replacement=lambda finding: self.instead,
                thinking=thinking,
            )
        ]


async def test_an_honest_reply_is_spoken_whole() -> None:
    reply = Reply()
    text = "Great! Check-in is from 3 p.m. How many guests will be staying?"
    assert await reply.spoken(text) == [
        "Great!",
        "Check-in is from three p.m.",
        "How many guests will be staying?",
    ]
    assert reply.replaced == []


async def test_a_false_sentence_is_replaced_and_ends_the_reply() -> None:
    reply = Reply()
    text = "Great! Your booking is confirmed. How many guests will be staying?"
    assert await reply.spoken(text) == ["Great!", INSTEAD]
    ((finding, spoken),) = reply.replaced
    assert finding.reason is Reason.FALSE_CLAIM
    assert finding.sentence == "Your booking is confirmed."
    assert spoken == INSTEAD


async def test_without_a_replacement_the_sentence_is_dropped_and_the_reply_goes_on() -> None:
    reply = Reply(instead="")
    text = "Your booking is confirmed. How many guests will be staying?"
    assert await reply.spoken(text) == ["How many guests will be staying?"]
    assert [spoken for _, spoken in reply.replaced] == [""]


async def test_a_replacement_that_was_just_said_is_not_said_again() -> None:
    reply = Reply(instead="How many guests will be staying?")
    text = "How many guests will be staying? Your booking is confirmed."
    assert await reply.spoken(text) == ["How many guests will be staying?"]
    assert [spoken for _, spoken in reply.replaced] == [""]


async def test_at_most_three_sentences_are_spoken_and_no_more_is_read() -> None:
    reply = Reply()
    text = ["Sure. ", "Great. ", "Okay. ", "Thanks. ", "Hello. "]
    assert await reply.spoken(text) == ["Sure.", "Great.", "Okay."]
    assert reply.chunks_read == 3


async def test_the_first_sentence_is_spoken_before_the_second_is_written() -> None:
    written: list[str] = []

    async def chunks() -> AsyncIterator[str]:
        for chunk in ("Sure", ". ", "How many", " guests", "?"):
            written.append(chunk)
            yield chunk

    stream = checked(
        chunks(),
        GROUNDS["nothing"],
        max_sentences=3,
        on_replaced=lambda finding, spoken: None,
        replacement=lambda finding: "",
    )
    assert await anext(stream) == "Sure."
    assert written == ["Sure", ". "]
    await stream.aclose()


async def test_thoughts_and_markup_are_never_spoken() -> None:
    reply = Reply()
    text = "<think>The user…</think>**Sure!** 😊\n- How many *guests* will be staying?"
    assert await reply.spoken(text) == ["Sure!", "How many guests will be staying?"]
    assert await reply.spoken("I should ask. </think>Sure!", thinking=True) == ["Sure!"]


async def test_a_thought_that_leaks_is_replaced() -> None:
    reply = Reply()
    assert await reply.spoken("Okay, the user wants a room. I should ask when.") == [INSTEAD]
    assert reply.replaced[0][0].reason is Reason.LEAKED_INSTRUCTIONS


@pytest.mark.parametrize("text", ["", "   ", "<think>for ever", "<|im_end|>", "😊", "```x```"])
async def test_nothing_is_spoken_when_nothing_was_said(text: str) -> None:
    assert await Reply().spoken(text) == []


async def test_a_sentence_that_was_cut_off_is_not_spoken() -> None:
    assert await Reply().spoken("Sure. How many guests will") == ["Sure."]


async def test_a_last_sentence_without_a_full_stop_gets_one() -> None:
    assert await Reply().spoken("Sure, one moment") == ["Sure, one moment."]


async def test_a_loop_is_heard_at_most_once() -> None:
    assert await Reply(instead="").spoken("Sure. Sure. Sure. Sure. Sure.") == ["Sure."]


@pytest.mark.parametrize(("situation", "sentence"), MAY_BE_SAID)
async def test_what_may_be_said_is_said(situation: str, sentence: str) -> None:
    reply = Reply()
    assert await reply.spoken(sentence, situation)
    assert reply.replaced == []


@pytest.mark.parametrize(("situation", "sentence"), [(s, text) for s, _, text in MUST_NOT_BE_SAID])
async def test_what_must_not_be_said_is_not_heard(situation: str, sentence: str) -> None:
    reply = Reply(instead="")
    spoken = await reply.spoken(sentence, situation)
    # Markup is taken off before the check, and may have been all that was wrong.
    if spoken:
        assert any(mark in sentence for mark in '{["<1_')
