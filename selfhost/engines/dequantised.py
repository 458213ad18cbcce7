"""A quantised model's weights as plain bfloat16, which is what vLLM reads on a CPU: made once.

The packages that models arrive in hold GGUF files, which llama.cpp reads as they are.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from filelock import FileLock
from rich.console import Console

from selfhost import models
from selfhost.catalogue import CATALOGUE
from selfhost.engines import environment
from selfhost.errors import SetupError
from selfhost.folders import cache_root

SCRIPT = Path(__file__).with_name("dequantise.py")
MARKER = ".made.json"
SUFFIX = "-bf16"


def folder(name: str) -> Path:
    """Where the copy of the catalogue's model `name` is, or would be."""
    return cache_root() / "models" / f"{name}{SUFFIX}"


def find(name: str) -> Path | None:
    """The copy, if it is whole and was made from these weights by these versions."""
    target = folder(name)
    try:
        made = json.loads((target / MARKER).read_text())
    except (OSError, ValueError):
        return None
    return target if made == _made_from(name) else None


def require(name: str) -> Path:
    """The copy.

    Raises:
        SetupError: it was not made yet; says how to.
    """
    found = find(name)
    if found is None:
        raise SetupError(
            f"{name} is not there in the form that vLLM reads on a CPU. Make it: "
            f"{environment.INSTALL_COMMAND}"
        )
    return found


def ensure(name: str, console: Console | None = None) -> Path:
    """The copy, made first if it is missing; the engine and the weights are fetched if need be.

    Raises:
        SetupError: as `environment.ensure` and `models.ensure` do, or the weights could not be
            converted.
    """
    if (found := find(name)) is not None:
        return found
    console = console or Console(stderr=True)
    engine = environment.ensure(console=console)
    models.ensure(name)
    weights = models.weights(name)
    target = folder(name)
    locks = cache_root() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with FileLock(locks / f"{target.name}.lock"):
        if (found := find(name)) is not None:
            return found
        console.print(f"{target.name}: writing {name} as bfloat16, about a minute")
        arriving = target.with_name(f".{target.name}.arriving")
        shutil.rmtree(arriving, ignore_errors=True)
        run = subprocess.run(
            [str(engine.python), str(SCRIPT), str(weights), str(arriving)],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode != 0:
            shutil.rmtree(arriving, ignore_errors=True)
            raise SetupError(
                f"{weights} could not be written as bfloat16:\n{run.stderr.strip()[-2000:]}"
            )
        (arriving / MARKER).write_text(json.dumps(_made_from(name)))
        shutil.rmtree(target, ignore_errors=True)
        arriving.rename(target)
    return target


def _made_from(name: str) -> dict[str, str]:
    return {
        "source_sha256": CATALOGUE[name].files[0].sha256,
        "engine": f"{environment.NAME} {environment.VERSION}",
        "script_sha256": hashlib.sha256(SCRIPT.read_bytes()).hexdigest(),
    }
