"""The folder of recordings: what is in it, read once, and nothing outside it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent.timeline.recording import RecordingError
from tests.ui.recorded_calls import booking_call
from ui import recordings
from ui.recordings import Library


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is read, in order."""
    read: list[Path] = []
    original = recordings.read

    def noted(path: Path) -> recordings.Recording:
        read.append(path)
        return original(path)

    monkeypatch.setattr(recordings, "read", noted)
    return read


def test_fifty_pages_at_once_read_each_file_once(tmp_path: Path, reads: list[Path]) -> None:
    for number in range(3):
        booking_call(tmp_path, f"RM_{number}")
    library = Library(tmp_path)
    pages = [threading.Thread(target=library.listed) for _ in range(50)]
    for page in pages:
        page.start()
    for page in pages:
        page.join()
    assert len(reads) == 3


def test_only_a_file_that_changed_is_read_again(tmp_path: Path, reads: list[Path]) -> None:
    going_on, over = booking_call(tmp_path, "RM_a"), booking_call(tmp_path, "RM_b")
    library = Library(tmp_path)
    library.listed()
    with going_on.open("a") as file:
        file.write('{"v": 1}\n')
    listed = {one.name: one for one in library.listed()}
    assert reads.count(going_on) == 2
    assert reads.count(over) == 1
    call = listed[going_on.name].call
    assert call is not None
    assert len(call.problems) == 1
    over.unlink()
    assert [one.name for one in library.listed()] == [going_on.name]


def test_a_file_that_is_no_recording_is_listed_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text("hello\n")
    (listed,) = Library(tmp_path).listed()
    assert listed.call is None
    assert "expected a recording" in str(listed.problem)
    assert str(tmp_path) not in str(listed.problem)


def test_no_folder_is_an_empty_one(tmp_path: Path) -> None:
    assert Library(tmp_path / "none").listed() == []


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    inside = booking_call(folder)
    outside = booking_call(tmp_path / "elsewhere")
    (folder / "link.jsonl").symlink_to(outside)
    library = Library(folder)
    assert library.open(inside.name).events
    for name in (
        f"../elsewhere/{outside.name}",
        str(outside),
        "link.jsonl",
        f"./{inside.name}",
        "..",
        "",
        "a\0b",
    ):
        with pytest.raises(RecordingError):
            library.open(name)
    assert [one.name for one in library.listed()] == [inside.name]
