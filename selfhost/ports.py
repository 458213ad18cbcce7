"""Ports of this machine that nothing listens on, for servers that tests and benchmarks start."""

from __future__ import annotations

import socket

ROOM_SERVER_PORTS = 3  # signalling, and media over TCP and UDP at the next two


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def free_port() -> int:
    """A port that nothing listens on."""
    (port,) = free_ports(1)
    return port


def consecutive_free_ports(count: int) -> int:
    """The first of `count` neighbouring ports, free for TCP and UDP."""
    while True:
        first = free_port()
        if first + count < 65536 and all(
            _is_free(first + offset, kind)
            for offset in range(count)
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
        ):
            return first


def _is_free(port: int, kind: socket.SocketKind) -> bool:
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
