"""GLiNER without torch, held to what its own library finds with the same small random weights."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selfhost import models
from selfhost.errors import SetupError
from selfhost.server.extraction.entries import GLINER, entries
from selfhost.server.extraction.gliner import GlinerExtractor
from selfhost.server.extraction.model import ExtractionModel
from selfhost.server.extraction.spans import (
    ScoredSpan,
    above,
    best_apart,
    windows,
    word_marks,
    words_of,
)
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, SelfTestError
from selfhost.server.settings import ServerSettings
from tests.random_weights import made_by

SCRIPT = Path(__file__).with_name("gliner_weights.py")
LIBRARY = "gliner==0.2.29"


@pytest.fixture(scope="module")
def folder() -> Path:
    return made_by(SCRIPT, packages_too=(LIBRARY,))


@pytest.fixture(scope="module")
def theirs(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "found.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def extractor(folder: Path) -> GlinerExtractor:
    return GlinerExtractor(folder, device="cpu", threads=1)


@pytest.mark.timeout(900)  # the first time, the weights and what makes them are made
@pytest.mark.parametrize("threshold", ["0.3", "0.6"])
def test_it_finds_what_gliners_own_library_finds(
    extractor: GlinerExtractor, theirs: dict[str, Any], threshold: str
) -> None:
    ours = extractor.extract(theirs["texts"], theirs["labels"], float(threshold))
    for text, our, their in zip(theirs["texts"], ours, theirs[threshold], strict=True):
        expected = [(one["label"], one["text"], one["start"], one["end"]) for one in their]
        assert [(one.label, one.text, one.start, one.end) for one in our] == expected
        scores = [one.score for one in our]
        assert scores == pytest.approx([one["score"] for one in their], abs=2e-4)
        assert all(text[one.start : one.end] == one.text for one in our)
    assert any(theirs[threshold])


def test_a_text_longer_than_the_model_reads_at_once_is_read_to_its_end(
    extractor: GlinerExtractor,
) -> None:
    text = " ".join(f"room {number} of the guest" for number in range(100))
    [found] = extractor.extract([text], ["person", "date"], 0.0)
    covered = {place for one in found for place in range(one.start, one.end)}
    assert all(place in covered for place in range(len(text)) if text[place] != " ")
    starts = [one.start for one in found]
    assert starts == sorted(starts)


def test_an_empty_text_has_no_entities(extractor: GlinerExtractor) -> None:
    assert extractor.extract(["", " \n"], ["person"], 0.0) == [[], []]


@pytest.fixture
def served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Entry[ExtractionModel]:
    """The server's own line of its catalogue, with these weights in place of the hub's."""
    monkeypatch.setenv("MODEL_SERVER_MODEL_FOLDERS", f"{GLINER}={folder}")
    offered = entries(ServerSettings(), Metrics(), models.path)
    return next(entry for entry in offered if entry.id == GLINER)


def test_the_server_takes_any_label_and_a_threshold(served: Entry[ExtractionModel]) -> None:
    model = served.load()
    try:
        work = model.extract(["a guest"], ["kind of room"], threshold=0.0, owner="test")
        [found] = asyncio.run(work)
        assert {one.label for one in found} == {"kind of room"}
        assert all(one.score is not None and 0 <= one.score <= 1 for one in found)
        with pytest.raises(SelfTestError):  # random weights know no names
            asyncio.run(served.self_test(model))
    finally:
        model.close()


def test_scores_that_are_not_numbers_are_never_an_answer(folder: Path, tmp_path: Path) -> None:
    for file in ("gliner_config.json", "tokenizer.json"):
        (tmp_path / file).symlink_to(folder / file)
    (tmp_path / "onnx").symlink_to(folder / "spoilt" / "onnx")
    extractor = GlinerExtractor(tmp_path, device="cpu", threads=1)
    with pytest.raises(BrokenModelError):
        extractor.extract(["a guest arrives"], ["person"], 0.5)


def test_a_model_of_another_kind_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "gliner_config.json").read_text("utf-8"))
    (tmp_path / "gliner_config.json").write_text(json.dumps(config | {"span_mode": "token_level"}))
    with pytest.raises(SetupError, match="scores spans"):
        GlinerExtractor(tmp_path, device="cpu", threads=1)


def test_without_its_files_it_is_said_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", "/nowhere")
    offered = entries(ServerSettings(), Metrics(), models.path)
    entry = next(entry for entry in offered if entry.id == GLINER)
    with pytest.raises(SetupError, match=r"python -m selfhost models gliner-medium-v2\.1"):
        entry.load()


def test_words_are_told_apart_with_their_places() -> None:
    text = "Room 4-B, O'Hara's_x!"
    words = words_of(text)
    assert [word.text for word in words] == ["Room", "4-B", ",", "O", "'", "Hara", "'", "s_x", "!"]
    assert all(text[word.start : word.end] == word.text for word in words)


def test_the_first_token_of_each_word_of_the_text_is_marked() -> None:
    word_ids = [None, 0, 1, 1, 2, 3, 3, 4, None]
    assert word_marks(word_ids, prompt_words=3) == [0, 0, 0, 0, 0, 1, 0, 2, 0]


def test_windows_cover_every_word_and_share_the_longest_span() -> None:
    assert windows(0, 10, 3) == []
    assert windows(10, 10, 3) == [(0, 10)]
    assert windows(11, 10, 3) == [(0, 10), (7, 11)]
    assert windows(24, 10, 3) == [(0, 10), (7, 17), (14, 24)]
    assert windows(25, 10, 3) == [(0, 10), (7, 17), (14, 24), (21, 25)]


def test_a_span_that_ends_beyond_the_text_is_none() -> None:
    logits = np.full((3, 2, 1), 5.0, np.float32)
    found = above(logits, words=2, threshold=0.5, offset=10)
    assert [(one.first, one.last) for one in found] == [(10, 10), (10, 11), (11, 11)]


def test_the_best_spans_that_share_no_word_are_taken() -> None:
    spans = [
        ScoredSpan(0, 1, 0, 0.7),
        ScoredSpan(1, 3, 1, 0.9),
        ScoredSpan(1, 3, 0, 0.8),
        ScoredSpan(4, 4, 0, 0.6),
    ]
    assert best_apart(spans) == [ScoredSpan(1, 3, 1, 0.9), ScoredSpan(4, 4, 0, 0.6)]
