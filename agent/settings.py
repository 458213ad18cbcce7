"""Every setting of the worker, from the environment and `.env`.

Each of speech to text, generation and speech is an endpoint that can be replaced on its own. With
nothing set, all three are the self-hosted ones on this machine.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

SELFHOSTED_KEY = "selfhosted"  # the OpenAI client insists on some key; loopback servers need none


class Provider(StrEnum):
    """Who answers: a server of one's own, LiveKit Inference, or an OpenAI-compatible endpoint."""

    SELFHOSTED = "selfhosted"
    LIVEKIT = "livekit"
    OPENAI = "openai"
    OPENROUTER = "openrouter"


class SpeechAhead(StrEnum):
    """What is synthesised before it is wanted; some of it is never heard."""

    NONE = "none"
    COMMON = "common"  # once a worker: the greeting, and the sentences that calls share
    ALL = "all"  # and, while the caller speaks, what the reply would be


class BadSettings(ValueError):
    """Settings that cannot work, with what was expected, what came, and what to do."""


class Settings(BaseSettings):
    """The worker's settings; each name here is the environment variable's in lower case."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True)

    livekit_url: str = "ws://127.0.0.1:7880"
    livekit_api_key: str = "devkey"
    livekit_api_secret: SecretStr = SecretStr("secret")

    stt_provider: Provider = Provider.SELFHOSTED
    stt_base_url: str | None = None
    stt_model: str | None = None
    stt_api_key: SecretStr | None = None

    llm_provider: Provider = Provider.SELFHOSTED
    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    openrouter_api_key: SecretStr | None = None
    openrouter_model: str = "openai/gpt-4.1-mini"

    tts_provider: Provider = Provider.SELFHOSTED
    tts_base_url: str | None = None
    tts_model: str | None = None
    tts_voice: str | None = None
    tts_api_key: SecretStr | None = None
    speech_ahead: SpeechAhead | None = None

    model_server_port: int = 8100
    model_server_api_key: SecretStr | None = None
    generation_port: int = 8200

    livekit_inference_url: str | None = None
    livekit_inference_api_key: SecretStr | None = None
    livekit_inference_api_secret: SecretStr | None = None

    hotel: str = "harbour-view"
    hotel_name: str | None = None
    database_url: str = "sqlite:///hotel.sqlite3"
    record_calls: bool = Field(default=True, description="whether each call's timeline is kept")
    recordings: Path = Field(default=Path("recordings"), description="where it is kept")

    livekit_spans: bool = Field(
        default=False, description="whether a call's trace holds the framework's own spans too"
    )

    worker_host: str = "127.0.0.1"
    worker_port: int = 8081
    worker_metrics_port: int = Field(
        default=0, ge=0, le=65535, description="where `start` serves its metrics; 0 serves none"
    )
    max_calls: int = Field(default=4, ge=1, description="calls that this worker takes at once")

    # Half a second of the gap has gone by when the wait begins, and 1.6 s is the most that a caller
    # should be left without a sound: "let me see" at least.
    reply_deadline_s: float = Field(
        default=1.0, gt=0, description="how long a caller waits for the language model's words"
    )

    barge_in: bool = Field(default=True, description="whether a caller may interrupt the agent")
    silence_prompt_s: float = Field(
        default=10.0,
        gt=0,
        description="silence before the agent asks if the caller is still there; after two such "
        "prompts it says goodbye and hangs up",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for part in ("stt", "tts"):
            if getattr(self, f"{part}_provider") is Provider.OPENROUTER:
                raise ValueError(
                    f"{part.upper()}_PROVIDER=openrouter: OpenRouter serves language models only; "
                    "expected selfhosted, livekit or openai"
                )
        if self.llm_provider is Provider.OPENROUTER and self.openrouter_api_key is None:
            raise ValueError(
                "LLM_PROVIDER=openrouter needs OPENROUTER_API_KEY; set it in the environment or "
                "in .env, or remove LLM_PROVIDER to use the self-hosted model"
            )
        for part in ("stt", "llm", "tts"):
            provider, key, url = (
                getattr(self, f"{part}_{name}") for name in ("provider", "api_key", "base_url")
            )
            if provider is Provider.OPENAI and key is None and url is None:
                name = part.upper()
                raise ValueError(
                    f"{name}_PROVIDER=openai needs {name}_API_KEY, and {name}_BASE_URL for an "
                    "endpoint other than OpenAI's own"
                )
        return self

    @classmethod
    def load(cls) -> Self:
        """The settings of this process.

        Raises:
            BadSettings: a setting is missing or wrong; the message names it and says what to do,
                and never shows a value, which may be a key.
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

    @property
    def stt_url(self) -> str | None:
        """Where speech to text is, or None for the OpenAI client's own default."""
        return self._url(self.stt_provider, self.stt_base_url, self.model_server_port)

    @property
    def llm_url(self) -> str | None:
        """Where generation is, or None for the OpenAI client's own default."""
        if self.llm_provider is Provider.OPENROUTER:
            return self.llm_base_url or "https://openrouter.ai/api/v1"
        return self._url(self.llm_provider, self.llm_base_url, self.generation_port)

    @property
    def tts_url(self) -> str | None:
        """Where speech is, or None for the OpenAI client's own default."""
        return self._url(self.tts_provider, self.tts_base_url, self.model_server_port)

    @property
    def makes_common_speech_ahead(self) -> bool:
        """Whether each worker synthesises the sentences that calls share, once."""
        return self.speech_ahead is not SpeechAhead.NONE

    @property
    def makes_replies_ahead(self) -> bool:
        """Whether replies are synthesised before the caller's turn is over.

        Unless it is set, only with a server of one's own: others are paid by the character.
        """
        if self.speech_ahead is None:
            return self.tts_provider is Provider.SELFHOSTED
        return self.speech_ahead is SpeechAhead.ALL

    @staticmethod
    def _url(provider: Provider, base_url: str | None, port: int) -> str | None:
        if base_url is not None or provider is not Provider.SELFHOSTED:
            return base_url
        return f"http://127.0.0.1:{port}/v1"

    def describe_providers(self) -> dict[str, str]:
        """Each part's provider and model, for the timeline; holds no key and no address."""
        llm_model = (
            self.openrouter_model
            if self.llm_provider is Provider.OPENROUTER
            else (self.llm_model or "default")
        )
        return {
            "stt": f"{self.stt_provider.value}/{self.stt_model or 'default'}",
            "llm": f"{self.llm_provider.value}/{llm_model}",
            "tts": f"{self.tts_provider.value}/{self.tts_model or 'default'}",
        }
