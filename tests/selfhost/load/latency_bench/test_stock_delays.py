"""The framework's own measurements, read out of the stock worker's log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selfhost.load.latency_bench.stock_delays import DELAYS, stages


def line(role: str, **metrics: float) -> str:
    entry: dict[str, Any] = {"message": DELAYS, "level": "INFO", "role": role, "metrics": metrics}
    return json.dumps(entry)


REPLY = {"llm_node_ttft": 0.4, "llm_node_ttfs": 0.9, "tts_node_ttfb": 0.7}


def test_delays_are_told_by_the_waterfalls_names() -> None:
    log = "\n".join(
        [
            line("user", transcription_delay=0.8, end_of_turn_delay=1.1),
            "2026-11-30 not JSON",
            json.dumps({"message": "registered worker", "role": "user"}),
            line("assistant", **REPLY),
        ]
    )
    turn, reply = stages(log)
    assert turn == {"final_transcript": 800.0, "end_of_turn": pytest.approx(300)}
    assert reply == {
        "first_token": 400.0,
        "first_sentence": pytest.approx(500),
        "first_audio": pytest.approx(200),
    }


def test_the_greeting_answers_nothing_and_is_left_out() -> None:
    assert stages(line("assistant", **REPLY)) == []


def test_what_was_not_measured_is_not_there() -> None:
    (reply,) = stages(
        line("user", end_of_turn_delay=1.0) + "\n" + line("assistant", llm_node_ttft=1)
    )
    assert reply == {"first_token": 1000.0}
