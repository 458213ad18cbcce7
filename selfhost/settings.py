"""The stack's settings, from the environment and `.env`: which parts run here, and where they
listen."""

from __future__ import annotations

import ipaddress
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from selfhost import room_server
from selfhost.errors import SetupError

DEVELOPMENT_KEY = "devkey"
DEVELOPMENT_SECRET = "secret"
SELFHOSTED = "selfhosted"


class StackSettings(BaseSettings):
    """Each name here is the environment variable's in lower case; see .env.example."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True)

    selfhost_host: str = "127.0.0.1"

    livekit_url: str | None = None
    livekit_api_key: str | None = None
    livekit_api_secret: SecretStr | None = None
    livekit_port: int = Field(default=7880, ge=1, le=65533)

    model_server_port: int = Field(default=8100, ge=1, le=65535)
    model_server_api_key: SecretStr | None = None
    model_server_transcription_model: str = "whisper-base"
    model_server_device: Literal["cpu", "cuda", "auto"] = "cpu"
    generation_port: int = Field(default=8200, ge=1, le=65535)
    worker_port: int = Field(default=8081, ge=1, le=65535)
    desk_port: int = Field(default=8300, ge=1, le=65535)
    worker_metrics_port: int = Field(default=8082, ge=0, le=65535)
    page_port: int = Field(default=8501, ge=1, le=65535)

    stt_provider: str = SELFHOSTED
    stt_base_url: str | None = None
    llm_provider: str = SELFHOSTED
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    tts_provider: str = SELFHOSTED
    tts_base_url: str | None = None

    generation_engine: Literal["auto", "llama", "vllm"] = "auto"
    generation_gpu_model: str = "Qwen/Qwen3-4B-Instruct-2507"
    generation_gpu_memory_utilization: float | None = Field(default=None, gt=0, le=1)

    @field_validator("selfhost_host")
    @classmethod
    def _numeric(cls, host: str) -> str:
        if host == "localhost":
            return "127.0.0.1"
        try:
            return str(ipaddress.ip_address(host))
        except ValueError:
            raise ValueError(
                "expected an address such as 127.0.0.1 or 0.0.0.0, not a name"
            ) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.livekit_api_key is None) != (self.livekit_api_secret is None):
            raise ValueError("LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together: set both")
        if self.livekit_url is not None:
            url = urlsplit(self.livekit_url)
            if url.scheme not in ("ws", "wss", "http", "https") or not url.hostname:
                raise ValueError(
                    "LIVEKIT_URL: expected an address such as wss://your-project.livekit.cloud"
                )
            if self.livekit_api_key is None:
                raise ValueError(
                    "LIVEKIT_URL is set, so a room server of your own is used, and it needs "
                    "LIVEKIT_API_KEY and LIVEKIT_API_SECRET; set both, or leave LIVEKIT_URL out "
                    "to have a room server started here"
                )
        if not self.is_loopback:
            if self.livekit_api_key in (None, DEVELOPMENT_KEY):
                raise ValueError(
                    f"SELFHOST_HOST={self.selfhost_host} lets other machines in, and everyone "
                    "knows the development keys: set LIVEKIT_API_KEY and LIVEKIT_API_SECRET to "
                    "your own (livekit-server generate-keys makes a pair), or listen on 127.0.0.1"
                )
            if self.model_server_api_key is None:
                raise ValueError(
                    f"SELFHOST_HOST={self.selfhost_host} would let anyone use the models: set "
                    "MODEL_SERVER_API_KEY, or listen on 127.0.0.1"
                )
        return self

    @classmethod
    def load(cls, **overrides: str) -> Self:
        """The settings of this process.

        Raises:
            SetupError: a setting is missing or wrong; the message names it and says what to do,
                and never shows a value that may be a key.
        """
        try:
            return cls(**overrides)  # type: ignore[arg-type]
        except ValidationError as error:
            problems = []
            for problem in error.errors(include_input=False, include_url=False):
                name = ".".join(str(part) for part in problem["loc"]).upper()
                message = problem["msg"].removeprefix("Value error, ")
                problems.append(f"{name}: {message}" if name else message)
            raise SetupError(
                "These settings cannot work:\n  "
                + "\n  ".join(problems)
                + "\nThey come from the environment and .env; .env.example lists them all."
            ) from None

    @property
    def is_loopback(self) -> bool:
        return ipaddress.ip_address(self.selfhost_host).is_loopback

    @property
    def local_address(self) -> str:
        """Where processes of this machine reach the parts."""
        address = ipaddress.ip_address(self.selfhost_host)
        if address.is_unspecified:
            return "127.0.0.1" if address.version == 4 else "[::1]"
        return f"[{address}]" if address.version == 6 else str(address)

    @property
    def runs_room_server(self) -> bool:
        return self.livekit_url is None

    @property
    def room_url(self) -> str:
        return self.livekit_url or f"ws://{self.local_address}:{self.livekit_port}"

    @property
    def room_key(self) -> str:
        return self.livekit_api_key or DEVELOPMENT_KEY

    @property
    def room_secret(self) -> str:
        secret = self.livekit_api_secret
        return secret.get_secret_value() if secret else DEVELOPMENT_SECRET

    @property
    def runs_model_server(self) -> bool:
        """Whether speech to text or speech is served here."""
        return any(
            provider == SELFHOSTED and base_url is None
            for provider, base_url in (
                (self.stt_provider, self.stt_base_url),
                (self.tts_provider, self.tts_base_url),
            )
        )

    @property
    def runs_generation(self) -> bool:
        return self.llm_provider == SELFHOSTED and self.llm_base_url is None

    @property
    def page_url(self) -> str:
        return f"http://{self.local_address}:{self.page_port}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in anything that is shown."""
        secrets = (self.livekit_api_secret, self.model_server_api_key, self.llm_api_key)
        return tuple(secret.get_secret_value() for secret in secrets if secret is not None)

    def room_ports(self) -> dict[str, int]:
        return room_server.ports(self.livekit_port)
