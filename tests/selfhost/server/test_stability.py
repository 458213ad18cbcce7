from __future__ import annotations

import itertools

import pytest

from selfhost.server.transcription.stability import StableText


def told(hypotheses: list[str]) -> list[str]:
    """What a client has on its screen after each decode."""
    stable, shown, screens = StableText(), "", []
    for hypothesis in hypotheses:
        stable, delta = stable.advance(hypothesis)
        shown += delta
        screens.append(shown)
    return screens


def test_a_word_waits_for_a_second_decode_and_a_following_word() -> None:
    assert told(["I'd", "I'd like", "I'd like to"]) == ["", "I'd", "I'd like"]


@pytest.mark.parametrize(("avg_logprob", "shown"), [(-0.5, "I'd"), (-0.9, "")])
def test_a_first_word_is_told_at_once_where_the_decode_is_sure(
    avg_logprob: float, shown: str
) -> None:
    _, delta = StableText().advance("I'd like to", avg_logprob)
    assert delta == shown


def test_only_the_first_word_is_told_at_once() -> None:
    stable, _ = StableText().advance("I'd like", -0.1)
    assert stable.advance("I'd look for a", -0.1)[1] == ""


def test_a_last_word_that_stays_is_told() -> None:
    assert told(["Hello.", "Hello", "Hello?"]) == ["", "", "Hello"]


def test_words_already_told_never_change() -> None:
    screens = told(
        [
            "Know the",
            "Know the eight",
            "No, the 18th",
            "No, the 18th, not",
            "Know the 18th, not the",
            "Know the 18th, not the 16th",
        ]
    )
    for earlier, later in itertools.pairwise(screens):
        assert later.startswith(earlier)


def test_punctuation_is_told_with_the_word_that_follows() -> None:
    screens = told(["Hello.", "Hello. I", "Hello, I need", "Hello, I need a"])
    assert screens[-1] == "Hello, I need"
    assert all(not screen.endswith((",", ".")) for screen in screens)


def test_a_hypothesis_that_contradicts_what_was_told_adds_nothing() -> None:
    stable = StableText(emitted=("October",), previous=("October", "16"))
    _, delta = stable.advance("Oktober fest is")
    assert delta == ""


@pytest.mark.parametrize(
    ("final", "rest"),
    [("I'd like a room.", " a room"), ("I'd like.", ""), ("We'd like a room.", "")],
)
def test_the_final_adds_only_what_continues_the_partials(final: str, rest: str) -> None:
    _, delta = StableText(emitted=("I'd", "like")).finish(final)
    assert delta == rest


def test_an_empty_decode_is_harmless() -> None:
    stable, delta = StableText(emitted=("Yes",), previous=("Yes", "please")).advance("")
    assert delta == ""
    assert stable.emitted == ("Yes",)


def test_only_a_long_text_spares_the_next_decode_its_beginning() -> None:
    words = ("we", "would", "like", "to", "book", "a", "double", "room", "for", "two", "guests")
    assert StableText(emitted=words[:9]).prefix == ""
    assert StableText(emitted=words).prefix == "we would like to book a double"
