"""What those are told who get no model, or no answer from it."""

from __future__ import annotations

from selfhost.errors import SetupError
from selfhost.server.errors import ApiError
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.residency.failures import Failure

COME_BACK_S = 5


def stopping() -> ApiError:
    return ApiError(503, "The server is stopping.", code="stopping", retry_after_s=COME_BACK_S)


def queue_full(model: str, waiting: int) -> ApiError:
    return ApiError(
        429,
        f"{waiting} requests already wait for {model} to load; try again soon.",
        code="overloaded",
        retry_after_s=COME_BACK_S,
    )


def too_late(model: str, *, has_begun: bool) -> ApiError:
    """The model was not there in time."""
    why = "is still loading" if has_begun else "waits for memory that others use"
    return ApiError(
        503,
        f"{model} {why}; try again in a moment.",
        code="model_loading",
        retry_after_s=COME_BACK_S,
    )


def no_room(model: str, why: str) -> ApiError:
    """It will not fit; no retry will help."""
    return ApiError(503, f"{model} cannot be loaded: {why}.", code="no_room")


def not_installed(error: SetupError) -> ApiError:
    return ApiError(503, str(error), code="not_installed")


def failed(model: str, failure: Failure) -> ApiError:
    return ApiError(
        503,
        f"{model} cannot serve: {failure.reason}. It may be tried again in "
        f"{failure.seconds_left} s.",
        code="model_failed",
        retry_after_s=failure.seconds_left,
    )


def garbage(error: BrokenModelError) -> ApiError:
    return ApiError(
        500,
        f"{error}. None of it was sent. The model is tested now, and does not serve if it fails; "
        "try again in a moment, and if this comes back, with another input.",
        code="model_output_invalid",
    )


def reason(error: Exception, test_timeout_s: float) -> str:
    """Why a load failed, in words for a client: what else the error says belongs in the log."""
    match error:
        case SelfTestError() | BrokenModelError():
            return f"it failed its test: {error}"
        case MemoryError():
            return "there was too little memory to load it"
        case TimeoutError():
            return f"its test took longer than {test_timeout_s:.0f} s"
        case _:
            return f"its load failed ({type(error).__name__}; the server's log says more)"
