from __future__ import annotations

from typing import Any

import pytest

from selfhost.server.transcription.guards import collapse_repeats, plain, reason_to_withhold

CLEAR: dict[str, Any] = {"avg_logprob": -0.2, "no_speech_prob": 0.05, "voiced_ms": 1200.0}


@pytest.mark.parametrize(
    "text", ["A twin room.", "Thank you.", "You.", "Bye.", "No, no.", "October 16th, not 18th."]
)
def test_clear_speech_passes(text: str) -> None:
    assert reason_to_withhold(text, **CLEAR) is None


@pytest.mark.parametrize(
    "text",
    ["Thank you for watching!", "Thanks for watching.", "Subtitles by the Amara.org community"],
)
def test_subtitle_phrases_are_withheld_however_sure_the_model_is(text: str) -> None:
    assert reason_to_withhold(text, **CLEAR) == "invented phrase"


def test_a_subtitle_phrase_inside_a_sentence_passes() -> None:
    assert reason_to_withhold("Thank you for watching our luggage.", **CLEAR) is None


@pytest.mark.parametrize("doubt", [{"avg_logprob": -0.9}, {"voiced_ms": 128.0}])
def test_polite_words_need_clear_speech(doubt: dict[str, float]) -> None:
    assert reason_to_withhold("Thank you.", **(CLEAR | doubt)) == "invented phrase"


@pytest.mark.parametrize("text", ["", " . ", "[Music]", "(applause)", "♪♪", "♪ la la ♪"])
def test_marked_sounds_are_no_words(text: str) -> None:
    assert reason_to_withhold(text, **CLEAR) == "empty"


def test_words_without_a_voice_are_withheld() -> None:
    assert reason_to_withhold("A twin room.", **(CLEAR | {"voiced_ms": 32.0})) == "no voice"


def test_silence_by_the_models_own_account_needs_both_scores() -> None:
    scores = {"voiced_ms": 1200.0, "no_speech_prob": 0.8}
    assert reason_to_withhold("So.", avg_logprob=-1.2, **scores) == "no speech"
    assert reason_to_withhold("Room 9.", avg_logprob=-0.4, **scores) is None


def test_keywords_that_come_back_as_they_went_in_are_an_echo() -> None:
    keywords = ["Harbour View", "Priya Sharma"]
    text = "Harbour View, Priya Sharma"
    assert reason_to_withhold(text, **CLEAR, keywords=keywords) == "echoed keywords"
    assert reason_to_withhold("Priya Sharma", **CLEAR, keywords=keywords) is None


def test_a_prompt_that_comes_back_on_doubtful_sound_is_an_echo() -> None:
    prompt = "I would like the suite with a sea view, please."
    text = "The suite with a sea view, please."
    assert reason_to_withhold(text, **CLEAR, prompt=prompt) is None
    doubtful = CLEAR | {"avg_logprob": -0.9}
    assert reason_to_withhold(text, **doubtful, prompt=prompt) == "echoed prompt"
    assert reason_to_withhold("The suite for two.", **doubtful, prompt=prompt) is None


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
    pace = {"avg_logprob": -0.1, "no_speech_prob": 0.05}
    assert reason_to_withhold(text, voiced_ms=10_000, **pace) is None
    assert reason_to_withhold(text * 4, voiced_ms=10_000, **pace) == "repetition"


def test_plain_compares_by_words() -> None:
    assert plain("No — the 18th, NOT the sixteenth!") == plain("no the 18th not the sixteenth")
