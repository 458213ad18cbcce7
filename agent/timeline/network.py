"""What the way between the caller and the worker adds to a gap, from WebRTC's figures of both ends.

Mostly it is jitter buffers: each end holds sound back until it can be played without a break, and
for longer the more unevenly the other end sends it. On a busy machine that is 0.1 to 0.3 s a way.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

from livekit import rtc

logger = logging.getLogger("agent.timeline")

TOPIC = "voice.network"
"""The caller's client tells the worker its own figures on this data topic, lossy, a JSON object
like `End` about once a second. One that does not is taken to be like the worker's end."""

EVERY_S = 1.0  # reading the figures takes about half a millisecond

CODEC_MS = 36.0
"""What one way takes besides its round trip and its jitter buffer: a packet of 20 ms is filled
before it is sent, Opus looks 6.5 ms ahead, and each end works in ticks of 10 ms. It is half of what
was left of 24 measured ways there and back, over a room server on the same machine: with it, the
estimate was off by 5 ms at the median and 53 at p95, on 2 cores with a load of 14."""

BELIEVED_MS = 5_000.0  # what a caller's client tells beyond this is no figure of a call
FRESH_S = 5.0  # what it told longer ago says nothing of the way as it is


@dataclass(frozen=True)
class Reading:
    """A received track's figures at one moment.

    Args:
        round_trip_ms: to the room server and back.
        buffered_ms: the time that samples have waited in the jitter buffer, summed over all that
            came out of it.
        samples: how many came out of it.
    """

    round_trip_ms: float
    buffered_ms: float
    samples: int


@dataclass(frozen=True)
class End:
    """One end of the line: its round trip to the room server, and what its jitter buffer holds."""

    round_trip_ms: float
    jitter_buffer_ms: float

    def to_json(self) -> str:
        """The figures as the caller's client tells them."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, payload: bytes | str) -> End:
        """Read what a client told.

        Raises:
            ValueError: these are no figures that a call can have.
        """
        try:
            told = json.loads(payload)
            end = cls(float(told["round_trip_ms"]), float(told["jitter_buffer_ms"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected figures of a line: {error!r}") from None
        if not all(0 <= ms <= BELIEVED_MS for ms in (end.round_trip_ms, end.jitter_buffer_ms)):
            raise ValueError(f"expected 0 to {BELIEVED_MS:.0f} ms: {end}")
        return end


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


def end_between(before: Reading, now: Reading) -> End | None:
    """An end's figures between two moments; None where no sound came in between."""
    samples = now.samples - before.samples
    if samples <= 0:
        return None
    return End(now.round_trip_ms, (now.buffered_ms - before.buffered_ms) / samples)


def both_ways_ms(worker: End, caller: End) -> float:
    """What the network adds to a gap: the caller's sound to the worker, and the worker's back."""
    return sum(e.round_trip_ms + e.jitter_buffer_ms + CODEC_MS for e in (worker, caller))


async def watch_end(track: rtc.Track) -> AsyncIterator[End]:
    """The figures of the end that receives a track, about every second, until they fail."""
    before: Reading | None = None
    while True:
        await asyncio.sleep(EVERY_S)
        try:
            now = reading(await track.get_stats())
        except Exception as error:  # what the native layer raises has no type of its own
            logger.warning("no network figures: %s", type(error).__name__)
            return
        if before is not None and now is not None:
            end = end_between(before, now)
            if end is not None:
                yield end
        before = now or before


class Network:
    """The latest figures of both ends.

    Silence says nothing of the way that the next sound takes, so the last figures stand.
    """

    def __init__(self) -> None:
        self._worker: End | None = None
        self._caller: End | None = None
        self._told_s = 0.0

    def both_ways_ms(self, now_s: float) -> float | None:
        """What the network adds to a gap; None until the worker has figures of its own."""
        if self._worker is None:
            return None
        fresh = self._caller is not None and now_s - self._told_s <= FRESH_S
        return both_ways_ms(self._worker, self._caller if fresh and self._caller else self._worker)

    def caller_told(self, payload: bytes, now_s: float) -> None:
        """Take what the caller's client says of its end; what is no figure is left out."""
        try:
            self._caller, self._told_s = End.from_json(payload), now_s
        except ValueError as error:
            logger.warning("the caller's client told no network figures: %s", error)

    async def watch(self, track: rtc.Track) -> None:
        """Keep the figures of the worker's end, which receives the caller's track."""
        async for self._worker in watch_end(track):
            pass
