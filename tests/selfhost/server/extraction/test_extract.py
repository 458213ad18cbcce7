"""POST /v1/extract on a real server with the real English pipeline."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psutil
import pytest

from selfhost import models
from selfhost.server.extraction.entries import entries
from selfhost.server.extraction.model import stretches
from selfhost.server.extraction.spacy_pipeline import SpacyExtractor
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.settings import ServerSettings
from tests.selfhost.server.conftest import wait_until_idle
from tests.selfhost.server.test_transcriptions import error_of

BOOKING = (
    "My name is Priya Raman and I arrive on October the sixteenth at six pm in Boston. "
    "It costs $200."
)


def extract(client: httpx.Client, labels: list[str], **fields: Any) -> httpx.Response:
    body = {"model": "en-core-web-sm", "labels": labels} | fields
    return client.post("/v1/extract", json=body)


def found(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.status_code == 200, answer.text
    return [(entity["label"], entity["text"]) for entity in answer.json()["entities"]]


def test_a_callers_sentence_gives_its_name_date_time_place_and_price(client: httpx.Client) -> None:
    labels = ["person", "date", "time", "place", "money"]
    assert found(extract(client, labels, text=BOOKING)) == [
        ("person", "Priya Raman"),
        ("date", "October the sixteenth"),
        ("time", "six pm"),
        ("place", "Boston"),
        ("money", "200"),
    ]


def test_only_what_was_asked_for_is_found_and_called_as_it_was_asked_for(
    client: httpx.Client,
) -> None:
    assert found(extract(client, ["Guest", "CARDINAL"], text=BOOKING)) == [("Guest", "Priya Raman")]
    assert found(extract(client, ["dates"], text=BOOKING)) == [("dates", "October the sixteenth")]


def test_an_entity_says_where_it_stands_and_gives_no_score_that_nobody_computed(
    client: httpx.Client,
) -> None:
    text = "🙂 Ça va? " + BOOKING
    [entity] = extract(client, ["person"], text=text).json()["entities"]
    assert text[entity["start"] : entity["end"]] == entity["text"] == "Priya Raman"
    assert entity["score"] is None


def test_several_texts_are_answered_in_their_order(client: httpx.Client) -> None:
    names = ["John Smith", "Mary Jones", "Peter Brown"] * 10
    texts = [f"{name} arrives on Friday." for name in names]
    texts[4] = ""
    answer = extract(client, ["person"], texts=texts).json()
    assert [result["index"] for result in answer["results"]] == list(range(30))
    told = [[entity["text"] for entity in result["entities"]] for result in answer["results"]]
    assert told == [[] if index == 4 else [name] for index, name in enumerate(names)]


def test_a_label_that_the_model_cannot_find_is_refused_with_those_that_it_can(
    client: httpx.Client,
) -> None:
    error = error_of(extract(client, ["person", "room type"], text=BOOKING), 400)
    assert error["param"] == "labels"
    assert "room type" in error["message"]
    for known in ("person", "date", "place", "number"):
        assert known in error["message"]


def test_a_threshold_is_refused_by_a_model_without_scores(client: httpx.Client) -> None:
    error = error_of(extract(client, ["person"], text=BOOKING, threshold=0.5), 400)
    assert error["param"] == "threshold"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"labels": ["person"]}, "text"),
        ({"labels": ["person"], "text": "a", "texts": ["b"]}, "text"),
        ({"labels": ["person"], "texts": []}, "texts"),
        ({"labels": ["person"], "texts": ["a"] * 257}, "texts"),
        ({"labels": ["person"], "text": "word " * 5000}, "text"),
        ({"labels": [], "text": "a"}, "labels"),
        ({"labels": [" "], "text": "a"}, "labels"),
        ({"labels": ["person"], "text": "a", "threshold": 2}, "threshold"),
    ],
)
def test_a_wrong_field_is_named(client: httpx.Client, fields: dict[str, Any], param: str) -> None:
    answer = client.post("/v1/extract", json={"model": "en-core-web-sm", **fields})
    assert error_of(answer, 400)["param"] == param


def test_a_model_of_another_kind_is_no_extractor(client: httpx.Client) -> None:
    answer = client.post("/v1/extract", json={"model": "piper", "text": "a", "labels": ["person"]})
    assert "en-core-web-sm" in error_of(answer, 404)["message"]


def test_a_key_is_asked_for(client: httpx.Client) -> None:
    answer = httpx.post(f"{client.base_url}/v1/extract", json={})
    assert error_of(answer, 401)["type"] == "authentication_error"


def test_half_of_a_surrogate_pair_does_not_break_the_model(client: httpx.Client) -> None:
    body = b'{"model": "en-core-web-sm", "labels": ["person"], "text": "\\ud83d John Smith came."}'
    answer = client.post("/v1/extract", content=body, headers={"Content-Type": "application/json"})
    assert found(answer) == [("person", "John Smith")]


def test_many_clients_at_once_each_get_their_own_answer(client: httpx.Client) -> None:
    names = [f"{first} {last}" for first in ("John", "Mary") for last in ("Smith", "Jones")] * 6

    def ask(name: str) -> list[tuple[str, str]]:
        return found(extract(client, ["person"], text=f"My name is {name}."))

    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(ask, names))
    assert answers == [[("person", name)] for name in names]
    wait_until_idle(client, "extract")


def test_a_long_request_gives_others_their_turn_between_its_texts() -> None:
    assert [len(part) for part in stretches(["short"] * 20)] == [8, 8, 4]
    assert [len(part) for part in stretches(["a" * 3000, "b" * 3000, "c", "d" * 9000, "e"])] == [
        1,
        2,
        1,
        1,
    ]
    assert stretches([]) == []


def test_new_words_do_not_stay_in_memory() -> None:
    extractor = SpacyExtractor(models.ensure("en-core-web-sm"))

    def read(turn: int) -> None:
        words = " ".join(f"word{turn}x{number}" for number in range(500))
        extractor.extract([f"John Smith {words}"], ["person"], 0.5)

    for turn in range(5):
        read(turn)
    before = psutil.Process().memory_info().rss
    for turn in range(5, 105):
        read(turn)
    # Kept, the 50,000 words would take about 12 MB.
    assert psutil.Process().memory_info().rss - before < 5_000_000


def test_the_self_test_fails_a_pipeline_that_finds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models.ensure("en-core-web-sm")
    [entry] = [
        entry
        for entry in entries(ServerSettings(), Metrics(), models.path)
        if entry.id == "en-core-web-sm"
    ]
    model = entry.load()
    try:
        asyncio.run(entry.self_test(model))
        spoilt = model.extractor
        assert isinstance(spoilt, SpacyExtractor)
        for node in spoilt.pipeline.get_pipe("ner").model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    node.set_param(name, node.get_param(name) * float("nan"))
        with pytest.raises(SelfTestError, match="person"):
            asyncio.run(entry.self_test(model))
    finally:
        model.close()
