"""The network's share of a gap, from WebRTC's own figures."""

from __future__ import annotations

from typing import cast

import pytest
from livekit import rtc
from livekit.rtc._proto import stats_pb2

from agent.timeline.network import CODEC_MS, End, Network, Reading, end_between, reading


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
    end = end_between(before, now)
    assert end is not None
    assert (round(end.round_trip_ms, 3), round(end.jitter_buffer_ms, 3)) == (40, 60)


def test_without_sound_in_between_nothing_is_known() -> None:
    silent = Reading(30.0, 10_000.0, 100_000)
    assert end_between(silent, silent) is None


def test_figures_without_a_connection_are_no_reading() -> None:
    assert reading(received(0.03, 1.0, 1)[2:]) is None


class Track:
    """A received track whose figures are at hand."""

    def __init__(self, *stats: list[stats_pb2.RtcStats]) -> None:
        self._stats = list(stats)

    async def get_stats(self) -> list[stats_pb2.RtcStats]:
        return self._stats.pop(0)


async def watched(monkeypatch: pytest.MonkeyPatch) -> Network:
    """A network whose worker's end has a round trip of 10 ms and a jitter buffer of 60."""
    monkeypatch.setattr("agent.timeline.network.EVERY_S", 0.0)
    figures = Network()
    track = Track(received(0.01, 0.0, 0), received(0.01, 60.0, 1000))
    await figures.watch(cast("rtc.Track", track))  # ends where the figures do
    return figures


async def test_both_ends_count_when_both_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    network = await watched(monkeypatch)
    assert network.both_ways_ms(0.0) == pytest.approx(2 * (10 + 60 + CODEC_MS))
    network.caller_told(End(80.0, 120.0).to_json().encode(), 1.0)
    assert network.both_ways_ms(2.0) == pytest.approx(10 + 60 + 80 + 120 + 2 * CODEC_MS)
    # What was told long ago says nothing of the way as it is.
    assert network.both_ways_ms(60.0) == pytest.approx(2 * (10 + 60 + CODEC_MS))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\xff",
        b'{"round_trip_ms": -1, "jitter_buffer_ms": 5}',
        b'{"round_trip_ms": 1, "jitter_buffer_ms": NaN}',
        b'{"round_trip_ms": 1, "jitter_buffer_ms": 1e9}',
    ],
)
async def test_what_a_client_makes_up_changes_nothing(
    payload: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = await watched(monkeypatch)
    before = network.both_ways_ms(1.0)
    network.caller_told(payload, 1.0)
    assert network.both_ways_ms(1.0) == before


def test_until_the_worker_has_figures_the_way_is_unknown() -> None:
    network = Network()
    network.caller_told(End(80.0, 120.0).to_json().encode(), 1.0)
    assert network.both_ways_ms(1.0) is None
