"""The hotel that the agent answers for, read from a data file.

Nothing about a hotel stands anywhere else: another hotel is another file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

HOTELS = Path(__file__).parent.parent / "hotels"
DEFAULT_HOTEL = "harbour-view"
DEFAULT_REFERENCE_PATTERN = "(?=.*[A-Z])(?=.*[0-9])[A-Z0-9]{6}"

RoomType = Literal["single", "double", "twin", "suite", "family"]
_Text = Annotated[str, Field(min_length=1)]


class DateOrder(StrEnum):
    """Which number of "10/11" is the month."""

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


@dataclass(frozen=True)
class Hotel:
    """A hotel: its name, what can be booked there, and what may be said about it.

    Attributes:
        name: as it is spoken.
        room_types: for each room type on offer (its id), the words that callers use for it, in
            lower case, the id's own among them.
        reference_pattern: matches a whole booking reference in capitals and digits.
        date_order: how dates in numbers are read.
        max_nights: the longest stay, in nights.
        max_guests: the most guests of one request.
        facts: plain sentences; all that may be said about the hotel.
        phone: the front desk's number.
    """

    name: str
    room_types: dict[str, tuple[str, ...]]
    reference_pattern: re.Pattern[str]
    date_order: DateOrder
    max_nights: int
    max_guests: int
    facts: tuple[str, ...]
    phone: str

    def is_reference(self, text: str) -> bool:
        return self.reference_pattern.fullmatch(text) is not None


class HotelFileError(ValueError):
    """A hotel's file is missing or not as it should be; the message says what to do."""


class _HotelFile(BaseModel):
    """The file as it is written."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: _Text
    phone: _Text
    date_order: Literal["day-first", "month-first"] = "day-first"
    max_nights: Annotated[int, Field(ge=1, le=365)]
    max_guests: Annotated[int, Field(ge=1, le=99)]
    reference_pattern: str = DEFAULT_REFERENCE_PATTERN
    room_types: Annotated[dict[RoomType, list[_Text]], Field(min_length=1)]
    facts: list[_Text]

    @field_validator("reference_pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from error
        return pattern

    @field_validator("room_types")
    @classmethod
    def _lower_case_and_apart(
        cls, room_types: dict[RoomType, list[str]]
    ) -> dict[RoomType, list[str]]:
        owner: dict[str, str] = {}
        for room_type, synonyms in room_types.items():
            for synonym in synonyms:
                if synonym != synonym.lower():
                    raise ValueError(f"write {synonym!r} in lower case")
                if owner.setdefault(synonym, room_type) != room_type:
                    raise ValueError(f"{synonym!r} is both {owner[synonym]} and {room_type}")
        return room_types


def load_hotel(name_or_path: str | Path = DEFAULT_HOTEL, name_override: str | None = None) -> Hotel:
    """Read a hotel's file.

    Args:
        name_or_path: a file's path, or the name of one of the hotels that come with the agent
            ("harbour-view").
        name_override: a name to use in place of the file's.

    Raises:
        HotelFileError: there is no such file, or it is not as it should be.
    """
    path = _find(str(name_or_path))
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        file = _HotelFile.model_validate(data)
    except (OSError, UnicodeDecodeError) as error:
        raise HotelFileError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise HotelFileError(f"{path}: expected YAML; {error}") from error
    except ValidationError as error:
        raise HotelFileError(f"{path}: {_explain(error)}") from error
    hotel = Hotel(
        name=file.name,
        room_types={
            room_type: tuple(dict.fromkeys([room_type, *synonyms]))
            for room_type, synonyms in file.room_types.items()
        },
        reference_pattern=re.compile(file.reference_pattern),
        date_order=DateOrder(file.date_order),
        max_nights=file.max_nights,
        max_guests=file.max_guests,
        facts=tuple(file.facts),
        phone=file.phone,
    )
    return replace(hotel, name=name_override) if name_override else hotel


def _find(name_or_path: str) -> Path:
    path = Path(name_or_path).expanduser()
    if path.is_file():
        return path
    bundled = HOTELS / f"{name_or_path}.yaml"
    if bundled.is_file():
        return bundled
    names = ", ".join(sorted(file.stem for file in HOTELS.glob("*.yaml")))
    raise HotelFileError(
        f"HOTEL: expected the path of a hotel's YAML file or one of: {names}; "
        f"got {name_or_path!r}, which is neither"
    )


def _explain(error: ValidationError) -> str:
    """Each thing that is wrong with the file, with its place and what is there."""
    lines = []
    for detail in error.errors():
        place = ".".join(str(part) for part in detail["loc"]) or "the file"
        came = "" if detail["type"] == "missing" else f" (got {detail['input']!r})"
        lines.append(f"{place}: {detail['msg']}{came}")
    return "; ".join(lines)
