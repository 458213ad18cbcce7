"""`python -m desk {run,list,export,delete}`: the front desk's side of the requests."""

from __future__ import annotations

import json
import logging
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import httpx
import typer

from desk.database import DatabaseError
from desk.export import to_csv
from desk.forgetting import Forgotten, Memory
from desk.keeping import keep
from desk.metrics import Metrics
from desk.migrate import open_database
from desk.outbox import Outbox
from desk.requests import Requests
from desk.settings import BadSettings, DeskSettings
from desk.webhook import Webhook

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__
)


def _now() -> datetime:
    return datetime.now(UTC)


@app.command()
def run() -> None:
    """Hand finished requests to the hotel's system, and forget old ones, until ended."""
    settings = DeskSettings.load()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # httpx would log each address, which may hold a key of the receiver's.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    metrics = Metrics()
    try:
        metrics.serve(settings.desk_host, settings.desk_port)
    except OSError as error:
        raise BadSettings(
            f"DESK_PORT={settings.desk_port}: cannot be listened on ({error.strerror}). Is a desk "
            "running already? Set another port otherwise."
        ) from None
    database = open_database(settings.database_url)
    with httpx.Client() as client:
        webhook = None
        if settings.webhook_url is not None and settings.webhook_secret is not None:
            webhook = Webhook(
                str(settings.webhook_url), settings.webhook_secret.get_secret_value(), client
            )
        logging.getLogger("desk").info("the front desk is at work")
        memory = Memory(
            database, settings.recordings, now=_now, delivers=settings.webhook_url is not None
        )
        keep(Outbox(database, now=_now), webhook, memory, settings.retention_days, stop, metrics)
    database.close()


@app.command("list")
def list_() -> None:
    """The requests, the newest first, one JSON object a line, with each value's history."""
    database = open_database(DeskSettings.load().database_url)
    for kept in Requests(database, now=_now).newest():
        line = {
            "number": kept.number,
            "status": kept.status.value,
            "call_id": kept.call_id,
            "created_at": kept.created_at.isoformat(),
            "updated_at": kept.updated_at.isoformat(),
            "request": kept.request,
        }
        print(json.dumps(line, ensure_ascii=False))


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(help="where to; the terminal if left out")] = None,
) -> None:
    """The requests as CSV."""
    database = open_database(DeskSettings.load().database_url)
    table = to_csv(Requests(database, now=_now).newest())
    if file is None:
        sys.stdout.write(table)
        return
    try:
        file.touch(mode=0o600)
        # The mark tells a spreadsheet that this is UTF-8.
        file.write_text(table, encoding="utf-8-sig", newline="")
    except OSError as error:
        raise BadSettings(f"{file}: cannot be written ({error.strerror})") from None


@app.command()
def delete(
    request: Annotated[
        str | None, typer.Argument(help="a request's number, or a call's id")
    ] = None,
    older_than_days: Annotated[
        int | None,
        typer.Option(min=1, help="instead: all whose call and stay are over for so long"),
    ] = None,
) -> None:
    """Delete what is kept of a call, or of all old ones: request, messages and recording."""
    if (request is None) == (older_than_days is None):
        raise BadSettings("Say which: a request's number or a call's id, or --older-than-days N.")
    settings = DeskSettings.load()
    memory = Memory(
        open_database(settings.database_url),
        settings.recordings,
        now=_now,
        delivers=settings.webhook_url is not None,
    )
    if older_than_days is not None:
        forgotten = memory.forget_older_than(older_than_days)
    else:
        assert request is not None
        calls = memory.calls_of(request) or [request]
        gone = [memory.forget_call(call_id) for call_id in calls]
        forgotten = Forgotten(sum(g.requests for g in gone), sum(g.recordings for g in gone))
        if not forgotten.requests and not forgotten.recordings:
            raise BadSettings(
                f"Nothing is kept of {request!r}. `python -m desk list` shows what is: give a "
                "request's number or a call's id."
            )
    print(f"deleted {forgotten.requests} requests and {forgotten.recordings} recordings")


def main() -> int:
    try:
        app(prog_name="python -m desk")
    except (BadSettings, DatabaseError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
