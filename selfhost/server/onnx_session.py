"""Opening an ONNX graph on the device that was asked for, and on no other."""

from __future__ import annotations

from pathlib import Path

import onnxruntime

from selfhost.errors import SetupError

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"


def open_session(file: Path, *, device: str, threads: int) -> onnxruntime.InferenceSession:
    """The graph in `file`, in memory.

    Args:
        device: "cpu", "cuda", or "auto" for CUDA where this onnxruntime has it.
        threads: CPU threads of one run.

    Raises:
        SetupError: CUDA is asked for and cannot be used, or the file is no graph.
    """
    offered = onnxruntime.get_available_providers()
    if device == "cuda" and CUDA not in offered:
        raise SetupError(
            f"{file.name} is to run on CUDA, and this onnxruntime offers only "
            f"{', '.join(offered)}. Install onnxruntime-gpu in place of onnxruntime, or set "
            "MODEL_SERVER_DEVICE=cpu."
        )
    on_cuda = device != "cpu" and CUDA in offered
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A plan of memory is kept for each shape that ever came, and texts come in every length.
    options.enable_mem_pattern = False
    # Threads that spin while they wait take the cores from the other models.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Grown by what is needed and not by doubling, so that a model takes what it was measured at.
    cuda = (CUDA, {"arena_extend_strategy": "kSameAsRequested"})
    try:
        session = onnxruntime.InferenceSession(
            str(file), options, providers=[cuda, CPU] if on_cuda else [CPU]
        )
    except Exception as error:  # its exceptions have no common base of their own
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise SetupError(f"{file} cannot be loaded: {reason}") from error
    # Where CUDA's own libraries are missing, onnxruntime goes on silently on the CPU.
    if device == "cuda" and session.get_providers()[0] != CUDA:
        raise SetupError(
            f"{file.name} is to run on CUDA, and onnxruntime could not start it there; its "
            "message above names the library that is missing. Install CUDA and cuDNN in the "
            "versions of this onnxruntime-gpu, or set MODEL_SERVER_DEVICE=cpu."
        )
    return session
