"""The caller's token."""

from __future__ import annotations

from livekit import api

from selfhost.load.rooms import room_server

ADDRESS = {"LIVEKIT_URL": "ws://127.0.0.1:7880"}


def asked_for(environment: dict[str, str]) -> list[str]:
    """The agents that a token made with these settings asks for."""
    token = room_server(environment).token("a-room")
    claims = api.TokenVerifier("devkey", "secret").verify(token)
    return [agent.agent_name for agent in claims.room_config.agents] if claims.room_config else []


def test_a_worker_with_a_name_is_asked_for_by_it() -> None:
    assert asked_for({**ADDRESS, "LIVEKIT_AGENT_NAME": "front-desk"}) == ["front-desk"]


def test_any_other_worker_takes_the_call_unasked() -> None:
    assert asked_for(ADDRESS) == []
