from __future__ import annotations

import os
import time

from selfhost.load.machine import MachineWatch


def test_a_busy_core_is_seen() -> None:
    watch = MachineWatch()
    end_s = time.process_time() + 0.3
    while time.process_time() < end_s:
        pass
    machine = watch.stop()
    assert machine.cores == os.cpu_count()
    assert machine.cpu_percent is not None
    # Less than this one core's whole share, since other cores and clock ticks dilute it.
    assert 0.3 * 100 / machine.cores / 3 < machine.cpu_percent <= 100.0
