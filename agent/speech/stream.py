"""From a language model's stream of text to sentences that may be spoken."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import aclosing
from dataclasses import replace

from agent.speech.check import check
from agent.speech.clean import clean
from agent.speech.finding import Finding
from agent.speech.grounds import Grounds
from agent.speech.leaks import repeated
from agent.speech.sentences import is_cut_off, sentences
from agent.speech.speakable import speakable


async def checked(
    chunks: AsyncIterable[str],
    grounds: Grounds,
    *,
    max_sentences: int,
    on_sentence: Callable[[], None] = lambda: None,
    on_replaced: Callable[[Finding, str], None],
    replacement: Callable[[Finding], str],
    thinking: bool = False,
) -> AsyncGenerator[str, None]:
    """Speak a reply sentence by sentence, each checked before it is given out.

    A sentence that fails is replaced, and the reply ends there, since what the model goes on to say
    may depend on what was not spoken. Where the replacement is empty, the sentence is dropped and
    the reply goes on.

    Args:
        chunks: the model's text as it streams.
        grounds: what may be said.
        max_sentences: how many sentences are spoken at most, a replacement included.
        on_sentence: told of each whole sentence before it is checked.
        on_replaced: told of each sentence that failed, with what is spoken in its place ("" when
            nothing is).
        replacement: makes what is to be spoken instead, made by code and trusted; "" for nothing.
        thinking: the chat template opens a thought, so speech begins behind `</think>`.

    Yields:
        Sentences as they are to be spoken, never empty. None at all when the model said nothing
        that may be spoken; then the caller of this has to.
    """
    spoken: list[str] = list(grounds.said)
    count = 0
    # A dropped sentence does not count, so more are read than are spoken, within reason.
    async with (
        aclosing(clean(chunks, thinking=thinking)) as text,
        aclosing(sentences(text, limit=2 * max_sentences)) as split,
    ):
        async for sentence in split:
            if is_cut_off(sentence):
                continue
            on_sentence()
            finding = check(sentence, replace(grounds, said=tuple(spoken)))
            if finding is None:
                said = _finished(speakable(sentence, day_first=grounds.day_first))
                spoken.append(said)
                count += 1
                yield said
                if count >= max_sentences:
                    return
                continue
            instead = speakable(replacement(finding), day_first=grounds.day_first)
            already_said = bool(instead) and repeated(instead, spoken) == instead
            on_replaced(finding, "" if already_said else instead)
            if instead and not already_said:
                yield instead
            if instead:
                return


def _finished(sentence: str) -> str:
    """A voice drops its pitch at a full stop, which a model may leave out at the end."""
    return sentence if sentence[-1:] in ".!?…:" else f"{sentence}."
