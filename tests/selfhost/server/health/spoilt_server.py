"""The real model server, as its command starts it, whose weights go bad in memory while it serves.

Usage: spoilt_server.py PORT FLAG {piper,minilm}

As soon as the file FLAG exists, the model's weights are overwritten where they lie.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from selfhost import models
from selfhost.server.command import main as serve
from tests.selfhost.server.health.corrupted import corrupt_in_memory, float_weights, stretches


def main() -> None:
    port, flag, model = sys.argv[1:]
    threading.Thread(target=spoil, args=(Path(flag), model), daemon=True).start()
    sys.argv = ["server", "--port", port]
    serve()


def spoil(flag: Path, model: str) -> None:
    while not flag.exists():
        time.sleep(0.02)
    if model == "piper":
        file = next(models.path("piper-joe").glob("*.onnx"))
        where = stretches(file, at=(0.5, 0.6, 0.7, 0.8, 0.9))
    else:
        file = models.path("minilm") / "model.onnx"
        where = float_weights(file)
    hits = corrupt_in_memory(file, where)
    print(f"overwrote {hits} stretches of the weights of {model}", flush=True)


if __name__ == "__main__":
    main()
