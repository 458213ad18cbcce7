"""Listens to a call's timeline and hands its figures on. A fault here never ends the call."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from agent.settings import Settings
from agent.telemetry.measures import CallMeasures
from agent.telemetry.otlp import CallExport
from agent.telemetry.prometheus import CallMetrics
from agent.telemetry.spans import TurnSpans
from agent.timeline.events import Event, EventType
from agent.timeline.timeline import Timeline

logger = logging.getLogger("agent.telemetry")


@dataclass
class CallTelemetry:
    """The telemetry of this process's one call.

    Args:
        metrics: None where this worker serves none.
        export: None where no collector is named.
    """

    metrics: CallMetrics | None
    export: CallExport | None
    _measures: CallMeasures = field(default_factory=CallMeasures)
    _turns: TurnSpans = field(default_factory=TurnSpans)
    _broken: bool = False

    @classmethod
    def load(cls) -> CallTelemetry:
        """What the settings ask for, made ready before there is a call."""
        try:
            livekit_spans = Settings.load().livekit_spans
            return cls(
                CallMetrics.if_served(), CallExport.if_configured(livekit_spans=livekit_spans)
            )
        except Exception:
            logger.exception("calls of this process have no telemetry")
            return cls(None, None)

    def listen(self, timeline: Timeline) -> None:
        """Take in each event of this call from now on."""
        if self.metrics is not None or self.export is not None:
            timeline.subscribe(self._take)

    async def aclose(self) -> None:
        """Send what is left, for a bounded time."""
        if self.export is not None:
            await self.export.aclose()

    def _take(self, event: Event) -> None:
        if self._broken:
            return
        try:
            self._read(event)
        except Exception:
            self._broken = True
            logger.exception("this call's telemetry ends here")

    def _read(self, event: Event) -> None:
        measured = self._measures.read(event)
        turns = self._turns.read(event)
        providers = self._measures.providers
        if self.metrics is not None:
            self.metrics.add(measured, providers)
            if event.type is EventType.CALL_STARTED:
                self.metrics.call_started()
            elif event.type is EventType.CALL_ENDED:
                self.metrics.call_ended()
        if self.export is not None:
            self.export.add(measured, providers)
            if event.type is EventType.CALL_STARTED:
                call_id = str(event.fields.get("call_id", ""))
                self.export.call_started(event.wall, {"call_id": call_id, **providers})
            self.export.add_turns(turns)
            if event.type is EventType.CALL_ENDED:
                self.export.call_ended(event.wall, {"reason": str(event.fields.get("reason", ""))})
