"""What the model server's models take: measured where they were, else by the size of their file.

They run inside one process, through CTranslate2, ONNX Runtime or spaCy. None of these has a cache
that grows with sequences; what they need besides their weights is scratch memory for one batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selfhost.plan.estimate import MIB, Estimate

MB = 1_000_000

# What each adds to the model server's resident memory on a CPU once it has worked, as measured for
# the server's own catalogue; a test holds the two together.
MEASURED_ON_CPU: Mapping[str, int] = {
    "whisper-base": 200 * MB,
    "whisper-tiny": 115 * MB,
    "piper-joe": 120 * MB,
    "kokoro-82m": 470 * MB,
    "minilm": 180 * MB,
    "en-core-web-sm": 100 * MB,
}
# In processes of their own the same models stayed within these, and peaked at up to 2.2 times.
MEASURED_BAND_LOW, MEASURED_BAND_HIGH = 0.8, 2.2

# Those above: 0.7 to 2.2 bytes of weights in memory for one in the file, and 60 to 300 MiB.
CPU_BYTES_PER_FILE_BYTE = 1.5
CPU_SCRATCH = Estimate(170 * MIB, 60 * MIB, 300 * MIB)
# faster-whisper's README: 4,525 MB for large-v2 in fp16, whose file is 3,087 MB, and 2,409 MB for
# distil-large-v3 of 1,513 MB; its process's context is in it, and is counted here for the server.
WHISPER_GPU_SCRATCH = Estimate(500 * MIB, 250 * MIB, 1000 * MIB)
# ONNX Runtime takes what a batch asks for and keeps it; not measured on a card.
ONNX_GPU_SCRATCH = Estimate(400 * MIB, 100 * MIB, 1200 * MIB)


@dataclass(frozen=True)
class SmallModel:
    """A model of the model server.

    Args:
        name: in the catalogue.
        job: what it does, as the catalogue says it.
        file_bytes: of its files.
    """

    name: str
    job: str
    file_bytes: int


def weights(model: SmallModel, *, on_gpu: bool) -> Estimate:
    """Its weights in memory."""
    if on_gpu:
        return Estimate.within(model.file_bytes, 0.05)
    if measured := MEASURED_ON_CPU.get(model.name):
        return Estimate.exact(min(measured, model.file_bytes))
    return Estimate(
        int(model.file_bytes * CPU_BYTES_PER_FILE_BYTE),
        int(model.file_bytes * 0.7),
        int(model.file_bytes * 2.2),
    )


def scratch(model: SmallModel, *, on_gpu: bool) -> Estimate:
    """What it needs besides, for one batch."""
    if on_gpu:
        return WHISPER_GPU_SCRATCH if model.job.startswith("speech to text") else ONNX_GPU_SCRATCH
    if measured := MEASURED_ON_CPU.get(model.name):
        rest = measured - min(measured, model.file_bytes)
        low = max(0, int(measured * MEASURED_BAND_LOW) - (measured - rest))
        return Estimate(rest, min(low, rest), rest + int(measured * (MEASURED_BAND_HIGH - 1)))
    return CPU_SCRATCH
