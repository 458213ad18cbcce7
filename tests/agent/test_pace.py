"""A caller does not wait again and again for a model that is late."""

from __future__ import annotations

from agent.pace import REPLIES_WITHOUT, ModelPace


def test_a_model_that_is_in_time_is_waited_for_each_time() -> None:
    pace = ModelPace()
    for _ in range(5):
        assert pace.is_worth_waiting()
        pace.tell(in_time=True)


def test_a_model_that_was_late_is_left_alone_for_some_replies_and_then_tried_again() -> None:
    pace = ModelPace()
    assert pace.is_worth_waiting()
    pace.tell(in_time=False)
    assert [pace.is_worth_waiting() for _ in range(REPLIES_WITHOUT)] == [False] * REPLIES_WITHOUT
    assert pace.is_worth_waiting()


def test_a_model_that_is_in_time_again_is_waited_for_again() -> None:
    pace = ModelPace()
    pace.tell(in_time=False)
    pace.tell(in_time=True)
    assert pace.is_worth_waiting()
