"""A small part for the supervisor's tests: answers on a port, and misbehaves where it is told to.

Usage: child.py PORT [--slow SECONDS] [--dies] [--stubborn] [--escaping FILE] [--says TEXT]
       [--health FILE]
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

LATE_S = 0.3


class Handler(BaseHTTPRequestHandler):
    health: Path | None = None

    def do_GET(self) -> None:
        """/ and /health say what is wrong, if anything is; /late and /alive are always well."""
        if self.path == "/late":
            time.sleep(LATE_S)
        complains = self.path in ("/", "/health") and self.health is not None
        wrong = self.health.read_text() if complains and self.health.exists() else ""
        self.send_response(503 if wrong else 200)
        self.end_headers()
        self.wfile.write(wrong.encode())

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--slow", type=float, default=0.0, help="seconds until it listens")
    parser.add_argument("--dies", action="store_true", help="end at once, with status 3")
    parser.add_argument("--stubborn", action="store_true", help="ignore SIGTERM")
    parser.add_argument("--escaping", type=Path, help="leave a grandchild in a session of its own")
    parser.add_argument("--says", default="")
    parser.add_argument("--health", type=Path, help="what this file holds is wrong with it")
    arguments = parser.parse_args()
    if arguments.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Handler.health = arguments.health
    print(arguments.says, flush=True)
    if arguments.escaping:
        sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
        grandchild = subprocess.Popen(sleeper, start_new_session=True)
        arguments.escaping.write_text(str(grandchild.pid))
    if arguments.dies:
        sys.exit(3)
    time.sleep(arguments.slow)
    HTTPServer(("127.0.0.1", arguments.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
