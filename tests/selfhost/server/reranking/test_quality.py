"""Does the small reranker rank? Questions that guests ask, and what a hotel's pages answer."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from selfhost import models
from selfhost.server.embedding import entries as embedding
from selfhost.server.metrics import Metrics
from selfhost.server.reranking import entries as reranking
from selfhost.server.reranking.model import RerankingModel
from selfhost.server.settings import ServerSettings

PAIRS = (
    (
        "What time is breakfast?",
        "Breakfast is served from seven to half past ten in the garden room.",
    ),
    (
        "When can I check in?",
        "Rooms are ready from three in the afternoon; luggage can be left at the desk before that.",
    ),
    (
        "Until when do I have to leave the room?",
        "Check-out is by eleven; a later departure can be asked for at the front desk.",
    ),
    (
        "Where can I park my car?",
        "The garage under the hotel has forty spaces, at twenty euros a night.",
    ),
    (
        "Are dogs allowed?",
        "Small pets are welcome for fifteen euros a night; please tell us beforehand.",
    ),
    ("How late is the pool open?", "You can swim from six in the morning to nine in the evening."),
    (
        "Does the suite look over the harbour?",
        "A suite has a separate living room and windows to the water on two sides.",
    ),
    ("How far is the train station?", "The central station is five minutes away on foot."),
    (
        "Is there wireless internet in the rooms?",
        "Wi-Fi is free everywhere in the house; no password is needed.",
    ),
    (
        "Can I cancel my booking without paying?",
        "A reservation can be cancelled free of charge up to 48 hours before arrival.",
    ),
    (
        "Do you have rooms for wheelchair users?",
        "Two rooms on the ground floor are accessible, with a step-free shower.",
    ),
    (
        "May we smoke on the balcony?",
        "The whole building is non-smoking; there is an ashtray in the courtyard.",
    ),
    ("Can you wake me at six?", "The front desk gives wake-up calls at any hour."),
    ("Is there a gym?", "The fitness room on the top floor has weights and three treadmills."),
    (
        "Can you get me from the airport?",
        "We arrange a shuttle from the terminal for thirty euros; ask a day ahead.",
    ),
    ("Do you take American Express?", "We accept all major credit cards, and cash in euros."),
    (
        "Can a cot be put into the room for the baby?",
        "A crib can be set up free of charge for children under two.",
    ),
    (
        "Is there something to eat for vegans at dinner?",
        "The restaurant has plant-based dishes on every menu.",
    ),
    (
        "Who can wash my shirts?",
        "Laundry that is handed in before nine is returned clean the same evening.",
    ),
    (
        "How much is the city tax?",
        "The municipality charges three euros for each adult and night, paid on arrival.",
    ),
)
BESIDE_THE_POINT = (
    "The house was built in 1908 by a merchant and restored in 2015.",
    "Our staff speak English, German and French.",
    "The lobby has a fireplace and a small library.",
    "Paintings by local artists hang in the corridors.",
    "The street in front is closed to traffic in summer.",
    "We have sixty-two rooms on five floors.",
    "The family of the owner has run the hotel for three generations.",
    "Lifts reach every floor but the attic.",
    "The roof carries solar panels.",
    "A theatre and two museums are around the corner.",
)
QUESTIONS = [question for question, _ in PAIRS]
SENTENCES = [passage for _, passage in PAIRS]


def paragraphs() -> list[str]:
    """Each answer somewhere in a paragraph of seven sentences."""
    chance = random.Random(1)
    made = []
    for answer in SENTENCES:
        sentences = chance.sample(BESIDE_THE_POINT, 6)
        sentences.insert(chance.randrange(7), answer)
        made.append(" ".join(sentences))
    return made


@pytest.fixture
def reranker():
    settings = ServerSettings(reranking_threads=2)
    model = reranking.load(reranking.MINILM_MAXSIM, settings, Metrics(), models.ensure)
    yield model
    model.close()


async def ranks(model: RerankingModel, passages: Sequence[str]) -> list[int]:
    """For each question the place, from 1, that the right passage of all gets."""
    found = []
    for number, question in enumerate(QUESTIONS):
        scores = (await model.score(question, passages, owner="a")).values
        found.append(1 + sum(score > scores[number] for score in scores))
    return found


def mean_reciprocal(found: Sequence[int]) -> float:
    return float(np.mean([1 / rank for rank in found]))


async def test_the_sentence_that_answers_comes_first_of_twenty(reranker: RerankingModel) -> None:
    found = await ranks(reranker, SENTENCES)
    assert sum(rank == 1 for rank in found) >= 15
    assert mean_reciprocal(found) > 0.85  # by chance 0.18


async def test_in_paragraphs_it_ranks_better_than_the_cosine_of_the_whole_texts(
    reranker: RerankingModel,
) -> None:
    passages = paragraphs()
    by_tokens = mean_reciprocal(await ranks(reranker, passages))
    embedder = embedding.load(embedding.MINILM, ServerSettings(), Metrics(), models.ensure)
    asked = (await embedder.embed(QUESTIONS, owner="a")).vectors
    read = (await embedder.embed(passages, owner="a")).vectors
    embedder.close()
    cosines = asked @ read.T
    by_cosine = mean_reciprocal([1 + int((row > row[n]).sum()) for n, row in enumerate(cosines)])
    assert by_tokens > by_cosine + 0.05
    assert by_tokens > 0.7
