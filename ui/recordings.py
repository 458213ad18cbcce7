"""The recordings of a folder: which there are and what each says, read once for all pages."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from agent.timeline.recording import SUFFIX, Recording, RecordingError, read
from ui.latency import Call, summarise


@dataclass(frozen=True)
class Listed:
    """One file of the folder: the call that it tells of, or why it tells of none."""

    name: str
    call: Call | None
    problem: str | None = None


@dataclass(frozen=True)
class _Stamp:
    mtime_ns: int
    size: int


class Library:
    """A folder of recordings, shared by all pages.

    What a file says is kept until the file changes, and one page at a time reads: however many are
    open, each file is read once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, tuple[_Stamp, Listed]] = {}
        self._reading = threading.Lock()

    def listed(self) -> list[Listed]:
        """Every recording, the newest first; none where there is no such folder."""
        with self._reading:
            files = self._files()
            for name, (path, stamp) in files.items():
                if name not in self._known or self._known[name][0] != stamp:
                    self._known[name] = (stamp, _look(path))
            for gone in self._known.keys() - files.keys():
                del self._known[gone]
            listed = [one for _, one in self._known.values()]
        return sorted(listed, key=lambda one: one.name, reverse=True)

    def open(self, name: str) -> Recording:
        """Read one recording.

        Args:
            name: a file's name, from whoever made the link. It is only compared with the names of
                the folder: no path is made of it.

        Raises:
            RecordingError: there is none of this name, or it is no recording.
        """
        found = self._files().get(name)
        if found is None:
            raise RecordingError("There is no recording of this name here (any more).")
        return _read(found[0])

    def _files(self) -> dict[str, tuple[Path, _Stamp]]:
        try:
            # A link may lead out of the folder.
            entries = [one for one in self.folder.iterdir() if not one.is_symlink()]
        except OSError:
            return {}
        files = {}
        for path in entries:
            try:
                if path.suffix == SUFFIX and path.is_file():
                    stat = path.stat()
                    files[path.name] = (path, _Stamp(stat.st_mtime_ns, stat.st_size))
            except OSError:  # gone since it was listed
                continue
        return files


def _look(path: Path) -> Listed:
    try:
        recording = _read(path)
    except RecordingError as error:
        return Listed(path.name, None, str(error))
    return Listed(path.name, summarise(path.name, recording.events, recording.problems))


def _read(path: Path) -> Recording:
    """Read a recording; what is wrong with it is said without the folder's path."""
    try:
        return read(path)
    except RecordingError as error:
        raise RecordingError(str(error).replace(str(path), path.name)) from None
