"""A stream of text is cut into sentences, each given out as soon as it is complete."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.speech.clean import RETRACT
from agent.speech.sentences import MAX_SENTENCE_CHARS, SentenceSplitter, is_cut_off, sentences

CASES = [
    ["Dr. Smith is here.", "He arrives at 3.30 p.m. today.", "Is that right?"],
    ["Check-in is from 3 p.m.", "Breakfast is at 7 a.m. each day."],
    ["It opens at 7 a.m. Monday to Friday.", "Sure."],
    ["That is $1,250.00.", "Fine."],
    ["Room No. 12 is, e.g. a double.", "Mr. Jones vs. St. Mary."],
    ["No.", "We do not."],
    ["Wait... what?", "Really?!", "Yes."],
    ["Hm...", "Let me see."],
    ['He said "yes."', "Then he left."],
    ["Your reference ends in Q.", "Is that right?"],
    ["J. R. Smith.", "Okay."],
    ["On Oct. 16.", "Is that right?"],
    ["We open at 7.30.", "Then we close."],
    ["Write to stay@hotel.com.", "Or see www.hotel.com."],
    ["1. The double.", "2. The twin."],
    ["Yes.", "Sure.", "Great!"],
    ["We are at 5 St. James St.", "The hotel is open."],
    ["No full stop"],
]


def split(*chunks: str, limit: int = 99) -> list[str]:
    splitter = SentenceSplitter(limit=limit)
    found = [sentence for chunk in chunks for sentence in splitter.feed(chunk)]
    return found + splitter.finish()


@pytest.mark.parametrize("expected", CASES)
def test_sentences_end_where_a_reader_ends_them(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize("expected", CASES)
def test_where_the_text_was_cut_makes_no_difference(expected: list[str]) -> None:
    text = " ".join(expected)
    assert all(split(text[:cut], text[cut:]) == expected for cut in range(len(text) + 1))
    assert split(*text) == expected


@given(st.text(alphabet="abA1 .!?…\"')\n", max_size=60), st.data())
def test_no_text_depends_on_how_it_was_cut(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    assert split(text[:cut], text[cut:]) == split(text)
    assert "".join(split(text)).replace(" ", "").replace("\n", "") == "".join(text.split())


def test_a_missing_space_still_parts_sentences() -> None:
    assert split("Thanks!Which room?") == ["Thanks!", "Which room?"]
    assert split("Thanks.Which room?") == ["Thanks.", "Which room?"]


def test_lines_are_sentences() -> None:
    assert split("One line\nAnother line\n\nA third") == ["One line", "Another line", "A third"]


def test_a_sentence_is_given_out_as_soon_as_it_is_complete() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("Great, two guests.") == []  # "2." may still become "2.5"
    assert splitter.feed(" ") == ["Great, two guests."]


def test_no_more_than_the_limit_is_given_out() -> None:
    assert split("One. Two. Three. Four. Five", limit=3) == ["One.", "Two.", "Three."]


def test_a_run_without_end_is_let_go() -> None:
    splitter = SentenceSplitter()
    (sentence,) = splitter.feed("Friday " * (MAX_SENTENCE_CHARS // 7 + 2))
    assert len(sentence) <= MAX_SENTENCE_CHARS


def test_what_turns_out_to_be_a_thought_is_dropped() -> None:
    assert split("The user wants a ro", f"om{RETRACT}Hello.") == ["Hello."]


@pytest.mark.parametrize(
    ("tail", "cut"),
    [
        ("How many guests will", True),
        ("Your check-in is on the", True),
        ("Great,", True),
        ("A double room (with", True),
        ("Sure", False),
        ("How many guests?", False),
        ("Two nights for two guests", False),
    ],
)
def test_a_sentence_that_stops_in_its_middle_is_known(tail: str, cut: bool) -> None:
    assert is_cut_off(tail) is cut


async def test_a_stream_ends_at_the_limit() -> None:
    taken = 0

    async def chunks() -> object:
        nonlocal taken
        for word in ("One. ", "Two. ", "Three. ", "Four. "):
            taken += 1
            yield word

    assert [s async for s in sentences(chunks(), limit=2)] == ["One.", "Two."]  # type: ignore[arg-type]
    assert taken == 2
