"""The real models with weights that are partly no numbers, as bad memory leaves them: in a copy of
their files, or in the memory of the process that has them loaded."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FLOAT = 1  # the data type in an ONNX tensor
GRAPH, INITIALIZER, DATA_TYPE, RAW_DATA = 7, 5, 2, 9  # fields of ONNX's messages


@dataclass(frozen=True)
class Stretch:
    """Bytes of a file; a 32-bit float begins at the first of them."""

    offset: int
    size: int


def stretches(file: Path, at: Sequence[float], size: int = 40_960) -> list[Stretch]:
    """Stretches that begin at these shares of a file, from 0 to 1.

    Four bytes 0xff are not a number wherever they lie in a row of floats.
    """
    return [Stretch(int(file.stat().st_size * share), size) for share in at]


def float_weights(file: Path, min_bytes: int = 1_024) -> list[Stretch]:
    """Where an ONNX file has its weights in 32-bit floats; in a quantised model these are few."""
    data = file.read_bytes()
    found = []
    for graph in _fields(data, 0, len(data)):
        if graph.number != GRAPH:
            continue
        for tensor in _fields(data, graph.begin, graph.end):
            if tensor.number != INITIALIZER:
                continue
            fields = {one.number: one for one in _fields(data, tensor.begin, tensor.end)}
            raw = fields.get(RAW_DATA)
            if raw and fields[DATA_TYPE].value == FLOAT and raw.end - raw.begin >= min_bytes:
                found.append(Stretch(raw.begin, raw.end - raw.begin))
    return found


def corrupted_copy(folder: Path, to: Path, weights: str, where: Sequence[Stretch]) -> Path:
    """A copy of a model's folder with stretches of the file `weights` overwritten."""
    shutil.copytree(folder, to)
    data = bytearray((to / weights).read_bytes())
    for stretch in where:
        data[stretch.offset : stretch.offset + stretch.size] = b"\xff" * stretch.size
    (to / weights).write_bytes(data)
    return to


def corrupt_in_memory(file: Path, where: Sequence[Stretch]) -> int:
    """Overwrite weights of `file` where they lie in this process's memory. Linux only.

    Returns:
        How many copies of a stretch were overwritten.
    """
    contents = []
    with file.open("rb") as weights:
        for stretch in where:
            weights.seek(stretch.offset)
            contents.append(weights.read(stretch.size))
    hits = 0
    with Path("/proc/self/maps").open() as maps, open("/proc/self/mem", "r+b", 0) as memory:
        for line in maps.readlines():
            region = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw.. ", line)
            if region is None:
                continue
            begin, end = int(region[1], 16), int(region[2], 16)
            try:
                memory.seek(begin)
                found = memory.read(end - begin)
            except (OSError, ValueError):  # unmapped meanwhile, or the kernel's own
                continue
            for content in contents:
                offset = found.find(content)
                if offset >= 0:
                    memory.seek(begin + offset)
                    memory.write(b"\xff" * len(content))
                    hits += 1
    return hits


@dataclass(frozen=True)
class _Field:
    """A field of a protobuf message: its bytes are from `begin` to before `end` if it has a length;
    else `value` is what it holds."""

    number: int
    begin: int = 0
    end: int = 0
    value: int = 0


def _fields(data: bytes, begin: int, end: int) -> Iterator[_Field]:
    position = begin
    while position < end:
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, position = _varint(data, position)
            yield _Field(number, value=value)
        elif kind == 2:
            size, position = _varint(data, position)
            yield _Field(number, position, position + size)
            position += size
        else:
            position += 8 if kind == 1 else 4


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, position
