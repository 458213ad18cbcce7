"""The timeline contract: what happened when in a call, one JSON object an event.

The worker publishes these on the data topic `voice.timeline`, reliably and in order. The page, the
simulated caller and a recording's reader know of the agent only what is in this file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

TOPIC = "voice.timeline"
SNAPSHOT_METHOD = "timeline.snapshot"  # RPC on the agent, for who joins late
VERSION = 1


class EventType(StrEnum):
    """Every type of event, with the fields of its own that it carries.

    Durations are milliseconds on the worker's monotonic clock. A field that could not be measured
    is null: unknown is never zero.
    """

    CALL_STARTED = "call_started"  # call_id, providers: {stt, llm, tts}
    SPEECH_STARTED = "speech_started"  # the caller's voice was detected
    PARTIAL_TRANSCRIPT = "partial_transcript"  # text: the turn so far
    SPEECH_ENDED = "speech_ended"  # the caller fell silent
    # text: the turn so far; speech_to_final_ms, silence_to_final_ms
    FINAL_TRANSCRIPT = "final_transcript"
    REPLY_STARTED = "reply_started"  # first text of the reply; source: "code" or "llm"
    # the first audible sound of a reply: final_to_speech_ms; gap_ms, as the caller hears it;
    # waterfall: {part: ms} with the parts of `agent.timeline.waterfall`, null where there is no gap
    AGENT_SPEAKING = "agent_speaking"
    AGENT_STOPPED = "agent_stopped"  # text: what was spoken; interrupted: bool
    INTERRUPTED = "interrupted"  # the caller spoke over the agent, who stopped
    # booking, missing, confirmed, request_number, changes: [{field, old, new, words}]
    BOOKING_UPDATED = "booking_updated"
    REPLY_REPLACED = "reply_replaced"  # reason, text: what was spoken instead
    # component: stt, llm, tts, store or session; message; recoverable
    COMPONENT_ERROR = "component_error"
    CALL_ENDED = "call_ended"  # reason


@dataclass(frozen=True)
class Event:
    """One event of a call.

    `seq` counts from 1 without gaps within a call, `turn` from 0 (the greeting), `t_ms` is
    monotonic since the call began and `wall` is the same moment on the wall clock, in UTC.
    """

    seq: int
    turn: int
    type: EventType
    t_ms: float
    wall: datetime
    fields: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The event as it goes on the wire and into a recording: one line of JSON."""
        return json.dumps(
            {
                "v": VERSION,
                "seq": self.seq,
                "turn": self.turn,
                "type": self.type.value,
                "t_ms": round(self.t_ms, 1),
                "wall": self.wall.isoformat(timespec="milliseconds"),
                **self.fields,
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, line: str | bytes) -> Event:
        """Read one event.

        Raises:
            ValueError: the line is not an event of this version of the contract.
        """
        try:
            data = json.loads(line)
            version = data.pop("v")
            if version != VERSION:
                raise ValueError(f"timeline version {version!r}; this reader knows {VERSION}")
            return cls(
                seq=int(data.pop("seq")),
                turn=int(data.pop("turn")),
                type=EventType(data.pop("type")),
                t_ms=float(data.pop("t_ms")),
                wall=datetime.fromisoformat(data.pop("wall")),
                fields=data,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a timeline event: {error!r}") from error
