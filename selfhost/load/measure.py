"""The figures of a turn, taken from the sound of both sides on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from selfhost.load.ears import FRAME_S, HEARING, Hearing, Samples, Span, audible_spans

WORD_LATE_S, SOUND_LATE_S = 0.1, 0.5


@dataclass(frozen=True)
class Window:
    """Where in the call a turn's sound was pushed, in seconds, and whether over the agent."""

    start_s: float
    end_s: float
    over_agent: bool = False


@dataclass(frozen=True)
class TurnSound:
    """What a turn sounded like. What was not heard is None.

    `gap_ms` is from the caller's last audible sound to the agent's first after it; it is negative
    where the agent had begun before the caller was done (`cut_in`). For a turn spoken over the
    agent, `stop_ms` is from the caller's first sound to the agent's last one before it stopped,
    `silent_ms` from there to its next one, and `pause_ms` the longest silence between two sounds of
    the agent's from then on.
    """

    first_s: float | None
    last_s: float | None
    gap_ms: float | None
    cut_in: bool
    stop_ms: float | None
    silent_ms: float | None = None
    pause_ms: float | None = None


def measure(
    caller: Sequence[Span], agent: Sequence[Span], windows: Sequence[Window]
) -> list[TurnSound]:
    """Measure each turn from both sides' audible spans and the turns' windows, in order."""
    measured = []
    for index, window in enumerate(windows):
        following = windows[index + 1].start_s if index + 1 < len(windows) else float("inf")
        measured.append(_measure_turn(caller, agent, window, following))
    return measured


def _measure_turn(
    caller: Sequence[Span], agent: Sequence[Span], window: Window, following_s: float
) -> TurnSound:
    own = [s for s in caller if s.end_s > window.start_s and s.start_s < window.end_s + FRAME_S]
    if not own:
        return TurnSound(None, None, None, False, None)
    first_s, last_s = own[0].start_s, own[-1].end_s
    spoken_over = [s for s in agent if s.start_s < first_s < s.end_s] if window.over_agent else []
    stopped_s = spoken_over[-1].end_s if spoken_over else None
    resumed_s = next((s.start_s for s in agent if stopped_s and s.start_s >= stopped_s), None)
    begun_inside = [s for s in agent if first_s <= s.start_s < last_s]
    begun_after = [s for s in agent if last_s <= s.start_s < following_s]
    if begun_inside and begun_inside[-1].end_s > last_s:
        answer: Span | None = begun_inside[-1]
    else:
        answer = begun_after[0] if begun_after else None
    return TurnSound(
        first_s=first_s,
        last_s=last_s,
        gap_ms=None if answer is None else (answer.start_s - last_s) * 1000,
        cut_in=bool(begun_inside) and not window.over_agent,
        stop_ms=None if stopped_s is None else (stopped_s - first_s) * 1000,
        silent_ms=None
        if stopped_s is None or resumed_s is None
        else (resumed_s - stopped_s) * 1000,
        pause_ms=_longest_pause_ms(agent, first_s, following_s) if window.over_agent else None,
    )


def _longest_pause_ms(agent: Sequence[Span], from_s: float, until_s: float) -> float | None:
    begun = [s for s in agent if s.start_s < until_s]
    pauses = [
        (later.start_s - earlier.end_s) * 1000
        for earlier, later in pairwise(begun)
        if later.start_s > from_s
    ]
    return max(pauses, default=None)


def reply_onset_s(agent: Sequence[Span], said_s: float) -> float:
    """When a reply became audible that the agent said, at `said_s`, it had begun.

    The word of it and the sound take different ways. Where no sound begins near that moment, the
    reply went on from what was audible already, and its word is all there is.
    """
    near = [s.start_s for s in agent if -WORD_LATE_S <= s.start_s - said_s <= SOUND_LATE_S]
    return near[0] if near else said_s


def measure_recording(
    sound: Samples, sample_rate: int, windows: Sequence[Window], hearing: Hearing = HEARING
) -> list[TurnSound]:
    """Measure each turn in a stereo recording of shape (samples, 2): caller left, agent right."""
    caller = audible_spans(sound[:, 0], sample_rate, hearing)
    agent = audible_spans(sound[:, 1], sample_rate, hearing)
    return measure(caller, agent, windows)
