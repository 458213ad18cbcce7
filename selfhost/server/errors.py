"""Errors in the shape that OpenAI's clients read: {"error": {message, type, param, code}}."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from selfhost.errors import SetupError

log = logging.getLogger(__name__)


class ApiError(Exception):
    """A request that cannot be served, said so that its sender can mend it.

    Args:
        status: the HTTP status.
        message: what was expected, what came, what to do. Never a key or what a caller said.
        code: a word for programs, such as `model_not_found`.
        param: the request's field at fault, if one is.
        retry_after_s: when to come back, for an error that passes.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.retry_after_s = retry_after_s

    @property
    def type(self) -> str:
        if self.status == 401:
            return "authentication_error"
        if self.status == 429:
            return "rate_limit_error"
        return "server_error" if self.status >= 500 else "invalid_request_error"

    def body(self) -> dict[str, Any]:
        """The `error` object, as it goes into a response body or a realtime event."""
        return {
            "message": self.message,
            "type": self.type,
            "param": self.param,
            "code": self.code,
        }

    def response(self) -> JSONResponse:
        headers = {"Retry-After": str(self.retry_after_s)} if self.retry_after_s else None
        return JSONResponse({"error": self.body()}, status_code=self.status, headers=headers)


def unknown_name(kind: str, given: str, known: list[str]) -> ApiError:
    """The error for a model or voice that this server does not have."""
    return ApiError(
        404 if kind == "model" else 400,
        f"No {kind} named {given[:80]!r} here; expected one of: {', '.join(known)}.",
        code=f"{kind}_not_found",
        param=kind,
    )


def install(app: FastAPI) -> None:
    """Answer every failure of `app` in OpenAI's shape."""

    @app.exception_handler(ApiError)
    async def on_api_error(_: Request, error: ApiError) -> JSONResponse:
        return error.response()

    @app.exception_handler(SetupError)
    async def on_setup_error(_: Request, error: SetupError) -> JSONResponse:
        return ApiError(503, str(error), code="not_installed").response()

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query"))
        if first["type"] == "json_invalid":
            return ApiError(400, "The body is not valid JSON.", code="invalid_json").response()
        message = f"{where}: {first['msg']}." if where else f"{first['msg']}."
        return ApiError(400, message, code="invalid_value", param=where or None).response()

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> JSONResponse:
        message = f"{request.method} {request.url.path}: {str(error.detail).rstrip('.')}."
        return ApiError(error.status_code, message, code="http_error").response()

    @app.exception_handler(Exception)
    async def on_fault(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return ApiError(500, "The server failed on this request; its log says why.").response()
