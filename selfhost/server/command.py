"""`python -m selfhost server`: the model server as a process."""

from __future__ import annotations

import ipaddress
import logging
from typing import Annotated

import typer
import uvicorn

from selfhost.errors import SetupError, told_plainly

MODEL_FOLDERS = {"piper": "piper-joe"}


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
    # Imported here: asking for help must not load the model libraries.
    from selfhost import models
    from selfhost.server.app import create_app
    from selfhost.server.settings import ServerSettings

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    settings = ServerSettings()
    if not _is_loopback(host) and settings.api_key is None:
        raise SetupError(
            f"Listening on {host} would let anyone use the models. Set MODEL_SERVER_API_KEY, or "
            "listen on 127.0.0.1."
        )
    for name in (settings.transcription_model, settings.speech_model):
        models.path(MODEL_FOLDERS.get(name, name))

    failure: list[str] = []

    def on_failure(reason: str) -> None:
        failure.append(reason)
        server.should_exit = True

    app = create_app(settings, models.path, on_failure)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", ws="websockets-sansio")
    server = uvicorn.Server(config)
    server.run()
    if failure:
        raise SetupError(f"The model server ended: {failure[0]}")
    if not server.started:
        raise SetupError(f"The model server could not listen on {host} port {port}.")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def main() -> None:
    typer.run(serve)
