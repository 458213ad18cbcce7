from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from agent.booking.hotel import DateOrder, HotelFileError, load_hotel

VALID = {
    "name": "Inn",
    "phone": "+1 555 0100",
    "max_nights": 5,
    "max_guests": 2,
    "room_types": {"double": ["double room"]},
    "facts": ["It is small."],
}


def _file(folder: Path, **changes: object) -> Path:
    path = folder / "inn.yaml"
    data = {key: value for key, value in {**VALID, **changes}.items() if value is not None}
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def test_the_default_hotel_loads_by_name() -> None:
    hotel = load_hotel()
    assert hotel.name == "Harbour View Hotel"
    assert set(hotel.room_types) == {"single", "double", "twin", "suite", "family"}
    assert hotel.facts


def test_a_file_is_another_hotel(tmp_path: Path) -> None:
    hotel = load_hotel(_file(tmp_path, date_order="month-first"))
    assert (hotel.name, hotel.max_nights, hotel.max_guests) == ("Inn", 5, 2)
    assert hotel.date_order is DateOrder.MONTH_FIRST
    assert hotel.room_types == {"double": ("double", "double room")}


def test_the_name_can_be_overridden() -> None:
    assert load_hotel("harbour-view", name_override="Seaside").name == "Seaside"


@pytest.mark.parametrize("reference", ["K74Q29", "A00000", "00000A"])
def test_the_default_reference_has_letters_and_digits(tmp_path: Path, reference: str) -> None:
    assert load_hotel(_file(tmp_path)).is_reference(reference)


@pytest.mark.parametrize("reference", ["K74Q2", "K74Q299", "ABCDEF", "123456", "k74q29", ""])
def test_the_default_reference_is_nothing_else(tmp_path: Path, reference: str) -> None:
    assert not load_hotel(_file(tmp_path)).is_reference(reference)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"max_nights": "many"}, "max_nights"),
        ({"max_guests": 0}, "max_guests"),
        ({"name": None}, "name: Field required"),
        ({"colour": "blue"}, "colour"),
        ({"room_types": {"castle": ["castle"]}}, "room_types.castle"),
        ({"room_types": {"double": ["big"], "suite": ["big"]}}, "'big' is both double and suite"),
        ({"room_types": {"double": ["Double"]}}, "lower case"),
        ({"reference_pattern": "["}, "not a regular expression"),
        ({"date_order": "year-first"}, "date_order"),
    ],
)
def test_a_wrong_file_is_told_with_its_place(
    tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    path = _file(tmp_path, **changes)
    with pytest.raises(HotelFileError) as error:
        load_hotel(path)
    assert told in str(error.value)
    assert str(path) in str(error.value)


def test_an_unknown_hotel_is_told_with_the_known_ones() -> None:
    with pytest.raises(HotelFileError, match=r"harbour-view.*'nowhere'"):
        load_hotel("nowhere")


@pytest.mark.parametrize("text", ["- just\n- a list\n", "name: [unclosed\n", ""])
def test_a_file_that_is_no_hotel_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HotelFileError, match=r"broken\.yaml"):
        load_hotel(path)
