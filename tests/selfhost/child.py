"""A small part for the supervisor's tests: answers on a port, and misbehaves where it is told to.

Usage: child.py PORT [--slow SECONDS] [--dies] [--stubborn] [--escaping FILE] [--says TEXT]
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

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
    arguments = parser.parse_args()
    if arguments.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
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
