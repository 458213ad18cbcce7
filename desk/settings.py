"""The front desk's settings, from the environment and `.env`."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, HttpUrl, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from desk.webhook import check_secret


class BadSettings(ValueError):
    """Settings that cannot work, with what was expected and what to do."""


class DeskSettings(BaseSettings):
    """Each name here is the environment variable's in lower case."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True)

    database_url: str = "sqlite:///hotel.sqlite3"
    recordings: Path = Path("recordings")
    desk_host: str = "127.0.0.1"
    desk_port: int = Field(default=8300, description="where the running desk tells its metrics")
    webhook_url: HttpUrl | None = None
    webhook_secret: SecretStr | None = None
    retention_days: int = Field(
        default=90, ge=0, description="how long after call and stay a request is kept; 0: for ever"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.webhook_url is not None and self.webhook_secret is None:
            raise ValueError(
                "WEBHOOK_URL needs WEBHOOK_SECRET, which signs what is sent: make one with "
                "`openssl rand -base64 32`, and give it to the receiver too"
            )
        if self.webhook_secret is not None:
            check_secret(self.webhook_secret.get_secret_value())
        return self

    @classmethod
    def load(cls) -> Self:
        """The settings of this process.

        Raises:
            BadSettings: one is missing or wrong; the message never shows a value, which may be a
                key.
        """
        try:
            return cls()
        except ValidationError as error:
            problems = []
            for problem in error.errors(include_input=False, include_url=False):
                name = ".".join(str(part) for part in problem["loc"]).upper()
                message = problem["msg"].removeprefix("Value error, ")
                problems.append(f"{name}: {message}" if name else message)
            raise BadSettings(
                "These settings cannot work:\n  "
                + "\n  ".join(problems)
                + "\nThey come from the environment and .env; .env.example lists them all."
            ) from None
