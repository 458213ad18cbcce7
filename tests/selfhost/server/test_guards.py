from __future__ import annotations

from collections.abc import Sequence

import pytest

from selfhost.server.transcription.guards import collapse_repeats, plain, reason_to_withhold


def verdict(
    text: str,
    *,
    avg_logprob: float = -0.2,
    no_speech_prob: float = 0.05,
    voiced_ms: float = 1200.0,
    keywords: Sequence[str] = (),
    prompt: str = "",
) -> str | None:
    """What the guards say of a text that was spoken clearly, but for what is given."""
    return reason_to_withhold(
        text,
        avg_logprob=avg_logprob,
        no_speech_prob=no_speech_prob,
        voiced_ms=voiced_ms,
        keywords=keywords,
        prompt=prompt,
    )


@pytest.mark.parametrize(
    "text",
    ["A twin room.", "Thank you.", "You.", "Bye.", "Okay.", "No, no.", "October 16th, not 18th."],
)
def test_clear_speech_passes(text: str) -> None:
    assert verdict(text) is None


@pytest.mark.parametrize(
    "text",
    ["Thank you for watching!", "Thanks for watching.", "Subtitles by the Amara.org community"],
)
def test_subtitle_phrases_are_withheld_however_sure_the_model_is(text: str) -> None:
    assert verdict(text) == "invented phrase"


def test_a_subtitle_phrase_inside_a_sentence_passes() -> None:
    assert verdict("Thank you for watching our luggage.") is None


def test_polite_words_need_clear_speech() -> None:
    assert verdict("Thank you.", avg_logprob=-0.9) == "invented phrase"
    assert verdict("Thank you.", voiced_ms=128) == "invented phrase"


@pytest.mark.parametrize("text", ["", " . ", "[Music]", "(applause)", "♪♪", "♪ la la ♪"])
def test_marked_sounds_are_no_words(text: str) -> None:
    assert verdict(text) == "empty"


def test_words_without_a_voice_are_withheld() -> None:
    assert verdict("A twin room.", voiced_ms=32) == "no voice"


def test_silence_by_the_models_own_account_needs_both_scores() -> None:
    assert verdict("So.", no_speech_prob=0.8, avg_logprob=-1.2) == "no speech"
    assert verdict("Room 9.", no_speech_prob=0.8, avg_logprob=-0.4) is None
    assert verdict("Room 9.", no_speech_prob=0.1, avg_logprob=-1.2) is None


def test_keywords_that_come_back_as_they_went_in_are_an_echo() -> None:
    keywords = ["Harbour View", "Priya Sharma"]
    text = "Harbour View, Priya Sharma"
    assert verdict(text, keywords=keywords) == "echoed keywords"
    assert verdict("Priya Sharma", keywords=keywords) is None


def test_a_prompt_that_comes_back_on_doubtful_sound_is_an_echo() -> None:
    prompt = "I would like the suite with a sea view, please."
    text = "The suite with a sea view, please."
    assert verdict(text, prompt=prompt) is None
    assert verdict(text, prompt=prompt, avg_logprob=-0.9) == "echoed prompt"
    assert verdict("The suite for two.", prompt=prompt, avg_logprob=-0.9) is None


def test_a_loop_becomes_one_phrase() -> None:
    loop = "I'd like to book. " * 8
    assert collapse_repeats(loop, voiced_ms=1000) == "I'd like to book."
    assert collapse_repeats("Friday " * 8, voiced_ms=6000) == "Friday"


@pytest.mark.parametrize(
    "text", ["No, no.", "7 7 7 7 4 4 4 4.", "Bye bye.", "very very nice", "two two two"]
)
def test_repeats_that_fit_into_the_time_stay(text: str) -> None:
    assert collapse_repeats(text, voiced_ms=1200) == text


def test_a_repeat_that_nobody_could_say_so_fast_goes() -> None:
    assert collapse_repeats("Yes, please. Yes, please.", voiced_ms=500) == "Yes, please."
    assert collapse_repeats("Yes. Yes.", voiced_ms=420) == "Yes."


def test_repeating_oneself_at_the_pace_of_speech_is_no_loop() -> None:
    text = "This is message one, good evening, a twin room. " * 3
    assert verdict(text, voiced_ms=10_000) is None
    assert verdict(text * 4, voiced_ms=10_000) == "repetition"


def test_plain_compares_by_words() -> None:
    assert plain("No — the 18th, NOT the sixteenth!") == plain("no the 18th not the sixteenth")
