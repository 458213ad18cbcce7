"""`python -m selfhost call FILE…`: a simulated caller plays spoken calls and reports on them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from dotenv import load_dotenv
from rich.console import Console

from selfhost import command_line
from selfhost.errors import SetupError
from selfhost.load.caller import Caller, Line
from selfhost.load.display import show_call, show_table
from selfhost.load.machine import Machine, MachineWatch
from selfhost.load.patience import Patience
from selfhost.load.recording import stereo, write_wav
from selfhost.load.report import CallReport, Summary, build_report, summarise
from selfhost.load.rooms import RoomServer, SettingError, room_server
from selfhost.load.script import Script, Turn, load_script
from selfhost.load.voice import SAMPLE_RATE, needs_voice, open_voice, render

AS_EXPECTED, NOT_AS_EXPECTED, NOT_POSSIBLE = 0, 1, 2
STOPPED = 130  # as a shell says it of Ctrl-C


def speech_endpoint(environment: dict[str, str]) -> tuple[str, str]:
    """The base URL of the speech endpoint and its key, which may be empty."""
    if base_url := environment.get("TTS_BASE_URL"):
        return base_url, environment.get("TTS_API_KEY", "")
    port = environment.get("MODEL_SERVER_PORT") or "8100"
    return f"http://127.0.0.1:{port}/v1", environment.get("MODEL_SERVER_API_KEY", "")


def speak_turns(script: Script, folder: Path, endpoint: tuple[str, str]) -> list[Line]:
    """Every turn of a script as sound, so that nothing is synthesised while the call goes on."""
    everything = [turn.parts + (turn.again.parts if turn.again else ()) for turn in script.turns]
    spoken = any(needs_voice(parts) for parts in everything)
    voice = open_voice(script.voice, *endpoint) if spoken else None

    def line(turn: Turn) -> Line:
        speech = render(turn.parts, voice, script.speed, folder)
        again = turn.again
        return Line(
            speech,
            turn.over_agent_ms,
            answered=not turn.reply_goes_on,
            again_when=again.when if again else (),
            said_again=render(again.parts, voice, script.speed, folder)
            if again and again.parts
            else speech,
        )

    return [line(turn) for turn in script.turns]


async def play(
    script: Script,
    lines: Sequence[Line],
    server: RoomServer,
    room: str,
    patience: Patience,
    wav: Path | None,
    on_turn: Callable[[int], None],
) -> CallReport:
    """Hold one call, record it to `wav` if there is one, and report on it."""
    started_at = datetime.now().astimezone()
    watch = MachineWatch()
    record = await Caller(server, room, patience).hold(lines, on_turn)
    machine = watch.stop()
    sound = stereo(record.caller, record.agent)
    if wav is not None:
        write_wav(wav, sound, SAMPLE_RATE)
    return build_report(script, record, sound, room=room, started_at=started_at, machine=machine)


def _numbered(wav: Path | None, script: Script, several: bool) -> Path | None:
    return wav.with_stem(f"{wav.stem}-{script.name}") if wav and several else wav


def call(
    files: Annotated[list[Path], typer.Argument(help="Calls to play, one after another (YAML).")],
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the report here as JSON.")
    ] = None,
    wav: Annotated[
        Path | None,
        typer.Option(help="Record here: caller left, agent right. Several calls: NAME-CALL.wav."),
    ] = None,
    room: Annotated[
        str | None, typer.Option(help="The room to join. Otherwise a new one for each call.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=1, help="Seconds to wait for the agent to come, and to answer.")
    ] = Patience().answer_s,
) -> None:
    """Play spoken calls against a running agent, and report gaps, words and the booking.

    Exits with 0 if all came out as the files expect, 1 if not, 2 if there was no call to be had.
    """
    load_dotenv()
    environment = dict(os.environ)
    console, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    reports: list[CallReport] = []
    watch = MachineWatch()
    try:
        if room and len(files) > 1:
            raise SettingError("--room: expected with one call file only; leave it out for several")
        server, endpoint = room_server(environment), speech_endpoint(environment)
        # All files are read and all turns are spoken before the first call is made.
        scripts = [load_script(path) for path in files]
        spoken = [
            speak_turns(script, path.parent, endpoint)
            for script, path in zip(scripts, files, strict=True)
        ]
        watch = MachineWatch()
        for script, lines in zip(scripts, spoken, strict=True):

            def show_progress(turn: int, script: Script = script) -> None:
                if progress.is_terminal:
                    progress.print(f"{script.name}: turn {turn + 1} of {len(script.turns)}")

            room_name = room or f"call-{script.name}-{secrets.token_hex(3)}"
            file = _numbered(wav, script, several=len(files) > 1)
            patience = Patience(answer_s=timeout)
            report = asyncio.run(
                play(script, lines, server, room_name, patience, file, show_progress)
            )
            show_call(console, report)
            reports.append(report)
    except SetupError as error:
        print(f"selfhost call: {error}", file=sys.stderr)
        raise typer.Exit(NOT_POSSIBLE) from None
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None
    finally:
        summary = summarise([turn for report in reports for turn in report.turns])
        machine = watch.stop()
        if json_file and reports:
            _write_json(json_file, reports, summary, machine)
        if len(reports) > 1:
            show_table(console, reports, summary, machine)
    failed = any(report.failures for report in reports)
    raise typer.Exit(NOT_AS_EXPECTED if failed else AS_EXPECTED)


def _write_json(
    path: Path, reports: Sequence[CallReport], summary: Summary, machine: Machine
) -> None:
    """One call is written as it is; several under `calls`, with the figures over all of them."""
    data: dict[str, Any] = reports[0].to_dict()
    if len(reports) > 1:
        data = {
            "calls": [report.to_dict() for report in reports],
            "summary": {**asdict(summary), "machine": asdict(machine)},
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int | None:
    """The command line; exits with the status that `call` describes."""
    # The room server's well-known development secret is short; it is used on loopback only.
    warnings.filterwarnings("ignore", message="The HMAC key is")
    # The room's library logs each attempt to connect; the caller says once what came of them.
    logging.getLogger("livekit").setLevel(logging.CRITICAL)
    command_line.run(call, "call")
    return None


if __name__ == "__main__":
    main()
