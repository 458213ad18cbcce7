"""`python -m selfhost server`: the model server as a process."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import threading
from typing import Annotated

import typer
import uvicorn

from selfhost import command_line
from selfhost.errors import SetupError, told_plainly

MAX_END_S = 20.0
MODEL_FOLDERS = {
    "piper": "piper-joe",
    "kokoro": "kokoro-82m",
    "kokoro-fp32": "kokoro-82m-fp32",
}


@told_plainly
def serve(
    host: Annotated[str, typer.Option(envvar="SELFHOST_HOST", help="Address to listen on.")] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int, typer.Option(envvar="MODEL_SERVER_PORT", help="Port to listen on.")
    ] = 8100,
) -> None:
    """Serve speech to text and speech over OpenAI's endpoints."""
    # The spectrogram's small matrices gain nothing from numpy's own threads, which spin between the
    # products and take the cores from the models. Read when numpy is imported, so set before.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    # Imported here: asking for help must not load the model libraries.
    from selfhost import hub_models, models
    from selfhost.catalogue import CATALOGUE
    from selfhost.server.app import create_app
    from selfhost.server.settings import ServerSettings

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of every look at an engine
    settings = ServerSettings()
    if not _is_loopback(host) and settings.api_key is None:
        raise SetupError(
            f"Listening on {host} would let anyone use the models. Set MODEL_SERVER_API_KEY, or "
            "listen on 127.0.0.1."
        )
    listener = _listen(host, port)
    for name in settings.preloaded:
        model = MODEL_FOLDERS.get(name, name)
        if model in CATALOGUE or hub_models.known(model) is not None:
            models.path(model)

    failure: list[str] = []

    def on_failure(reason: str) -> None:
        failure.append(reason)
        server.should_exit = True
        # A model that hangs must not keep the process from ending.
        last_resort = threading.Timer(MAX_END_S, os._exit, args=(1,))
        last_resort.daemon = True
        last_resort.start()

    app = create_app(settings, models.path, on_failure)
    config = uvicorn.Config(
        app,
        log_level="warning",
        ws="websockets-sansio",
        # Sound hardly compresses, and each chunk of it would cost the time of trying.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    server.run(sockets=[listener])
    if failure:
        raise SetupError(f"The model server ended: {failure[0]}")


def _listen(host: str, port: int) -> socket.socket:
    """
    Raises:
        SetupError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise SetupError(
            f"The model server cannot listen on {host} port {port}: {error.strerror}. End what "
            "uses it, or choose another with MODEL_SERVER_PORT."
        ) from None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def main() -> None:
    command_line.run(serve, "server")
