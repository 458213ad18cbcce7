from __future__ import annotations

import pytest

from selfhost.load.ears import Span
from selfhost.load.patience import LISTENING, Heard, Move, Patience, answer_onset_s, next_move

PATIENCE = Patience(answer_s=10, quiet_s=0.7, stuck_s=5, monologue_s=60, carried_on_s=1.0)
SINCE_S = 100.0  # when the caller fell silent


def heard(
    *spans: Span, audible: bool = False, state: str | None = LISTENING, pending: bool = False
) -> Heard:
    return Heard(spans, audible, state, pending)


ANSWER = Span(101.0, 103.0)


@pytest.mark.parametrize(
    ("now_s", "what", "move"),
    [
        pytest.param(109.9, heard(), Move.WAIT, id="no answer yet"),
        pytest.param(110.0, heard(), Move.GIVE_UP, id="no answer in time"),
        pytest.param(110.0, heard(Span(97.0, 99.0)), Move.GIVE_UP, id="an older answer is none"),
        pytest.param(103.0, heard(ANSWER, audible=True), Move.WAIT, id="the agent is speaking"),
        pytest.param(103.6, heard(ANSWER), Move.WAIT, id="it may only take breath"),
        pytest.param(103.7, heard(ANSWER), Move.SPEAK, id="it has finished"),
        pytest.param(103.7, heard(ANSWER, state=None), Move.SPEAK, id="it tells no state"),
        pytest.param(107.9, heard(ANSWER, state="speaking"), Move.WAIT, id="it has more to say"),
        pytest.param(108.0, heard(ANSWER, state="speaking"), Move.SPEAK, id="or is stuck"),
        pytest.param(103.7, heard(ANSWER, pending=True), Move.WAIT, id="a reply is on its way"),
        pytest.param(
            162.0, heard(Span(101.0, 162.0), audible=True), Move.SPEAK, id="it never ends"
        ),
    ],
)
def test_a_caller_speaks_when_the_agent_has_finished(now_s: float, what: Heard, move: Move) -> None:
    assert next_move(now_s, SINCE_S, what, PATIENCE) is move


def test_an_agent_that_yields_still_owes_an_answer() -> None:
    assert answer_onset_s(heard(Span(98.0, 100.4)), SINCE_S, PATIENCE) is None


def test_an_agent_that_carries_on_owes_none() -> None:
    assert answer_onset_s(heard(Span(98.0, 104.0)), SINCE_S, PATIENCE) == 98.0


@pytest.mark.parametrize(
    ("now_s", "what", "move"),
    [
        pytest.param(100.5, heard(Span(97.0, 99.9)), Move.WAIT, id="it may go on"),
        pytest.param(100.7, heard(Span(97.0, 99.9)), Move.SPEAK, id="it has finished"),
        pytest.param(103.0, heard(Span(97.0, 103.0), audible=True), Move.WAIT, id="it goes on"),
        pytest.param(103.7, heard(Span(97.0, 103.0)), Move.SPEAK, id="it went on and finished"),
    ],
)
def test_a_murmur_asks_for_no_answer(now_s: float, what: Heard, move: Move) -> None:
    assert next_move(now_s, SINCE_S, what, PATIENCE, answered=False) is move
