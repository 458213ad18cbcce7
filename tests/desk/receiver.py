"""A hotel's system: takes messages over HTTP and checks each one's signature."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook

SECRET = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq="


@dataclass
class Receiver:
    """What came, and what is answered: the next of `answers`, then 204."""

    url: str
    answers: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    receiver = Receiver("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.ids.append(self.headers["webhook-id"])
            # Raises, and so answers nothing, if the signature is wrong.
            message = Webhook(SECRET).verify(body, dict(self.headers))
            status = receiver.answers.pop(0) if receiver.answers else 204
            if status < 300:
                receiver.messages.append(message)
            self.send_response(status)
            if status == 307:
                self.send_header("location", f"{receiver.url}elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
