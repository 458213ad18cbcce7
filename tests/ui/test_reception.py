"""A caller is let in with a short-lived token for one room, or is told why not."""

from __future__ import annotations

import jwt

from selfhost.ports import free_port
from tests.ui.endpoints import hanging
from tests.ui.services import LONG_SECRET, RoomServer
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
