"""Markup, thoughts and acting are taken out of a reply, however it was cut into chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.speech.clean import MAX_SILENT_CHARS, RETRACT, Cleaner, clean

CASES = [
    ("Hello there.", "Hello there."),
    # Thoughts
    ("<think>Hm, what now?</think>Hello.", "Hello."),
    ("<THINK>\nHm.\n</THINK>\n\nHello.", "Hello."),
    ("Well, <thinking>hm</thinking> hello.", "Well, hello."),
    ("The user wants a room.</think>\nHello.", f"The user wants a room.{RETRACT}Hello."),
    ("<think>Never closed. Hello.", ""),
    ('Okay. <tool_call>{"name": "book"}</tool_call> Done.', "Okay. Done."),
    # Tokens and roles
    ("Hello.<|im_end|>\n<|im_start|>user\nHi", "Hello."),
    ("<|im_start|>assistant\nHello.", "Hello."),
    ("<|start_header_id|>assistant<|end_header_id|>\nHello.<|eot_id|>more", "Hello."),
    ("<s>Hello.</s>", "Hello."),
    ("[INST] Hello. [/INST]", "Hello. "),
    ("Assistant: Hello.", "Hello."),
    ("**Assistant:** Hello.", "Hello."),
    ("Receptionist : Hello.", "Hello."),
    ("Hello.\nUser: And I said", "Hello."),
    ("Assistance is here.", "Assistance is here."),
    ("Users may park.", "Users may park."),
    # Markdown
    ("**Double room**: _100_ dollars\n* breakfast", "Double room: 100 dollars\nbreakfast"),
    ("*italic* and ***both*** and __bold__", "italic and both and bold"),
    ("ref_code stays, _so_ do addresses: front_desk@hotel.com", None),
    ("# Heading\n\nText", "Heading\nText"),
    ("- one\n- two\n+ three\n• four", "one\ntwo\nthree\nfour"),
    ("1. First\n2) Second", "First\nSecond"),
    ("- **Name:** Priya", "Name: Priya"),
    ("> quoted", "quoted"),
    ("Above\n---\nBelow", "Above\nBelow"),
    ("| a | b |\n|---|---|\n| 1 | 2 |\nAfter.", "After."),
    ("Say `code` now", "Say code now"),
    ("```python\nx = 1\n```\nDone.", "Done."),
    ("Look: ```x = 1``` done.", "Look: done."),
    ("[click here](http://x.y) now", "click here now"),
    ("Look ![a room](x.png) here", "Look here"),
    ("the ~~16th~~ 18th", "the 18th"),
    ("<b>bold</b> here<br>there", "bold here\nthere"),
    ("a * b", "a b"),
    ("snake_case_word", "snake_case_word"),
    # Acting and pictures
    ("(smiles) Hello. (laughs softly) Bye.", "Hello. Bye."),
    ("*smiles warmly* Hello.", "Hello."),
    ("[pauses] Hello.", "Hello."),
    ("a double (sea view)—and breakfast", "a double (sea view)—and breakfast"),
    ("Thank you, [Guest Name].", "Thank you, [Guest Name]."),
    ("Great 😊! Sure 👍🏽 thing", "Great! Sure thing"),
    ("Fine :) then :smile: ok ;-)", "Fine then ok"),
    # What only looks like a mark
    ("It is 5 < 6 and 3:30.", "It is 5 < 6 and 3:30."),
    ("At 10 a.m. or 7:30; yes!", "At 10 a.m. or 7:30; yes!"),
    ("2 guests", "2 guests"),
    ("20°", "20°"),
    # Cut off
    ("Hello (", "Hello ("),
    ("Hello <thi", "Hello"),
    ("**Hel", "Hel"),
    ("-", ""),
    ("", ""),
]


def cleaned(*chunks: str, thinking: bool = False) -> str:
    cleaner = Cleaner(thinking=thinking)
    return "".join([*(cleaner.feed(chunk) for chunk in chunks), cleaner.finish()])


@pytest.mark.parametrize(("text", "speech"), CASES)
def test_only_speech_is_left(text: str, speech: str | None) -> None:
    expected = "ref_code stays, so do addresses: front_desk@hotel.com" if speech is None else speech
    assert cleaned(text) == expected


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_where_the_text_was_cut_makes_no_difference(text: str) -> None:
    whole = cleaned(text)
    assert all(cleaned(text[:cut], text[cut:]) == whole for cut in range(len(text) + 1))
    assert cleaned(*text) == whole


@given(st.text(alphabet="ab1 .:()[]<>/*_`~|#-!\n\"'|thinkuser", max_size=60), st.data())
def test_no_text_depends_on_how_it_was_cut(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    assert cleaned(text[:cut], text[cut:]) == cleaned(text)


def test_a_thought_that_the_template_opened_is_not_spoken() -> None:
    assert cleaned("The user wants", " a room.</thi", "nk>Hello.", thinking=True) == "Hello."
    assert cleaned("No end to it", thinking=True) == ""


def test_a_thought_without_end_is_given_up() -> None:
    cleaner = Cleaner()
    cleaner.feed("<think>" + "hm " * MAX_SILENT_CHARS)
    assert cleaner.done


def test_speech_is_not_held_back() -> None:
    cleaner = Cleaner()
    assert cleaner.feed("Great, Oct") == "Great, Oct"
    assert cleaner.feed("ober 18th") == "ober 18th"


async def test_a_stream_is_cleaned_as_it_comes_and_ends_at_the_last_token() -> None:
    async def chunks() -> object:
        for chunk in ("<thi", "nk>x</th", "ink>Hel", "lo *the", "re*.", "<|im_end|>", "more"):
            yield chunk

    assert "".join([text async for text in clean(chunks())]) == "Hello there."  # type: ignore[arg-type]
