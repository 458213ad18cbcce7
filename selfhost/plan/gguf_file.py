"""What a GGUF file says of its model: the key-value pairs at its head.

The format is llama.cpp's (docs/gguf.md of ggml, versions 2 and 3). Only the head is read, and long
arrays are skipped: the public reader makes an object of each of 150,000 tokens, which takes longer
than loading the model.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from selfhost.errors import SetupError

MAGIC = b"GGUF"
STRING, ARRAY = 8, 9
# By the format's type numbers; 8 and 9 are strings and arrays.
SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
LONGEST_STRING = 1 << 26


class _Malformed(Exception):
    pass


def metadata(path: Path) -> dict[str, Any]:
    """The pairs at the file's head; an array is kept as its length, a string or number as it is.

    Raises:
        SetupError: it is no GGUF file, or not a whole one.
    """
    try:
        with path.open("rb") as file:
            return _read(file)
    except (struct.error, _Malformed, UnicodeDecodeError) as error:
        raise SetupError(f"{path} is not a whole GGUF file: {error}") from None
    except OSError as error:
        raise SetupError(f"Could not read {path}: {error.strerror}.") from None


def _read(file: BinaryIO) -> dict[str, Any]:
    if (magic := file.read(4)) != MAGIC:
        raise _Malformed(f"it begins with {magic!r} where {MAGIC!r} was expected")
    version = _number(file, "<I")
    if version not in (2, 3):
        raise _Malformed(f"it has version {version}; known are 2 and 3")
    _number(file, "<Q")  # tensors
    pairs: dict[str, Any] = {}
    for _ in range(int(_number(file, "<Q"))):
        key = _string(file)
        pairs[key] = _value(file, int(_number(file, "<I")))
    return pairs


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind == ARRAY:
        of, count = int(_number(file, "<I")), int(_number(file, "<Q"))
        if of in SCALARS:
            file.seek(count * struct.calcsize(SCALARS[of]), 1)
        else:
            for _ in range(count):
                _skip(file, of)
        return count
    if kind not in SCALARS:
        raise _Malformed(f"a value of type {kind} is not known")
    return _number(file, SCALARS[kind])


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == STRING:
        file.seek(_length(file), 1)
    else:
        _value(file, kind)


def _string(file: BinaryIO) -> str:
    return file.read(_length(file)).decode("utf-8")


def _length(file: BinaryIO) -> int:
    length = int(_number(file, "<Q"))
    if length > LONGEST_STRING:
        raise _Malformed(f"a text of {length} bytes in its head")
    return length


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]
