"""The page's settings, from the environment and `.env`."""

from __future__ import annotations

from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ui.admission import Views

DEVELOPMENT_KEY = "devkey"
DEVELOPMENT_SECRET = "secret"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class BadSettings(ValueError):
    """Settings that cannot work, with what was expected, what came, and what to do."""


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True)

    @classmethod
    def load(cls) -> Self:
        """The settings of this process.

        Raises:
            BadSettings: a setting is missing or wrong; the message never shows a value, which may
                be a key.
        """
        try:
            return cls()
        except ValidationError as error:
            problems = []
            for problem in error.errors(include_input=False, include_url=False):
                name = ".".join(str(part) for part in problem["loc"]).upper()
                message = problem["msg"].removeprefix("Value error, ")
                problems.append(f"{name}: {message}" if name else message)
            raise BadSettings("\n".join(problems)) from None


class PageSettings(_Settings):
    """What every view needs, and all that recordings need: no server, no model and no key."""

    hotel_name: str = "Harbour View Hotel"
    recordings: Path = Path("recordings")
    database_url: str = "sqlite:///hotel.sqlite3"
    page_views: Views = Views.LOCAL


class Settings(_Settings):
    """What a call needs; each name here is the environment variable's in lower case."""

    hotel_name: str = "Harbour View Hotel"

    livekit_port: int = 7880
    livekit_url: str | None = None
    livekit_api_key: str | None = None
    livekit_api_secret: SecretStr | None = None
    livekit_agent_name: str | None = None  # only for a worker that is registered under a name

    worker_port: int = 8081

    @model_validator(mode="after")
    def _check(self) -> Self:
        url = urlsplit(self.room_url)
        if url.scheme not in ("ws", "wss", "http", "https") or not url.hostname:
            raise ValueError(
                "LIVEKIT_URL: expected an address such as ws://127.0.0.1:7880 or "
                "wss://your-project.livekit.cloud"
            )
        if (self.livekit_api_key is None) != (self.livekit_api_secret is None):
            raise ValueError("LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together: set both")
        if not self.is_local and self.livekit_api_key is None:
            raise ValueError(
                "LIVEKIT_URL names a server beyond this machine, which needs LIVEKIT_API_KEY and "
                "LIVEKIT_API_SECRET; set both, or leave LIVEKIT_URL out to use the local server"
            )
        return self

    @property
    def room_url(self) -> str:
        """Where the room server is, for this process and for the caller's browser."""
        return self.livekit_url or f"ws://127.0.0.1:{self.livekit_port}"

    @property
    def room_key(self) -> str:
        return self.livekit_api_key or DEVELOPMENT_KEY

    @property
    def room_secret(self) -> str:
        """The key's secret. It signs tokens and never leaves this process."""
        secret = self.livekit_api_secret
        return secret.get_secret_value() if secret else DEVELOPMENT_SECRET

    @property
    def is_local(self) -> bool:
        """Whether the room server is on this machine."""
        return urlsplit(self.room_url).hostname in LOOPBACK


class StackSettings(_Settings):
    """Where the parts that this page can look at are; the names are the worker's own."""

    stt_provider: str = "selfhosted"
    stt_base_url: str | None = None
    llm_provider: str = "selfhosted"
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None

    model_server_port: int = 8100
    model_server_api_key: SecretStr | None = None
    generation_port: int = 8200
    worker_port: int = 8081
    desk_port: int = 8300

    @property
    def model_server_url(self) -> str | None:
        """The model server's address, without `/v1`; None where a cloud does its work."""
        return _root(self.stt_provider, self.stt_base_url, self.model_server_port)

    @property
    def generation_url(self) -> str | None:
        """The generation server's address, without `/v1`; None where a cloud does its work."""
        return _root(self.llm_provider, self.llm_base_url, self.generation_port)

    @property
    def worker_url(self) -> str:
        return f"http://127.0.0.1:{self.worker_port}"

    @property
    def desk_url(self) -> str:
        return f"http://127.0.0.1:{self.desk_port}"

    @property
    def model_server_key(self) -> str | None:
        return self.model_server_api_key.get_secret_value() if self.model_server_api_key else None

    @property
    def generation_key(self) -> str | None:
        """One key may do for all that is served here."""
        key = self.llm_api_key or self.model_server_api_key
        return key.get_secret_value() if key else None


def _root(provider: str, base_url: str | None, port: int) -> str | None:
    if provider != "selfhosted":
        return None
    return (base_url or f"http://127.0.0.1:{port}").rstrip("/").removesuffix("/v1")
