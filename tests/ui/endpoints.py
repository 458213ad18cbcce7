"""HTTP endpoints that answer as they are told, or not at all: what a part cannot be made to do."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def answering(answers: Mapping[str, tuple[int, str]]) -> Iterator[int]:
    """A server on this machine; gives its port. What it has no answer for is 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.get(self.path, (404, ""))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def hanging() -> Iterator[int]:
    """A port that takes every connection and never says a word; gives its number."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as server:
        yield server.getsockname()[1]
