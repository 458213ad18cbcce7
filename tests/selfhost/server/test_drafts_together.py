"""Drafts of several calls in one run of a real Whisper: each gets its own words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from selfhost import models
from selfhost.server.health.hearing import clip
from selfhost.server.metrics import Metrics
from selfhost.server.scheduling import Priority
from selfhost.server.transcription.model import TranscriptionModel, transcription_worker
from selfhost.server.transcription.together import groups
from selfhost.server.transcription.whisper import Audio, Draft, Hints, Whisper


def test_only_one_kind_and_about_one_length_share_a_run() -> None:
    assert groups(["a", "b", "a"], [4, 4, 4]) == [[0, 2], [1]]
    assert groups(["a", "a", "a"], [4, 5, 8]) == [[2], [1, 0]]
    assert groups([], []) == []


@pytest.fixture(scope="module")
def whisper() -> Iterator[Whisper]:
    model = Whisper(models.ensure("whisper-base"), threads=2, device="cpu", compute_type="int8")
    yield model
    model.close()


def sounds() -> list[Audio]:
    """The first half, the second half, and the whole of "Good evening, the hotel has …"."""
    whole = clip()
    return [whole[: len(whole) // 2], whole[len(whole) // 2 :], whole]


@pytest.mark.parametrize(
    "hints", [Hints(), Hints(keywords=("breakfast", "hotel")), Hints(language=None)]
)
def test_drafts_together_say_what_each_says_alone(whisper: Whisper, hints: Hints) -> None:
    alone = [whisper.decode(sound, hints, draft=True) for sound in sounds()]
    assert len({one.text for one in alone}) == 3
    together = whisper.decode_drafts([Draft(sound, hints) for sound in sounds()])
    assert [one.text for one in together] == [one.text for one in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.avg_logprob == pytest.approx(other.avg_logprob, abs=0.05)
        assert one.audio_s == other.audio_s


def test_what_is_known_of_one_draft_does_not_touch_another(whisper: Whisper) -> None:
    whole = clip()
    first, second, third = whisper.decode_drafts(
        [
            Draft(whole, Hints(), prefix="Good evening, the"),
            Draft(whole, Hints()),
            Draft(whole, Hints(), prefix="Good evening, the hotel has"),
        ]
    )
    assert first.text == third.text == "Good evening, the hotel has three rooms."
    assert second.text.endswith("the hotel has three rooms.")


def test_what_is_known_of_a_text_is_not_said_twice(whisper: Whisper) -> None:
    decoded = whisper.decode(clip(), Hints(), draft=True, prefix="Good evening, the")
    assert decoded.text == "Good evening, the hotel has three rooms."


async def test_drafts_that_wait_at_once_share_runs(whisper: Whisper) -> None:
    metrics = Metrics()
    worker = transcription_worker("whisper", whisper, max_queued=16, metrics=metrics)
    model = TranscriptionModel("whisper", whisper, worker, metrics)

    async def draft(number: int) -> str:
        sound = sounds()[number % 3]
        decoded = await model.transcribe(
            lambda: sound,
            Hints(),
            owner=number,
            priority=Priority.BACKGROUND,
            kind="partial",
            voiced_ms=1000,
            draft=True,
        )
        return decoded.text

    said = await asyncio.gather(*map(draft, range(9)))
    assert said[:3] == said[3:6] == said[6:]
    runs = metrics.registry.get_sample_value("model_server_batch_rows_count", {"model": "whisper"})
    assert runs is not None
    assert runs < 9
    worker.close()
