"""`python -m selfhost generate` as a child process of a test, and the engine behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from selfhost import descendants
from selfhost.engines import scrape
from selfhost.ports import free_port
from tests.stack import PROJECT

LONG = {
    "messages": [{"role": "user", "content": "Count from one to three hundred in words."}],
    "max_tokens": 900,
    "stream": True,
}


@dataclass(frozen=True)
class Generation:
    """A running front, and what can be seen of the engine behind it."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def client(self, timeout_s: float = 120.0) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=timeout_s, trust_env=False)

    def engine(self, name: str) -> psutil.Process:
        """The process below the front whose command line has `name` in it."""
        for process in psutil.Process(self.process.pid).children(recursive=True):
            words = _words(process)
            if name in words and "engines.bound" not in words:
                return process
        raise AssertionError(f"no process of the engine is {name!r}:\n{self.log.read_text()}")

    def metric(self, name: str) -> float:
        with self.client() as client:
            return scrape.value(scrape.samples(client.get("/metrics").text), name)

    def wait(self, what: Callable[[], bool], timeout_s: float, why: str) -> None:
        deadline = time.monotonic() + timeout_s
        while not what():
            assert self.process.poll() is None, f"it ended:\n{self.log.read_text()}"
            assert time.monotonic() < deadline, f"{why}:\n{self.log.read_text()[-6000:]}"
            time.sleep(0.2)

    def is_ready(self) -> bool:
        try:
            with self.client(5) as client:
                return client.get("/health").status_code == 200
        except httpx.HTTPError:
            return False

    def ask(self, words: str = "Say hello.", **fields: Any) -> httpx.Response:
        with self.client() as client:
            question = {
                "messages": [{"role": "user", "content": words}],
                "max_tokens": 6,
                "temperature": 0,
            }
            return client.post("/v1/chat/completions", json=question | fields)


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@contextmanager
def generating(
    folder: Path, *arguments: str, timeout_s: float = 120.0, **environment: str
) -> Iterator[Generation]:
    """Start it, wait until it is ready, and see that nothing of it is left afterwards."""
    port = free_port()
    log = folder / "generation.log"
    own = {name: value for name, value in os.environ.items() if name != descendants.MARK}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "selfhost", "generate", "--port", str(port), *arguments],
            cwd=PROJECT,
            env=own | environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    generation = Generation(f"http://127.0.0.1:{port}", process, log)
    below: list[psutil.Process] = []
    try:
        generation.wait(generation.is_ready, timeout_s, "it did not become ready")
        yield generation
        if process.poll() is None:
            below = psutil.Process(process.pid).children(recursive=True)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()  # its sentinel ends the rest
            process.wait()
    _, alive = psutil.wait_procs(below, timeout=5)
    assert not alive, f"left behind: {[_words(one) for one in alive]}"


def events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The events of a streamed answer."""
    for line in lines:
        if line.startswith("data:") and "[DONE]" not in line:
            yield json.loads(line.removeprefix("data:"))


def has_words(event: dict[str, Any]) -> bool:
    choices = event.get("choices") or [{}]
    return bool(choices[0].get("delta", {}).get("content"))
