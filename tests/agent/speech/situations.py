"""What is known in the situations of grounds.yaml, and the sentences said in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from agent.booking.request import BookingRequest, Change, Field
from agent.speech.grounds import Grounds

_FOLDER = Path(__file__).parent


def _load(name: str) -> Any:
    return yaml.safe_load((_FOLDER / name).read_text(encoding="utf-8"))


def _grounds() -> dict[str, Grounds]:
    data = _load("grounds.yaml")
    situations = {}
    for name, values in data["situations"].items():
        heard = values.pop("heard", {})
        changes = tuple(
            Change(Field(part), value, words=heard.get(part, str(value)), turn=1)
            for part, value in values.items()
        )
        request = BookingRequest().with_changes(changes)
        situations[name] = Grounds(
            request=request,
            today=data["today"],
            facts=tuple(data["facts"]),
            hotel_names=tuple(data["hotel_names"]),
            room_types={key: tuple(words) for key, words in data["room_types"].items()},
            known=frozenset(part for part in Field if request.get(part) is not None),
            instructions=data["instructions"],
        )
    return situations


GROUNDS = _grounds()

# (situation, sentence)
MAY_BE_SAID: list[tuple[str, str]] = [
    (situation, sentence)
    for situation, said in _load("may_be_said.yaml").items()
    for sentence in said
]
# (situation, reason, sentence)
MUST_NOT_BE_SAID: list[tuple[str, str, str]] = [
    (situation, reason, sentence)
    for situation, reasons in _load("must_not_be_said.yaml").items()
    for reason, said in reasons.items()
    for sentence in said
]
