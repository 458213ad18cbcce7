"""Recordings are shown to whoever sits at the machine, and to others only when told to."""

from __future__ import annotations

import pytest

from ui.admission import Views, sees_all_views

HERE = {"Host": "127.0.0.1:8501"}


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "localhost", "[::1]:8501"])
def test_this_machine_sees_all_views(host: str) -> None:
    assert sees_all_views(Views.LOCAL, None, {"Host": host})


@pytest.mark.parametrize(
    ("remote_ip", "headers"),
    [
        ("192.168.1.20", {"Host": "hotel.example"}),
        ("192.168.1.20", HERE),
        # Through a proxy on this machine everybody comes from this machine.
        (None, {"Host": "hotel.example"}),
        (None, {**HERE, "X-Forwarded-For": "203.0.113.5"}),
        (None, {**HERE, "forwarded": "for=203.0.113.5"}),
        # A name of somebody else's that leads to this machine.
        (None, {"Host": "127.0.0.1.rebound.example:8501"}),
        (None, {}),
    ],
)
def test_everyone_else_sees_the_call_alone(remote_ip: str | None, headers: dict[str, str]) -> None:
    assert not sees_all_views(Views.LOCAL, remote_ip, headers)
    assert sees_all_views(Views.ALL, remote_ip, headers)


def test_the_views_can_be_closed_to_all() -> None:
    assert not sees_all_views(Views.CALL, None, HERE)
