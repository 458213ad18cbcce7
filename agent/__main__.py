"""`python -m agent {dev,start,console,connect,doctor,budget,instructions}`: the LiveKit worker, and
what can be asked about it.

Each command's modules are imported only when it runs: those that need no call load no framework.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agent.booking.hotel import HotelFileError, load_hotel
from agent.booking.store import StoreError, open_store
from agent.settings import BadSettings, Settings
from agent.telemetry.metrics_folder import metrics_folder


def main() -> int:
    command, arguments = next(iter(sys.argv[1:]), ""), sys.argv[2:]
    if command == "budget":  # reads files: no setting of a call can stand in its way
        from agent import budget

        return budget.main(arguments)
    try:
        settings = Settings.load()
        if command == "instructions":
            from agent import instructions

            return instructions.main(settings)
        if command != "doctor":
            # A job process that cannot be prepared takes no call, and says so only in its own log.
            load_hotel(settings.hotel, name_override=settings.hotel_name)
            open_store(settings.database_url).close()
        return _with_framework(settings, command, arguments)
    except (BadSettings, HotelFileError, StoreError) as error:
        print(error, file=sys.stderr)
        return 2


def _with_framework(settings: Settings, command: str, arguments: list[str]) -> int:
    # The turn's end is told from the words; without this each worker loads a model for it anyway.
    os.environ.setdefault("LIVEKIT_AGENTS_PRELOAD_LOCAL_INFERENCE", "0")
    # In development a worker runs beside the stack's own, which has the port already.
    serves_metrics = command == "start" and settings.worker_metrics_port != 0
    with metrics_folder(wanted=serves_metrics) as folder:
        return _run(settings, command, arguments, folder)


def _run(settings: Settings, command: str, arguments: list[str], metrics: Path | None) -> int:
    from livekit.agents import cli

    from agent import console, doctor
    from agent.telemetry import exposition, otlp
    from agent.worker import create_server

    if command == "doctor":
        return doctor.main(settings)
    otlp.endpoint()
    if command == "console":
        try:
            console.prepare(arguments)
        except console.SoundUnavailable as error:
            print(error, file=sys.stderr)
            return 2
    server = create_server(settings)
    if metrics is None:
        cli.run_app(server)
    else:
        with exposition.served(metrics, settings.worker_host, settings.worker_metrics_port):
            cli.run_app(server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
