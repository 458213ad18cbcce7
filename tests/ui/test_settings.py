"""The page's settings: local by default, and a plain sentence where they cannot work."""

from __future__ import annotations

from pathlib import Path

import pytest

from ui.settings import BadSettings, Settings

NAMES = ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET", "LIVEKIT_PORT", "HOTEL_NAME")


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_with_nothing_set_the_local_room_server_is_used() -> None:
    settings = Settings.load()
    assert settings.room_url == "ws://127.0.0.1:7880"
    assert (settings.room_key, settings.room_secret) == ("devkey", "secret")
    assert settings.is_local
    assert settings.hotel_name == "Harbour View Hotel"


def test_the_environment_file_is_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HOTEL_NAME=Lakeside Inn\nLIVEKIT_PORT=7990\nLIVEKIT_URL=\n")
    settings = Settings.load()
    assert settings.hotel_name == "Lakeside Inn"
    assert settings.room_url == "ws://127.0.0.1:7990"


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"LIVEKIT_URL": "wss://rooms.example"}, "LIVEKIT_API_KEY"),
        ({"LIVEKIT_URL": "rooms.example"}, "LIVEKIT_URL"),
        ({"LIVEKIT_API_KEY": "key-of-a-hotel"}, "LIVEKIT_API_SECRET"),
        ({"LIVEKIT_PORT": "many"}, "LIVEKIT_PORT"),
    ],
)
def test_settings_that_cannot_work_are_named_without_their_values(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], named: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings) as error:
        Settings.load()
    assert named in str(error.value)
    assert "key-of-a-hotel" not in str(error.value)
