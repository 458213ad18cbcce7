"""The four models run directly, as a script would: load them, ask each once, end.

A program of its own (`python -m selfhost.load.model_bench.direct NUMBER`), since what a user would
have without a server begins with a new process. It prints its times as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

_STARTED = time.perf_counter()


def main(number: int) -> None:
    """Load and ask all four at once, and print `load_s`, `run_s` and `total_s`."""
    import psutil

    from selfhost.load.model_bench import libraries
    from selfhost.load.model_bench.task import question

    born_s = time.time() - psutil.Process().create_time()
    before_s = born_s - (time.perf_counter() - _STARTED)
    loading = time.perf_counter()
    with ThreadPoolExecutor(len(libraries.LOADERS)) as threads:
        models = list(threads.map(lambda load: load(), libraries.LOADERS))
        loaded = time.perf_counter()
        asked = question(number)
        for answered in threads.map(lambda ask: ask(asked), models):
            assert answered, "a model answered nothing"
    ended = time.perf_counter()
    print(
        json.dumps(
            {
                "load_s": loaded - loading,
                "run_s": ended - loaded,
                "total_s": before_s + ended - _STARTED,
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
