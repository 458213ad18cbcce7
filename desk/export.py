"""Requests as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from desk.requests import Kept

# A spreadsheet computes what begins so; a caller's words are not to be computed.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NOT_VALUES = ("history", "confirmed")


def to_csv(requests: Sequence[Kept]) -> str:
    """One line a request: its number, status, call and times, then each value by its name.

    What is unknown is an empty cell. A text that a spreadsheet would take for a formula is led by
    an apostrophe (OWASP, "CSV Injection").
    """
    values = list(dict.fromkeys(name for kept in requests for name in kept.request))
    values = [name for name in values if name not in _NOT_VALUES]
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\r\n")
    writer.writerow(["number", "status", "call_id", "created_at", "updated_at", *values])
    for kept in requests:
        writer.writerow(
            [
                kept.number,
                kept.status.value,
                kept.call_id,
                kept.created_at.isoformat(timespec="seconds"),
                kept.updated_at.isoformat(timespec="seconds"),
                *(_cell(kept.request.get(name)) for name in values),
            ]
        )
    return table.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
