"""The room server's configuration, and where the program is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from selfhost import room_server
from selfhost.errors import SetupError


def test_loopback_means_loopback_for_every_port() -> None:
    made = room_server.configuration("127.0.0.1", 7880, "key", "secret")
    assert made["bind_addresses"] == ["127.0.0.1"]
    assert made["rtc"]["node_ip"] == "127.0.0.1"
    assert made["rtc"]["ips"] == {"includes": ["127.0.0.1/32"]}
    assert made["rtc"]["tcp_port"] == 0  # it cannot be bound to one address
    assert made["keys"] == {"key": "secret"}


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "192.0.2.7"])
def test_clients_are_never_sent_to_a_public_stun_server(host: str) -> None:
    rtc = room_server.configuration(host, 7880, "key", "secret")["rtc"]
    assert rtc["use_external_ip"] is False
    assert [server.split(":")[0] for server in rtc["stun_servers"]] == ["127.0.0.1"]


def test_two_room_servers_side_by_side_share_no_port() -> None:
    first, second = room_server.ports(7880), room_server.ports(7890)
    assert not set(first.values()) & set(second.values())


def test_other_machines_may_reach_media_over_tcp_where_they_are_let_in() -> None:
    rtc = room_server.configuration("0.0.0.0", 7880, "key", "secret")["rtc"]
    assert rtc["tcp_port"] == 7881
    assert "node_ip" not in rtc  # the room server finds the machine's own address


def program(folder: Path, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "livekit-server"
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_a_room_server_on_path_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = program(tmp_path / "bin", "livekit-server version 1.9.4")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert room_server.find() == expected


def test_one_that_is_too_old_or_does_not_run_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTEL_VOICE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    program(tmp_path / "bin", "livekit-server version 0.15.0")
    assert room_server.find() is None
    program(tmp_path / "bin", "not built for this machine")
    assert room_server.find() is None


def test_none_at_all_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTEL_VOICE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(SetupError, match="python -m selfhost models room-server"):
        room_server.path()
