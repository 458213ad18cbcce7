"""The calls that go on, for the browser: which there are, and each as a stream of its events.

A page that looks on holds one WebSocket, which costs it and this server next to nothing while
nothing happens; no run of Streamlit's script is needed to show what comes. (A response that never
ends would hold up the server's own end: it waits for responses, and closes WebSockets.)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import cache
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from ui.admission import sees_all_views
from ui.settings import LOOPBACK, BadSettings, PageSettings, Settings
from ui.watching import Watching

LOOK_S = 0.1
FORBIDDEN = 4403  # HTTP's 403, in the range that is free for applications


@cache
def watching() -> Watching | None:
    """One for all pages; None where the settings could not take a call."""
    try:
        return Watching(Settings.load())
    except BadSettings:
        return None


async def list_calls(request: Request) -> Response:
    """The calls that go on, as JSON: `[{"room": …, "began": …}]`."""
    if not _may_look_on(request):
        return Response(status_code=403)
    calls = watched.calls() if (watched := watching()) else []
    return JSONResponse([{"room": one.room, "began": one.began.isoformat()} for one in calls])


async def stream_call(socket: WebSocket) -> None:
    """One call from its beginning; see `_messages`."""
    watched = watching()
    if not _may_look_on(socket) or not _is_own_page(socket) or watched is None:
        await socket.close(FORBIDDEN)
        return
    await socket.accept()
    pushing = asyncio.create_task(_push(socket, watched))
    try:
        # A page says nothing: what comes from it is that it has gone.
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
    finally:
        pushing.cancel()


ROUTES = (Route("/live", list_calls), WebSocketRoute("/live/{room}", stream_call))


async def _push(socket: WebSocket, watched: Watching) -> None:
    async for message in _messages(watched, socket.path_params["room"]):
        await socket.send_text(message)
    await socket.close()


async def _messages(watched: Watching, room: str) -> AsyncIterator[str]:
    """What is new, as soon as there is anything; ends with the call.

    Each message is JSON: `{"legs": [[event, …], …], "is_over": bool, "problem": text or null}`,
    where the n-th list has what the n-th agent told since the message before.
    """
    sent: list[int] = []
    before = None
    await asyncio.to_thread(watched.watch, room)
    while True:
        seen = watched.watch(room)
        if seen is not before:
            sent += [0] * (len(seen.legs) - len(sent))
            legs = ",".join(
                f"[{','.join(event.to_json() for event in leg[known:])}]"
                for leg, known in zip(seen.legs, sent, strict=True)
            )
            is_over, problem = json.dumps(seen.is_over), json.dumps(seen.problem)
            yield f'{{"legs":[{legs}],"is_over":{is_over},"problem":{problem}}}'
            sent = [len(leg) for leg in seen.legs]
            before = seen
        if seen.is_over:
            return
        await asyncio.sleep(LOOK_S)


def _may_look_on(asked: HTTPConnection) -> bool:
    """The rule of the views: a call that goes on says as much as its recording will."""
    host = asked.client.host if asked.client else ""
    remote_ip = None if host in LOOPBACK else host
    return sees_all_views(PageSettings.load().page_views, remote_ip, asked.headers)


def _is_own_page(socket: WebSocket) -> bool:
    """Whether a page of this server asks: browsers let pages of others open WebSockets, too."""
    origin = socket.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == socket.headers.get("host")
