"""What parts say of themselves is shown as text."""

from __future__ import annotations

from ui.observer import Seen
from ui.parts import Model, Part, State
from ui.views.stack import html

FORGED = '<img src=x onerror="alert(1)">'


def test_what_a_part_says_is_text_and_no_markup() -> None:
    model = Model(FORGED, FORGED, failure=FORGED)
    part = Part("Generation", FORGED, State.FAILING, FORGED, load=FORGED, models=(model,))
    assert "<img" not in html({"Generation": Seen(part, 0.0)})


def test_a_part_not_seen_yet_is_unknown_and_an_old_look_says_its_age() -> None:
    assert "being asked" in html({"Worker": None})
    assert "seen 60 s ago" in html({"Worker": Seen(Part("Worker", "h:1", State.READY), 60.0)})


def test_models_that_are_not_loaded_stand_aside_with_what_they_would_take() -> None:
    models = (
        Model("loaded-one", "loaded", 159_000_000, in_use=1),
        Model("other", "not loaded", None, expected_bytes=3_000_000_000, in_use=0),
    )
    shown = html({"Model server": Seen(Part("Model server", "h:1", State.READY, models=models), 0)})
    in_memory, aside = shown.split("<details>")
    assert "loaded-one" in in_memory
    assert "159 MB" in in_memory
    assert "1 not loaded" in aside
    assert "would take 3.00 GB" in aside
