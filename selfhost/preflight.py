"""What must hold before anything is started; each check that fails is one message."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import psutil

from selfhost.errors import SetupError
from selfhost.parts import Part, Port

CGROUP = Path("/sys/fs/cgroup")


def problems(
    parts: Sequence[Part],
    host: str,
    *,
    available_bytes: int,
    owner: Callable[[Port], str | None],
    require_model: Callable[[str], object],
) -> list[str]:
    """Everything that would stop these parts from working.

    Args:
        parts: what is about to be started.
        host: the address that they will listen on.
        available_bytes: memory that is free to take.
        owner: who holds a port, for people; None if that cannot be seen.
        require_model: raises SetupError if the model with this name is not there.
    """
    return [
        *_port_problems(parts, host, owner),
        *_model_problems(parts, require_model),
        *_memory_problems(parts, available_bytes),
    ]


def _port_problems(
    parts: Sequence[Part], host: str, owner: Callable[[Port], str | None]
) -> Iterable[str]:
    taken_by: dict[tuple[int, str], str] = {}
    for part in parts:
        for port in part.ports:
            key = (port.number, port.protocol)
            if key in taken_by:
                yield (
                    f"Port {port.number} is meant for both {taken_by[key]} and {part.name}. "
                    f"Set {port.variable} to another port."
                )
                continue
            taken_by[key] = part.name
            if not is_free(host, port):
                by = owner(port)
                yield (
                    f"Port {port.number} ({port.protocol}), which {part.name} needs, is in use"
                    + (f" by {by}" if by else "")
                    + f". End that process, or set {port.variable} to another port."
                )


def _model_problems(parts: Sequence[Part], require_model: Callable[[str], object]) -> Iterable[str]:
    for part in parts:
        for model in part.models:
            try:
                require_model(model)
            except SetupError as error:
                yield f"{part.name}: {error}"


def _memory_problems(parts: Sequence[Part], available_bytes: int) -> Iterable[str]:
    needed = sum(part.memory_bytes for part in parts)
    if needed > available_bytes:
        each = ", ".join(f"{part.name} {part.memory_bytes / 1e9:.1f}" for part in parts)
        yield (
            f"Too little memory: about {needed / 1e9:.1f} GB are needed ({each}), and "
            f"{available_bytes / 1e9:.1f} GB are free. End other programs, or start fewer parts "
            "with --only."
        )


def is_free(host: str, port: Port) -> bool:
    """Whether a part could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    kind = socket.SOCK_STREAM if port.protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(family, kind) as probe:
        if port.protocol == "tcp":
            # As servers do it: a port whose last connections are still closing is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port.number))
        except OSError:
            return False
    return True


def owner(port: Port) -> str | None:
    """The process that holds a port, as "name (pid)"; None if it cannot be seen from here."""
    try:
        connections = psutil.net_connections(kind=port.protocol)
    except psutil.Error:
        return None
    for connection in connections:
        listens = port.protocol == "udp" or connection.status == psutil.CONN_LISTEN
        if connection.laddr and connection.laddr.port == port.number and listens:
            try:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
            except (psutil.Error, TypeError):
                return None
    return None


def available_bytes(cgroup: Path = CGROUP) -> int:
    """Memory that new processes can take: the machine's, or less inside a limited container."""
    free = psutil.virtual_memory().available
    try:
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
        statistics = dict(
            line.split() for line in (cgroup / "memory.stat").read_text().splitlines()
        )
        reclaimable = int(statistics.get("inactive_file", 0))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return free
    return min(free, max(0, limit - used + reclaimable))
