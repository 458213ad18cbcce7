"""What the caller was told during a call: timeline events, transcriptions and the agent's state.

Only what arrived, and when; what it means for a turn is worked out afterwards, in `words`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from agent.timeline.events import Event, EventType

SPEAKING = "speaking"  # a value of the agent's state

# From one of the first to one of the second, the agent owes the caller sound.
_OWES_SOUND = (EventType.FINAL_TRANSCRIPT, EventType.REPLY_STARTED)
_PAYS_SOUND = (EventType.AGENT_SPEAKING, EventType.INTERRUPTED)


@dataclass(frozen=True)
class Stamped:
    """An event and when it was received, in seconds of the call; None if it was asked for later."""

    event: Event
    at_s: float | None


@dataclass(frozen=True)
class Segment:
    """A piece of LiveKit's own transcription, which any agent sends."""

    by_caller: bool
    segment_id: str
    text: str
    final: bool
    at_s: float  # when the piece was complete; for the agent, when it began


@dataclass
class Observed:
    """Everything that was received from the agent but its sound."""

    state: str | None = None
    speaking_s: list[float] = field(default_factory=list)  # each time that the state became so
    segments: list[Segment] = field(default_factory=list)
    unreadable: int = 0  # packets on the timeline's topic that were no events
    _events: dict[int, Stamped] = field(default_factory=dict)
    _owes_sound: bool = False

    @property
    def timeline(self) -> list[Stamped]:
        """The events in the agent's order."""
        return [self._events[seq] for seq in sorted(self._events)]

    @property
    def reply_pending(self) -> bool:
        """Whether the agent has heard the caller or begun a reply, and is not yet speaking."""
        return self._owes_sound

    def said_since(self, at_s: float) -> str:
        """The agent's words told of from a moment on; those of a reply come at its end."""
        if self._events:
            texts = [
                str(stamped.event.fields.get("text") or "")
                for stamped in self.timeline
                if stamped.event.type is EventType.AGENT_STOPPED and (stamped.at_s or 0.0) >= at_s
            ]
        else:
            texts = [one.text for one in self.segments if not one.by_caller and one.at_s >= at_s]
        return " ".join(texts)

    def add_state(self, state: str | None, at_s: float) -> None:
        """Take the agent's own word for what it is doing."""
        if state == SPEAKING and self.state != SPEAKING:
            self.speaking_s.append(at_s)
        self.state = state

    def first_missing_seq(self) -> int | None:
        """The first event that should have come and did not; None if there is none."""
        expected = range(1, max(self._events, default=1) + 1)
        return next((seq for seq in expected if seq not in self._events), None)

    def add_packet(self, payload: bytes, at_s: float) -> None:
        """Take a packet of the timeline's topic."""
        try:
            event = Event.from_json(payload)
        except ValueError:
            self.unreadable += 1
            return
        self._events.setdefault(event.seq, Stamped(event, at_s))
        if event.type in _OWES_SOUND:
            self._owes_sound = True
        elif event.type in _PAYS_SOUND:
            self._owes_sound = False

    def add_snapshot(self, payload: str) -> int | None:
        """Take a page of the timeline that was asked for; returns where the next one starts.

        Raises:
            ValueError: this is no page of a timeline.
        """
        try:
            page = json.loads(payload)
            for line in page["events"]:
                event = Event.from_json(line if isinstance(line, str) else json.dumps(line))
                self._events.setdefault(event.seq, Stamped(event, None))
            following = page["next_seq"]
            return None if following is None else int(following)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a page of a timeline: {error!r}") from error
