"""`python -m selfhost call FILE…`: a simulated caller plays spoken calls and reports on them."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from dotenv import load_dotenv
from rich.console import Console

from selfhost.errors import SetupError
from selfhost.load.caller import Caller, Line, RoomServer
from selfhost.load.display import show_call, show_table
from selfhost.load.patience import Patience
from selfhost.load.recording import stereo, write_wav
from selfhost.load.report import CallReport, MachineWatch, build_report, summarise
from selfhost.load.script import Script, load_script
from selfhost.load.voice import SAMPLE_RATE, open_voice, render

AS_EXPECTED, NOT_AS_EXPECTED, NOT_POSSIBLE = 0, 1, 2


class SettingError(SetupError):
    """The environment cannot be used; the text says which variable, and what was expected."""


def room_server(environment: dict[str, str]) -> RoomServer:
    """The room server that the environment names, or the local one with its development keys.

    Raises:
        SettingError: a server elsewhere without keys.
    """
    port = environment.get("LIVEKIT_PORT") or "7880"
    url = environment.get("LIVEKIT_URL") or f"ws://127.0.0.1:{port}"
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss", "http", "https") or not parts.hostname:
        raise SettingError(
            f"LIVEKIT_URL: expected an address such as ws://127.0.0.1:7880, got {url!r}"
        )
    key, secret = environment.get("LIVEKIT_API_KEY"), environment.get("LIVEKIT_API_SECRET")
    if not (key and secret) and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise SettingError(f"LIVEKIT_API_KEY and LIVEKIT_API_SECRET must be set for {url}")
    return RoomServer(url, key or "devkey", secret or "secret")


def speech_endpoint(environment: dict[str, str]) -> tuple[str, str]:
    """The base URL of the speech endpoint and its key, which may be empty."""
    if base_url := environment.get("TTS_BASE_URL"):
        return base_url, environment.get("TTS_API_KEY", "")
    port = environment.get("MODEL_SERVER_PORT") or "8100"
    return f"http://127.0.0.1:{port}/v1", environment.get("MODEL_SERVER_API_KEY", "")


def speak_turns(script: Script, folder: Path, endpoint: tuple[str, str]) -> list[Line]:
    """Every turn of a script as sound, so that nothing is synthesised while the call goes on."""
    voice = open_voice(script.voice, *endpoint)
    return [
        Line(render(turn.parts, voice, script.speed, folder), turn.over_agent_ms)
        for turn in script.turns
    ]


async def play(
    script: Script,
    lines: list[Line],
    server: RoomServer,
    room: str,
    patience: Patience,
    wav: Path | None,
) -> CallReport:
    """Hold one call and report on it."""
    started_at = datetime.now().astimezone()
    watch = MachineWatch()
    record = await Caller(server, room, patience).hold(lines)
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
    console = Console(highlight=False)
    reports: list[CallReport] = []
    try:
        if room and len(files) > 1:
            raise SettingError("--room: expected with one call file only; leave it out for several")
        server, endpoint = room_server(environment), speech_endpoint(environment)
        scripts = [load_script(path) for path in files]
        spoken = [
            speak_turns(script, path.parent, endpoint)
            for script, path in zip(scripts, files, strict=True)
        ]
        for script, lines in zip(scripts, spoken, strict=True):
            room_name = room or f"call-{script.name}-{secrets.token_hex(3)}"
            report = asyncio.run(
                play(
                    script,
                    lines,
                    server,
                    room_name,
                    Patience(answer_s=timeout),
                    _numbered(wav, script, several=len(files) > 1),
                )
            )
            show_call(console, report)
            reports.append(report)
    except SetupError as error:
        print(f"selfhost call: {error}", file=sys.stderr)
        raise typer.Exit(NOT_POSSIBLE) from None
    finally:
        if json_file and reports:
            _write_json(json_file, reports)
    if len(reports) > 1:
        show_table(console, reports, summarise([turn for r in reports for turn in r.turns]))
    failed = any(report.failures for report in reports)
    raise typer.Exit(NOT_AS_EXPECTED if failed else AS_EXPECTED)


def _write_json(path: Path, reports: list[CallReport]) -> None:
    """One call is written as it is; several under `calls`, with the figures over all of them."""
    from dataclasses import asdict

    data: dict[str, Any]
    if len(reports) == 1:
        data = reports[0].to_dict()
    else:
        turns = [turn for report in reports for turn in report.turns]
        calls = [report.to_dict() for report in reports]
        data = {"calls": calls, "summary": asdict(summarise(turns))}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int | None:
    """The command line; exits with the status that `call` describes."""
    typer.run(call)
    return None


if __name__ == "__main__":
    main()
