from __future__ import annotations

from selfhost.server.realtime.lag import Lag


def test_the_lag_is_the_age_of_the_newest_sound_whose_words_are_known() -> None:
    lag = Lag()
    for second in range(1, 6):
        lag.heard(end=second * 16_000, now_s=float(second))
    assert lag.decoded(end=2 * 16_000, now_s=4.5) == 2.5
    assert lag.decoded(end=4 * 16_000 + 100, now_s=6.0) == 2.0
    assert lag.decoded(end=5 * 16_000, now_s=6.5) == 1.5


def test_words_of_sound_that_others_went_beyond_say_nothing_new() -> None:
    lag = Lag()
    lag.heard(end=16_000, now_s=1.0)
    lag.heard(end=32_000, now_s=2.0)
    assert lag.decoded(end=32_000, now_s=3.0) == 1.0
    assert lag.decoded(end=16_000, now_s=4.0) is None
    assert lag.decoded(end=32_000, now_s=4.0) is None


def test_sound_that_is_never_decoded_is_forgotten() -> None:
    lag = Lag()
    for second in range(1, 4):
        lag.heard(end=second * 16_000, now_s=float(second))
    lag.forget_before(2 * 16_000)
    assert lag.decoded(end=2 * 16_000, now_s=9.0) is None
    assert lag.decoded(end=3 * 16_000, now_s=9.0) == 6.0
