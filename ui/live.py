"""The calls that go on, for the browser: which there are, and each as a stream of its events.

A page that looks on holds one open response, which costs it and this server next to nothing while
nothing happens; no run of Streamlit's script is needed to show what comes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import cache

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ui.admission import sees_all_views
from ui.settings import LOOPBACK, BadSettings, PageSettings, Settings
from ui.watching import Watched, Watching

LOOK_S = 0.1
PING_S = 15.0  # a proxy closes what is silent for long


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


async def stream_call(request: Request) -> Response:
    """One call from its beginning, as server-sent events; see `_messages`."""
    if not _may_look_on(request):
        return Response(status_code=403)
    watched = watching()
    if watched is None:
        return Response(status_code=404)
    return StreamingResponse(
        _messages(watched, request.path_params["room"]),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


ROUTES = (Route("/live", list_calls), Route("/live/{room}", stream_call))


async def _messages(watched: Watching, room: str) -> AsyncIterator[str]:
    """What is new, as soon as there is anything; ends with the call.

    Each message is JSON: `{"legs": [[event, …], …], "is_over": bool, "problem": text or null}`,
    where the n-th list has what the n-th agent told since the message before.
    """
    sent: list[int] = []
    silent_s = 0.0
    before = Watched(is_over=True)  # unlike anything that comes first
    while True:
        seen = watched.watch(room)
        if seen != before:
            sent += [0] * (len(seen.legs) - len(sent))
            legs = [
                [json.loads(event.to_json()) for event in leg[known:]]
                for leg, known in zip(seen.legs, sent, strict=True)
            ]
            told = {"legs": legs, "is_over": seen.is_over, "problem": seen.problem}
            yield f"data: {json.dumps(told, ensure_ascii=False)}\n\n"
            sent = [len(leg) for leg in seen.legs]
            before, silent_s = seen, 0.0
        if seen.is_over:
            return
        if silent_s >= PING_S:
            yield ": still here\n\n"
            silent_s = 0.0
        await asyncio.sleep(LOOK_S)
        silent_s += LOOK_S


def _may_look_on(request: Request) -> bool:
    """The rule of the views: a call that goes on says as much as its recording will."""
    host = request.client.host if request.client else ""
    remote_ip = None if host in LOOPBACK else host
    return sees_all_views(PageSettings.load().page_views, remote_ip, request.headers)
