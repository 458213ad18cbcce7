"""When a caller speaks next, as a person would: after the agent has finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from selfhost.load.ears import Span

LISTENING = "listening"


@dataclass(frozen=True)
class Patience:
    """How long a caller waits for what, in seconds."""

    answer_s: float = 20.0  # for the agent to begin an answer
    quiet_s: float = 0.7  # of silence, before the agent counts as finished
    stuck_s: float = 5.0  # of silence, though the agent says that it has more to say
    monologue_s: float = 60.0  # of listening to one answer
    carried_on_s: float = 1.0  # talked over this long, the agent has not yielded


class Move(Enum):
    """What the caller does now."""

    WAIT = "wait"
    SPEAK = "speak"
    GIVE_UP = "give up"  # no answer came


@dataclass(frozen=True)
class Heard:
    """What the caller knows of the agent at a moment.

    Attributes:
        spans: when the agent was audible; the last one may still go on.
        audible: whether it does.
        state: the agent's own word for what it is doing, if it gives any.
        reply_pending: the agent has heard the caller or begun a reply, and is not yet speaking.
    """

    spans: Sequence[Span]
    audible: bool
    state: str | None
    reply_pending: bool


def answer_onset_s(heard: Heard, since_s: float, patience: Patience) -> float | None:
    """When the agent's answer to what the caller said until `since_s` began, if it has.

    Sound that was already there when the caller fell silent is an answer only if it goes on: then
    the agent was not interrupted, and has no reason to begin anew.
    """
    for span in heard.spans:
        if span.start_s >= since_s or span.end_s >= since_s + patience.carried_on_s:
            return span.start_s
    return None


def next_move(
    now_s: float, since_s: float, heard: Heard, patience: Patience, *, answered: bool = True
) -> Move:
    """Decide at `now_s` what a caller does who fell silent at `since_s`.

    Args:
        now_s: the moment, in seconds of the call.
        since_s: when the caller fell silent.
        heard: what the caller knows of the agent.
        patience: how long the caller waits.
        answered: whether what the caller said asks for an answer; where it does not, as after
            "mhmm", the agent has finished when it has been quiet for a while.
    """
    onset_s = answer_onset_s(heard, since_s, patience)
    if onset_s is None and not answered and heard.spans:
        onset_s = heard.spans[-1].start_s
    if onset_s is None:
        return Move.GIVE_UP if now_s - since_s >= patience.answer_s else Move.WAIT
    if heard.audible:
        talking_s = now_s - max(onset_s, since_s)
        return Move.SPEAK if talking_s >= patience.monologue_s else Move.WAIT
    quiet_s = now_s - max(heard.spans[-1].end_s, since_s if not answered else 0.0)
    settled = heard.state in (None, LISTENING) and not heard.reply_pending
    return (
        Move.SPEAK if quiet_s >= (patience.quiet_s if settled else patience.stuck_s) else Move.WAIT
    )
