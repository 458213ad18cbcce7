"""LiveKit's own spans in a call's trace, without anybody's words.

They tell what the framework did in a turn: nodes, requests, retries, tool calls. Their attributes
hold prompts, transcripts, names and addresses too, under names that change with its releases. So
what may pass is listed here, and not what may not: numbers, and the strings that code chose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from livekit.agents import telemetry
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import AttributeValue

SCOPE = "livekit-agents"

_CHOSEN_BY_CODE = frozenset(
    {
        "error.type",
        "exception.type",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "lk.callback.name",
        "lk.close_reason",
        "lk.connection_state",
        "lk.eou.outcome",
        "lk.eou.source",
        "lk.generation_id",
        "lk.interruption.source",
        "lk.job_id",
        "lk.new_state",
        "lk.old_state",
        "lk.parent_generation_id",
        "lk.shutdown.reason",
        "lk.speech_id",
        "lk.tts.label",
    }
)


def install(provider: TracerProvider) -> None:
    """Have the framework's spans of this process go where `provider` sends them."""
    telemetry.set_tracer_provider(provider, allow_pii=False)


class Wordless(SpanExporter):
    """Passes spans on; of the framework's, only what nobody can have said."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([wordless(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def wordless(span: ReadableSpan) -> ReadableSpan:
    """The span without the strings that somebody may have said; one of ours is as it was."""
    scope = span.instrumentation_scope
    if scope is None or scope.name != SCOPE:
        return span
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=_kept(span.attributes),
        events=[
            Event(event.name, _kept(event.attributes), event.timestamp) for event in span.events
        ],
        links=[Link(link.context) for link in span.links],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=scope,
    )


def _kept(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    return {
        name: value
        for name, value in (attributes or {}).items()
        if isinstance(value, bool | int | float) or name in _CHOSEN_BY_CODE
    }
