"""Hung or only busy: what an engine's progress says, and what its silence does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from selfhost.engines.llama import LlamaCpp
from selfhost.engines.progress import Heartbeat, Reading
from selfhost.engines.scrape import MissingMetricError, samples, value
from selfhost.engines.vllm import Vllm
from selfhost.plan.flags import LlamaCppFlags, VllmFlags

HUNG_AFTER_S = 60.0
START = Heartbeat(0.0, steps=10.0)

VLLM_PAGE = """\
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 1.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 4.0
# TYPE vllm:iteration_tokens_total histogram
vllm:iteration_tokens_total_bucket{engine="0",le="1.0",model_name="m"} 1.0
vllm:iteration_tokens_total_bucket{engine="0",le="+Inf",model_name="m"} 17.0
vllm:iteration_tokens_total_count{engine="0",model_name="m"} 17.0
vllm:iteration_tokens_total_sum{engine="0",model_name="m"} 900.0
"""
LLAMA_PAGE = """\
# TYPE llamacpp:n_decode_total counter
llamacpp:n_decode_total 9
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 1
# TYPE llamacpp:requests_deferred gauge
llamacpp:requests_deferred 3
"""

VLLM = Vllm(
    Path("/bin/vllm"),
    "m",
    "m",
    "cpu",
    VllmFlags(max_model_len=1, max_num_seqs=1, max_num_batched_tokens=1),
)
LLAMA = LlamaCpp(Path("weights"), "m", Path("folder"), LlamaCppFlags(4, 4096))


def beaten(heartbeat: Heartbeat, *beats: tuple[float, Reading | None, int]) -> Heartbeat:
    for now_s, reading, in_flight in beats:
        heartbeat = heartbeat.after(reading, in_flight, now_s)
    return heartbeat


def test_work_without_a_step_for_too_long_is_hung() -> None:
    seen = beaten(START, *((float(now), Reading(1, 10.0), 1) for now in range(2, 62, 2)))
    assert not seen.is_hung(60.0, HUNG_AFTER_S)
    assert seen.is_hung(60.1, HUNG_AFTER_S)


def test_a_step_now_and_then_is_busy_however_long_it_goes_on() -> None:
    beats = [(float(now), Reading(9, 10.0 + now // 50), 9) for now in range(2, 3600, 2)]
    heartbeat = START
    for beat in beats:
        heartbeat = beaten(heartbeat, beat)
        assert not heartbeat.is_hung(beat[0], HUNG_AFTER_S)


def test_an_engine_with_nothing_to_do_is_not_hung() -> None:
    seen = beaten(START, (500.0, Reading(0, 10.0), 0))
    assert not seen.is_hung(520.0, HUNG_AFTER_S)


def test_requests_that_the_engine_does_not_know_of_are_work_too() -> None:
    # vLLM's server lives on when what computes stops, and its count of requests stays at 0.
    seen = beaten(START, *((float(now), Reading(0, 10.0), 1) for now in range(2, 64, 2)))
    assert seen.is_hung(61.0, HUNG_AFTER_S)


def test_requests_that_only_the_engine_knows_of_are_work_too() -> None:
    seen = beaten(START, *((float(now), Reading(1, 10.0), 0) for now in range(2, 64, 2)))
    assert seen.is_hung(61.0, HUNG_AFTER_S)


def test_silence_is_no_progress_and_one_answer_ends_it() -> None:
    seen = beaten(START, (30.0, None, 1), (59.0, None, 1))
    assert seen.is_hung(61.0, HUNG_AFTER_S)
    assert not beaten(seen, (60.0, Reading(1, 11.0), 1)).is_hung(61.0, HUNG_AFTER_S)


def test_a_counter_that_began_anew_has_moved() -> None:
    seen = beaten(START, (50.0, Reading(1, 2.0), 1))
    assert not seen.is_hung(61.0, HUNG_AFTER_S)


def test_each_engines_own_page_is_read_by_exact_names_over_all_labels() -> None:
    assert VLLM.reading(VLLM_PAGE) == Reading(running=7, steps=17.0)
    assert LLAMA.reading(LLAMA_PAGE) == Reading(running=4, steps=9.0)


@pytest.mark.parametrize(
    ("engine", "page", "name"),
    [
        (VLLM, VLLM_PAGE, "vllm:iteration_tokens_total"),
        (VLLM, VLLM_PAGE, "vllm:num_requests_running"),
        (LLAMA, LLAMA_PAGE, "llamacpp:n_decode_total"),
    ],
)
def test_a_metric_that_was_renamed_is_an_error_and_not_zero(
    engine: Vllm | LlamaCpp, page: str, name: str
) -> None:
    renamed = page.replace(name, f"{name}_renamed")
    with pytest.raises(MissingMetricError, match=name):
        engine.reading(renamed)


def test_a_page_that_is_no_metrics_page_is_an_error() -> None:
    with pytest.raises(MissingMetricError):
        samples("<html>not found</html>")
    with pytest.raises(MissingMetricError):
        value(samples(""), "anything")
