"""Looking at what is slow holds up nobody."""

from __future__ import annotations

import threading

from ui.observer import Observer

FOREVER_S = 30


def test_a_look_that_hangs_holds_up_no_page() -> None:
    hangs = threading.Event()
    looks = []

    def look() -> str:
        looks.append(1)
        hangs.wait(FOREVER_S)
        return "seen"

    observer = Observer(look, max_age_s=0.0)
    assert [observer.latest() for _ in range(50)] == [None] * 50
    assert len(looks) == 1
    hangs.set()
    seen = observer.latest(wait_s=FOREVER_S)
    assert seen is not None
    assert seen.value == "seen"


def test_a_look_is_good_for_a_while_and_then_taken_anew() -> None:
    now_s = 0.0
    values = iter(["first", "second"])
    began = threading.Semaphore(0)

    def look() -> str:
        began.release()
        return next(values)

    observer = Observer(look, max_age_s=2.0, clock=lambda: now_s)
    first = observer.latest(wait_s=FOREVER_S)
    assert first is not None
    assert (first.value, first.age_s) == ("first", 0.0)
    now_s = 1.9
    assert observer.latest() is not None
    assert began.acquire(timeout=FOREVER_S)
    assert not began.acquire(blocking=False)
    now_s = 2.1
    stale = observer.latest()
    assert stale is not None
    assert stale.value in ("first", "second")  # the new look may have ended already
    assert began.acquire(timeout=FOREVER_S)


def test_a_look_that_fails_leaves_the_last_one() -> None:
    now_s = 0.0
    fails = threading.Event()
    failed = threading.Semaphore(0)

    def look() -> str:
        if fails.is_set():
            failed.release()
            raise RuntimeError("gone")
        return "seen"

    observer = Observer(look, max_age_s=1.0, clock=lambda: now_s)
    assert observer.latest(wait_s=FOREVER_S) is not None
    fails.set()
    now_s = 5.0
    observer.latest()
    assert failed.acquire(timeout=FOREVER_S)
    seen = observer.latest()
    assert seen is not None
    assert (seen.value, seen.age_s) == ("seen", 5.0)
