"""LiveKit's own spans join a call's trace only if asked to, and without anybody's words."""

from __future__ import annotations

import pytest
from livekit.agents.telemetry import tracer
from opentelemetry import trace

from agent.telemetry import otlp
from agent.telemetry.otlp import CallExport
from agent.timeline.clock import CallClock
from tests.collector import collecting

SAID = "my name is Priya Raman"


@pytest.mark.parametrize("asked", [False, True])
async def test_the_frameworks_spans_come_without_words_and_only_if_asked_for(
    monkeypatch: pytest.MonkeyPatch, *, asked: bool
) -> None:
    monkeypatch.delenv(otlp.PROTOCOL, raising=False)
    at = CallClock().wall_at(0)
    try:
        with collecting() as collector:
            monkeypatch.setenv(otlp.ENDPOINT, collector.url)
            export = CallExport(livekit_spans=asked)
            with tracer.start_as_current_span("job_entrypoint") as job:
                export.call_started(at, {"call_id": "RM_1"})
                with tracer.start_as_current_span("llm_node") as node:
                    node.set_attributes(
                        {
                            "lk.pii.chat_ctx": SAID,
                            "lk.a_new_name": SAID,
                            "lk.response.ttft": 0.25,
                            "gen_ai.request.model": "qwen",
                        }
                    )
                    node.add_event("gen_ai.user.message", {"content": SAID})
                    node.set_status(trace.StatusCode.ERROR, SAID)
                export.call_ended(at, {"reason": "user_initiated"})
                job.record_exception(ValueError(SAID))
            export.close()
    finally:
        tracer.set_provider(trace.get_tracer_provider())
    spans = {span.name: span for span in collector.spans}
    assert SAID.encode() not in b"".join(collector.requests)
    if not asked:
        assert set(spans) == {"call"}
        assert not spans["call"].parent
        return
    assert set(spans) == {"job_entrypoint", "call", "llm_node"}
    assert spans["call"].parent == spans["llm_node"].parent == spans["job_entrypoint"].id
    assert spans["llm_node"].attributes == {
        "lk.response.ttft": 0.25,
        "gen_ai.request.model": "qwen",
    }
