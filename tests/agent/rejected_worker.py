"""A worker whose calls ask the framework for an option that it does not have.

No setting of this product does so today; the next release of the framework may make one do it.
"""

from __future__ import annotations

from livekit.agents import AgentSession, JobProcess, cli

import agent.worker
from agent.session import Models
from agent.settings import Settings


def build_rejected_session(models: Models, *, barge_in: bool) -> AgentSession[None]:
    return AgentSession(stt=models.stt, an_option_of_the_past=True)  # type: ignore[call-arg]


def prepare(process: JobProcess) -> None:
    """Runs in the job's own process, where the session will be built."""
    agent.worker.prepare(process)
    agent.worker.build_session = build_rejected_session


if __name__ == "__main__":
    server = agent.worker.create_server(Settings.load())
    # By its importable name: a job process knows nothing of this one's `__main__`.
    from tests.agent.rejected_worker import prepare as importable_prepare

    server.setup_fnc = importable_prepare
    cli.run_app(server)
