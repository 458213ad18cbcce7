"""When a part that runs but does not answer is shown as such, and when it is started afresh."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LivenessPolicy:
    """How patiently a running part is asked whether it is alive.

    The time-out is generous, and one answer clears all failures before it: a machine that is merely
    busy answers late, and killing what it works on would only add to the load.

    Args:
        every_s: between an answer and the next question.
        timeout_s: how late an answer may come.
        shown_after: as many failures in a row, and the part is shown as not answering.
        restart_after: as many, and it is taken for hung, ended and started again.
    """

    every_s: float = 5.0
    timeout_s: float = 15.0
    shown_after: int = 3
    restart_after: int = 8
