"""The model server's own models, which have no cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from selfhost.plan import small_models
from selfhost.plan.find import find
from selfhost.plan.small_models import MEASURED_ON_CPU, SmallModel
from selfhost.server.catalogue import entries
from selfhost.server.metrics import Metrics
from selfhost.server.settings import ServerSettings

IDS = {"piper-joe": "piper", "kokoro-82m": "kokoro"}


def found(name: str) -> SmallModel:
    model = find(name)
    assert isinstance(model, SmallModel)
    return model


@pytest.mark.parametrize("name", sorted(MEASURED_ON_CPU))
def test_the_plan_and_the_server_know_the_same_size(name: str) -> None:
    offered = {one.id: one for one in entries(ServerSettings(), Metrics(), lambda _: Path())}
    model = found(name)
    planned = small_models.weights(model, on_gpu=False) + small_models.scratch(model, on_gpu=False)
    assert planned.bytes == MEASURED_ON_CPU[name]
    assert planned.bytes == pytest.approx(offered[IDS.get(name, name)].memory_bytes, rel=0.25)
    assert planned.low < planned.bytes < planned.high


def test_an_unmeasured_model_is_planned_by_its_file() -> None:
    small, large = (SmallModel("mine", "embeddings", size) for size in (10**8, 10**9))
    for on_gpu in (False, True):
        sizes = [
            small_models.weights(model, on_gpu=on_gpu) + small_models.scratch(model, on_gpu=on_gpu)
            for model in (small, large)
        ]
        assert sizes[0].bytes < sizes[1].bytes
        assert sizes[1].bytes > 10**9
        assert sizes[1].high > 1.2 * sizes[1].bytes


@pytest.mark.parametrize(("file_bytes", "used_bytes"), [(3_087e6, 4_525e6), (1_513e6, 2_409e6)])
def test_whisper_on_a_card_takes_what_its_makers_measured(
    file_bytes: float, used_bytes: float
) -> None:
    from selfhost.plan.overhead import CONTEXT

    model = SmallModel("whisper", "speech to text", int(file_bytes))
    planned = (
        small_models.weights(model, on_gpu=True)
        + small_models.scratch(model, on_gpu=True)
        + CONTEXT
    )
    assert planned.low < used_bytes < planned.high
