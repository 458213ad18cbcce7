"""A caller who says nothing is asked twice, and then the call is ended."""

from __future__ import annotations

import math

import pytest

from agent.turns.silence import (
    AFTER_GOODBYE_S,
    UNCLEAR_TURNS,
    WORDS_AFTER_S,
    Patience,
    Step,
    next_step,
)

PATIENCE = Patience(prompt_s=10.0, prompts=2)


@pytest.mark.parametrize(
    ("silent_s", "prompts", "unclear_turns", "farewell", "step"),
    [
        (9.9, 0, 0, False, Step.WAIT),
        (10.0, 0, 0, False, Step.PROMPT),
        (9.9, 1, 0, False, Step.WAIT),
        (10.0, 1, 0, False, Step.PROMPT),
        (9.9, 2, 0, False, Step.WAIT),
        (10.0, 2, 0, False, Step.GIVE_UP),
        (0.1, 0, UNCLEAR_TURNS - 1, False, Step.WAIT),
        (0.1, 0, UNCLEAR_TURNS, False, Step.GIVE_UP),
        (AFTER_GOODBYE_S - 0.1, 0, 0, True, Step.WAIT),
        (AFTER_GOODBYE_S, 0, 0, True, Step.HANG_UP),
    ],
)
def test_what_is_done_about_a_silence(
    silent_s: float, prompts: int, unclear_turns: int, farewell: bool, step: Step
) -> None:
    assert (
        next_step(
            silent_s,
            soundless_s=math.inf,
            prompts=prompts,
            unclear_turns=unclear_turns,
            farewell=farewell,
            patience=PATIENCE,
        )
        is step
    )


def test_a_sound_earns_the_time_for_its_words_and_noise_no_more() -> None:
    def step(silent_s: float, soundless_s: float) -> Step:
        return next_step(
            silent_s,
            soundless_s=soundless_s,
            prompts=0,
            unclear_turns=0,
            farewell=False,
            patience=PATIENCE,
        )

    assert step(15.0, 1.0) is Step.WAIT
    assert step(15.0, WORDS_AFTER_S) is Step.PROMPT
    assert step(20.0, 0.0) is Step.PROMPT
