"""A caller is let in with a short-lived token for one room, or is told why not."""

from __future__ import annotations

from datetime import timedelta

import httpx
import jwt
import pytest
from livekit import api, rtc

from selfhost.ports import free_port
from tests.ui.endpoints import hanging
from tests.ui.services import LONG_SECRET, RoomServer
from ui import reception
from ui.reception import TOKEN_TTL, Pass, Problem, admit, sign_token
from ui.settings import Settings


def settings_for(rooms: RoomServer, **more: object) -> Settings:
    return Settings.model_validate(
        {
            "livekit_url": rooms.url,
            "livekit_api_key": rooms.key,
            "livekit_api_secret": rooms.secret,
            "worker_port": free_port(),
            **more,
        }
    )


def claims(token: str, secret: str = LONG_SECRET) -> dict[str, object]:
    decoded: dict[str, object] = jwt.decode(token, secret, algorithms=["HS256"])
    return decoded


SOMEWHERE = RoomServer("ws://127.0.0.1:1", "devkey", LONG_SECRET)


def test_a_token_grants_what_a_caller_needs_and_no_more() -> None:
    video = claims(sign_token(settings_for(SOMEWHERE)))["video"]
    assert isinstance(video, dict)
    room = video.pop("room")
    assert str(room).startswith("call-")
    assert {name: value for name, value in video.items() if value} == {
        "roomJoin": True,
        "canPublish": True,
        "canPublishSources": ["microphone"],
        "canSubscribe": True,
        "canPublishData": True,
    }


async def test_a_token_opens_its_own_room_to_a_caller_and_nothing_else(rooms: RoomServer) -> None:
    token = sign_token(settings_for(rooms))
    caller = rtc.Room()
    await caller.connect(rooms.url, token)
    try:
        assert caller.name == claims(token)["video"]["room"]  # type: ignore[index]
        # An agent says by attributes what it does; a caller cannot say anything of itself.
        await caller.local_participant.set_attributes({"lk.agent.state": "speaking"})
        async with api.LiveKitAPI(rooms.url, rooms.key, rooms.secret) as server:
            listed = await server.room.list_participants(
                api.ListParticipantsRequest(room=caller.name)
            )
        (me,) = listed.participants
        assert not me.attributes
        # What a page believes is a participant of kind agent; no data of this one is.
        assert me.kind == api.ParticipantInfo.Kind.STANDARD
        assert not me.permission.agent
        assert not me.permission.hidden
    finally:
        await caller.disconnect()
    # Nor may it ask the room server for anything.
    async with httpx.AsyncClient(trust_env=False) as client:
        for method in ("ListRooms", "DeleteRoom", "SendData"):
            answer = await client.post(
                f"{rooms.url.replace('ws', 'http', 1)}/twirp/livekit.RoomService/{method}",
                headers={"Authorization": f"Bearer {token}"},
                json={"room": caller.name},
            )
            assert answer.status_code in (401, 403), method


async def test_a_token_is_of_no_use_once_its_minutes_are_over(
    rooms: RoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reception, "TOKEN_TTL", timedelta(minutes=-2))
    stale = sign_token(settings_for(rooms))
    with pytest.raises(rtc.ConnectError):
        await rtc.Room().connect(rooms.url, stale, rtc.RoomOptions(connect_timeout=5))


def test_a_token_lives_minutes() -> None:
    token = claims(sign_token(settings_for(SOMEWHERE)))
    lifetime_s = int(str(token["exp"])) - int(str(token["nbf"]))
    assert lifetime_s == TOKEN_TTL.total_seconds() <= 5 * 60


def test_each_call_has_a_room_and_a_caller_of_its_own() -> None:
    settings = settings_for(SOMEWHERE)
    tokens = [claims(sign_token(settings)) for _ in range(20)]
    assert len({token["video"]["room"] for token in tokens}) == 20  # type: ignore[index]
    assert len({token["sub"] for token in tokens}) == 20


def test_a_worker_with_a_name_is_asked_for_by_it() -> None:
    token = claims(sign_token(settings_for(SOMEWHERE, livekit_agent_name="front-desk")))
    assert token["roomConfig"] == {"agents": [{"agentName": "front-desk"}]}
    assert "roomConfig" not in claims(sign_token(settings_for(SOMEWHERE)))


def test_a_room_server_that_is_down_is_told(unused_tcp_port: int) -> None:
    nowhere = f"ws://127.0.0.1:{unused_tcp_port}"
    settings = settings_for(RoomServer(nowhere, "devkey", LONG_SECRET))
    assert admit(settings) == Problem("room_server_unreachable", nowhere)


def test_a_room_server_that_hangs_is_told_in_time() -> None:
    with hanging() as port:
        nowhere = f"ws://127.0.0.1:{port}"
        settings = settings_for(RoomServer(nowhere, "devkey", LONG_SECRET))
        assert admit(settings) == Problem("room_server_unreachable", nowhere)


def test_a_key_that_the_room_server_refuses_is_told(rooms: RoomServer) -> None:
    settings = settings_for(rooms, livekit_api_secret="not-the-secret-of-this-room-server!")
    problem = admit(settings)
    assert problem == Problem("room_server_refuses_key", rooms.url)
    assert "secret" not in str(problem)


def test_a_worker_that_does_not_answer_is_known(rooms: RoomServer) -> None:
    answer = admit(settings_for(rooms))
    assert isinstance(answer, Pass)
    assert answer.worker_ready is False
