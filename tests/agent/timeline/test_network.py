"""The network's share of a gap, from WebRTC's own figures."""

from __future__ import annotations

from livekit.rtc._proto import stats_pb2

from agent.timeline.network import CODEC_MS, Reading, both_ways_ms, reading


def received(round_trip_s: float, buffered_s: float, samples: int) -> list[stats_pb2.RtcStats]:
    """Statistics of a received track, with a candidate pair that is not in use among them."""
    entries = [stats_pb2.RtcStats() for _ in range(3)]
    entries[0].candidate_pair.candidate_pair.current_round_trip_time = 9.0
    used = entries[1].candidate_pair.candidate_pair
    used.nominated = True
    used.current_round_trip_time = round_trip_s
    entries[2].inbound_rtp.inbound.jitter_buffer_delay = buffered_s
    entries[2].inbound_rtp.inbound.jitter_buffer_emitted_count = samples
    return entries


def test_the_latest_jitter_buffer_counts_and_not_that_of_the_whole_call() -> None:
    before = reading(received(0.030, 10_000.0, 100_000))
    now = reading(received(0.040, 10_000.0 + 48_000 * 0.060, 148_000))
    assert before is not None
    assert now is not None
    both_ways = both_ways_ms(before, now)
    assert both_ways is not None
    assert abs(both_ways - 2 * (40 + 60 + CODEC_MS)) < 0.01


def test_without_sound_in_between_it_is_unknown() -> None:
    silent = Reading(30.0, 10_000.0, 100_000)
    assert both_ways_ms(silent, silent) is None


def test_figures_without_a_connection_are_no_reading() -> None:
    assert reading(received(0.03, 1.0, 1)[2:]) is None
