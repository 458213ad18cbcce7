from __future__ import annotations

import os
import subprocess
import sys
import time

from selfhost.load.machine import MachineWatch, tree_cpu_s


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


def test_the_time_of_a_child_that_has_ended_is_its_parents() -> None:
    before_s = tree_cpu_s([os.getpid()])
    work = "import time; end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    subprocess.run([sys.executable, "-c", work], check=True)
    assert tree_cpu_s([os.getpid()]) - before_s >= 0.3
