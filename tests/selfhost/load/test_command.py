from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from selfhost.load.command import speech_endpoint
from selfhost.load.ears import audible_spans
from selfhost.load.recording import read_wav, write_wav
from selfhost.load.rooms import RoomServer, SettingError, room_server
from tests.selfhost.load.double import RATE, AgentDouble, Reply, tone

ROOT = Path(__file__).parents[3]
ROOM = "command-test"

CALL = """
name: example
turns:
  - audio: tone.wav
    answered_includes: [two]
expect:
  booking: {guests: GUESTS}
"""


def play(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "selfhost", "call", *arguments],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_wav(tmp_path / "tone.wav", tone(0.5).reshape(-1, 1), RATE)
    (tmp_path / "good.yaml").write_text(CALL.replace("GUESTS", "2"))
    (tmp_path / "bad.yaml").write_text(CALL.replace("GUESTS", "3"))
    return tmp_path


@pytest.fixture
def environment(rooms: RoomServer) -> dict[str, str]:
    return {
        "LIVEKIT_URL": rooms.url,
        "LIVEKIT_API_KEY": rooms.api_key,
        "LIVEKIT_API_SECRET": rooms.api_secret,
        "TTS_BASE_URL": "http://127.0.0.1:9/v1",
    }


@pytest.mark.parametrize(("file", "status"), [("good.yaml", 0), ("bad.yaml", 1)])
async def test_the_exit_status_says_whether_the_booking_came_out(
    rooms: RoomServer, folder: Path, environment: dict[str, str], file: str, status: int
) -> None:
    reply = Reply(0.5, 0.5, "For two guests.", {"guests": 2})
    room = f"{ROOM}-{status}"
    async with AgentDouble(rooms, room, [reply], greeting=Reply(0.2, 0.3, "Hello.")):
        options = ["--json", "out/call.json", "--wav", "out/call.wav", "--room", room]
        result = await asyncio.to_thread(play, folder, file, *options, **environment)
    assert result.returncode == status, result.stdout + result.stderr
    assert "Warning" not in result.stderr
    assert "For two guests." in result.stdout
    report = json.loads((folder / "out/call.json").read_text())
    (turn,) = report["turns"]
    assert turn["said"] == "[tone.wav]"
    assert turn["heard"] == "a tone"
    assert report["booking"] == {"guests": 2}
    assert report["expected"] == {"guests": 3 if status else 2}
    assert report["summary"]["gap_ms"]["n"] == 1
    # The figure can be had again from the recording alone.
    sound, rate = read_wav(folder / "out/call.wav")
    (said,) = audible_spans(sound[:, 0], rate)
    _, answer = audible_spans(sound[:, 1], rate)
    assert turn["gap_ms"] == pytest.approx((answer.start_s - said.end_s) * 1000, abs=0.1)


def test_no_room_server_is_one_line_and_status_2(folder: Path) -> None:
    result = play(folder, "good.yaml", LIVEKIT_URL="ws://127.0.0.1:9")
    assert result.returncode == 2
    assert "python -m selfhost up" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_bad_file_is_one_line_and_status_2_before_anything_is_called(folder: Path) -> None:
    (folder / "odd.yaml").write_text("{name: odd, turns: [{say: yes}]}")
    result = play(folder, "good.yaml", "odd.yaml", LIVEKIT_URL="ws://127.0.0.1:9")
    assert result.returncode == 2
    assert "odd.yaml: turns[0].say: expected text in quotes" in result.stderr


def test_the_local_room_server_is_the_default_and_others_need_keys() -> None:
    assert room_server({}) == RoomServer("ws://127.0.0.1:7880", "devkey", "secret")
    assert room_server({"LIVEKIT_PORT": "7990"}).url == "ws://127.0.0.1:7990"
    with pytest.raises(SettingError, match="LIVEKIT_API_KEY"):
        room_server({"LIVEKIT_URL": "wss://rooms.example.org"})
    with pytest.raises(SettingError, match="LIVEKIT_URL"):
        room_server({"LIVEKIT_URL": "127.0.0.1:7880"})


def test_the_model_servers_key_goes_to_the_model_server_only() -> None:
    key = {"MODEL_SERVER_API_KEY": "mine"}
    assert speech_endpoint(key) == ("http://127.0.0.1:8100/v1", "mine")
    elsewhere = {**key, "TTS_BASE_URL": "https://speech.example.org/v1"}
    assert speech_endpoint(elsewhere) == ("https://speech.example.org/v1", "")
