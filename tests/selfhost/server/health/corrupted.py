"""Copies of the real models whose weights are partly no numbers, as bad memory leaves them."""

from __future__ import annotations

import shutil
from pathlib import Path

# Four bytes 0xff are not a number, wherever a 32-bit float begins.
NAN_BYTES = b"\xff" * 40_960


def corrupted_copy(folder: Path, to: Path, weights: str, at: float) -> Path:
    """A copy of a model's folder with a stretch of its weights overwritten.

    Args:
        weights: the file, as a glob pattern.
        at: where in the file, from 0 to 1.
    """
    shutil.copytree(folder, to)
    file = next(to.glob(weights))
    data = bytearray(file.read_bytes())
    begin = int(len(data) * at)
    data[begin : begin + len(NAN_BYTES)] = NAN_BYTES
    file.write_bytes(data)
    return to
