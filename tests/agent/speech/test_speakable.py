"""Written text becomes words that a voice can read, and stays as it is when it already is."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.speech.mentions import AmountMention, CodeMention, DateMention, TimeMention
from agent.speech.reading import mentions
from agent.speech.speakable import speakable
from agent.speech.words import vocabulary
from tests.agent.speech.situations import MAY_BE_SAID, MUST_NOT_BE_SAID

TABLE = yaml.safe_load((Path(__file__).parent / "speakable.yaml").read_text(encoding="utf-8"))
CASES = [(kind, *case) for kind, cases in TABLE.items() for case in cases]
SENTENCES = [case[-1] for case in (*MAY_BE_SAID, *MUST_NOT_BE_SAID)]

# The pieces that model text is made of, so that generated text has dates, prices and marks in it.
PIECES = st.sampled_from(
    sorted(
        vocabulary("a room and to no. No. e.g. i.e. etc. p.m. am x_y October Oct. a@b.com K74Q29")
        | vocabulary(
            "18 18th 4 7 12 0 2026 1/2 ½ 10/18 2025-10-18 3:30 PM 15:00 $1,250.00 £5 +44 20"
        )
        | vocabulary("( ) — – - / & % … ... . , : ; ! ? ' \" * _ #")
    )
)


@pytest.mark.parametrize(("kind", "written", "spoken"), CASES, ids=[case[1] for case in CASES])
def test_is_spoken_as_the_table_says(kind: str, written: str, spoken: str) -> None:
    assert speakable(written, day_first=kind == "day_first") == spoken


@pytest.mark.parametrize("sentence", [*SENTENCES, *(case[1] for case in CASES)])
def test_speakable_text_is_left_alone(sentence: str) -> None:
    once = speakable(sentence)
    assert speakable(once) == once


@given(st.lists(st.tuples(PIECES, st.sampled_from(("", " "))), max_size=12))
def test_whatever_a_model_writes_becomes_words_once_and_for_all(
    pieces: list[tuple[str, str]],
) -> None:
    spoken = speakable("".join(piece + gap for piece, gap in pieces))
    assert not re.search(r"[\d*_#$£€&%/(){}\[\]<>|~`—–…]", spoken)
    assert speakable(spoken) == spoken


@given(st.text(max_size=80))
def test_any_text_at_all_becomes_speakable_text(text: str) -> None:
    spoken = speakable(text)
    assert speakable(spoken) == spoken
    assert not re.search(r"[0-9]", spoken)


WORDS = st.sampled_from(["double", "sea", "view", "and", "breakfast", "a", "with", "twin", "cot"])


@given(st.lists(WORDS, min_size=1, max_size=6), st.data())
def test_no_word_is_lost_at_punctuation(words: list[str], data: st.DataObject) -> None:
    joints = st.sampled_from((" ", ", ", " (", ") ", "—", ")—", ") - ", " – ", "… ", ": ", "; "))
    text = words[0] + "".join(data.draw(joints) + word for word in words[1:])
    assert re.findall(r"[a-z]+", speakable(text)) == words


@given(st.dates(min_value=date(2011, 1, 1), max_value=date(2099, 12, 31)), st.booleans())
def test_a_date_reads_back_as_the_same_date(day: date, day_first: bool) -> None:
    numeric = f"{day:%d/%m/%Y}" if day_first else f"{day:%m/%d/%Y}"
    for written in (day.isoformat(), numeric, f"{day:%A, %B} {day.day}, {day.year}"):
        spoken = speakable(written, day_first=day_first)
        (mention,) = mentions(spoken)
        assert isinstance(mention, DateMention)
        assert (mention.year, mention.month, mention.day) == (day.year, day.month, day.day)
        assert mention.weekday in (None, day.weekday())


@given(st.from_regex(r"[A-HJ-Z0-9]{6}", fullmatch=True).filter(lambda code: not code.isalpha()))
def test_a_reference_reads_back_as_the_same_reference(code: str) -> None:
    if code.isdigit():
        code = f"K{code[1:]}"
    assert [
        mention.code for mention in mentions(speakable(code)) if isinstance(mention, CodeMention)
    ] == [code]


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_reads_back_as_the_same_time(hour: int, minute: int) -> None:
    (mention,) = mentions(
        speakable(f"at {hour % 12 or 12}:{minute:02d} {'pm' if hour >= 12 else 'am'}")
    )
    assert isinstance(mention, TimeMention)
    assert (mention.hour, mention.minute, mention.half) == (
        hour % 12,
        minute,
        "p" if hour >= 12 else "a",
    )


@given(st.integers(1, 99_999))
def test_an_amount_reads_back_as_the_same_amount(dollars: int) -> None:
    (mention,) = mentions(speakable(f"${dollars:,}"))
    assert isinstance(mention, AmountMention)
    assert (mention.number, mention.unit) == (str(dollars), "dollar")
