"""Models of real architectures with small random weights, for those whose own cannot be had here.

A script makes them with torch and transformers, which this project's environment lacks and the
engines' has. It is run with `script.py ARGUMENTS... FOLDER` and fills the folder; a script that has
not changed since is not run again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from filelock import FileLock

from selfhost.engines import environment
from selfhost.folders import cache_root

# What exporting to ONNX needs besides torch. What these need in turn is in the environment already.
PACKAGES = ("onnx==1.23.2", "onnxscript==0.7.2", "onnx-ir==1.1.0", "ml-dtypes==0.6.0")


def made_by(script: Path, *arguments: str, packages_too: tuple[str, ...] = ()) -> Path:
    """The folder that `script` fills.

    Args:
        packages_too: what it needs besides `PACKAGES`, without what these need in turn.
    """
    python = environment.ensure().python
    packages = _packages(python, (*PACKAGES, *packages_too))
    content = (script.read_bytes(), *(one.encode() for one in arguments), packages.name.encode())
    folder = cache_root() / "random-weights" / f"{script.stem}-{_digest(*content)}"
    with _sole(folder):
        if not folder.is_dir():
            arriving = folder.with_name(f"{folder.name}.arriving")
            shutil.rmtree(arriving, ignore_errors=True)
            arriving.mkdir(parents=True)
            _run([str(python), str(script), *arguments, str(arriving)], PYTHONPATH=str(packages))
            arriving.rename(folder)
    return folder


def _packages(python: Path, wanted: tuple[str, ...]) -> Path:
    named = (*(one.encode() for one in wanted), str(python).encode())
    folder = cache_root() / "tools" / f"random-weights-{_digest(*named)}"
    with _sole(folder):
        if not folder.is_dir():
            arriving = folder.with_name(f"{folder.name}.arriving")
            shutil.rmtree(arriving, ignore_errors=True)
            _run(
                [
                    *(str(environment.uv_program()), "pip", "install", "--quiet", "--no-deps"),
                    *("--python", str(python), "--target", str(arriving), *wanted),
                ],
                **environment.uv_environment(dict(os.environ)),
            )
            arriving.rename(folder)
    return folder


def _run(command: list[str], **settings: str) -> None:
    ran = subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{' '.join(command)} failed:\n{ran.stderr[-3000:]}"


def _sole(folder: Path) -> FileLock:
    folder.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(f"{folder}.lock")


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]
