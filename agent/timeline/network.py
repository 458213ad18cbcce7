"""What the way between the caller and the worker adds to a gap, estimated from WebRTC's figures."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from livekit import rtc

logger = logging.getLogger("agent.timeline")

EVERY_S = 1.0  # reading the figures takes about half a millisecond

CODEC_MS = 37.0
"""What one way takes besides its round trip and its jitter buffer: a packet of 20 ms is filled
before it is sent, Opus looks 6.5 ms ahead, and each end works in ticks of 10 ms. Measured: 77 ms
both ways, over a room server on the same machine (n = 14)."""


@dataclass(frozen=True)
class Reading:
    """A track's figures at one moment.

    Args:
        round_trip_ms: from the worker to the room server and back.
        buffered_ms: the time that samples have waited in the jitter buffer, summed over all that
            came out of it.
        samples: how many came out of it.
    """

    round_trip_ms: float
    buffered_ms: float
    samples: int


def reading(stats: list[Any]) -> Reading | None:
    """The figures in a received track's statistics; None while one of them is missing."""
    round_trip_ms: float | None = None
    buffered_ms, samples = 0.0, 0
    for entry in stats:
        kind = entry.WhichOneof("stats")
        if kind == "candidate_pair" and entry.candidate_pair.candidate_pair.nominated:
            pair = entry.candidate_pair.candidate_pair
            round_trip_ms = pair.current_round_trip_time * 1000
        elif kind == "inbound_rtp":
            inbound = entry.inbound_rtp.inbound
            buffered_ms = inbound.jitter_buffer_delay * 1000
            samples = inbound.jitter_buffer_emitted_count
    return None if round_trip_ms is None else Reading(round_trip_ms, buffered_ms, samples)


def both_ways_ms(before: Reading, now: Reading) -> float | None:
    """What the network adds to a gap, from the figures of two moments not long apart.

    The worker sees its own half of the way. The caller is taken to be as far from the room server,
    and to have a jitter buffer like the worker's, which the same kind of way has filled.

    Returns:
        Milliseconds from the caller's sound to the worker and from the worker's to the caller;
        None where no sound came in between.
    """
    samples = now.samples - before.samples
    if samples <= 0:
        return None
    jitter_buffer_ms = (now.buffered_ms - before.buffered_ms) / samples
    return 2 * (now.round_trip_ms + jitter_buffer_ms + CODEC_MS)


class Network:
    """Keeps the estimate for the caller's track; `ms` is None until there is one."""

    def __init__(self) -> None:
        self.ms: float | None = None

    async def watch(self, track: rtc.Track) -> None:
        """Read the track's figures until cancelled."""
        before: Reading | None = None
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                now = reading(await track.get_stats())
            except Exception as error:  # what the native layer raises has no type of its own
                logger.warning("no network figures: %s", type(error).__name__)
                return
            if before is not None and now is not None:
                estimate_ms = both_ways_ms(before, now)
                # No sound says nothing of the way that the next one takes.
                self.ms = self.ms if estimate_ms is None else estimate_ms
            before = now or before
