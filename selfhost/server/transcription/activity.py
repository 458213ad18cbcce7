"""Where in the sound somebody speaks: the Silero voice detector that comes with faster-whisper."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import onnxruntime
from faster_whisper.utils import get_assets_path
from numpy.typing import NDArray

WINDOW_SAMPLES = 512
WINDOW_MS = 32
_CONTEXT_SAMPLES = 64


class VoiceDetector:
    """The detector with its memory of one stream of sound. Not for two threads at once."""

    def __init__(self) -> None:
        self._session = _session()
        self._pending = np.zeros(0, np.float32)
        self._context = np.zeros(_CONTEXT_SAMPLES, np.float32)
        self._h = np.zeros((1, 1, 128), np.float32)
        self._c = np.zeros((1, 1, 128), np.float32)

    def push(self, samples: NDArray[np.int16]) -> list[float]:
        """Take more sound of the stream.

        Args:
            samples: mono, 16 kHz, any number.

        Returns:
            For each whole window of 32 ms that is now complete, how likely it holds a voice.
        """
        sound = np.concatenate([self._pending, samples.astype(np.float32) / 32768])
        count = len(sound) // WINDOW_SAMPLES
        whole, self._pending = np.split(sound, [count * WINDOW_SAMPLES])
        if not count:
            return []
        windows = whole.reshape(count, WINDOW_SAMPLES)
        contexts = np.vstack([self._context, windows[:-1, -_CONTEXT_SAMPLES:]])
        self._context = windows[-1, -_CONTEXT_SAMPLES:].copy()
        probabilities, self._h, self._c = self._session.run(
            None,
            {"input": np.concatenate([contexts, windows], axis=1), "h": self._h, "c": self._c},
        )
        return [float(p) for p in np.ravel(probabilities)]


@lru_cache(maxsize=1)
def _session() -> onnxruntime.InferenceSession:
    """One session for all streams: the streams' state goes in and out of each call."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    model = Path(get_assets_path()) / "silero_vad_v6.onnx"
    return onnxruntime.InferenceSession(
        str(model), sess_options=options, providers=["CPUExecutionProvider"]
    )
