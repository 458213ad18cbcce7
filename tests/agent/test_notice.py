"""The recorded notice is there and can be heard."""

from __future__ import annotations

import numpy as np

from agent.notice import SAMPLE_RATE_HZ, SORRY, decode


def test_the_notice_is_a_few_seconds_of_sound() -> None:
    samples = decode(SORRY)
    assert samples.dtype == np.int16
    assert 3 < len(samples) / SAMPLE_RATE_HZ < 10
    assert np.abs(samples.astype(np.int32)).max() > 5_000
