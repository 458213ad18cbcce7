"""Which STT, LLM, TTS and turn detection a call uses: the AgentSession.

Turn detection and interruption are local in every mode: the framework would otherwise reach for
its cloud models in development and for local ones in production, which behave and time unlike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from livekit.agents import NOT_GIVEN, AgentSession, APIConnectOptions, inference
from livekit.agents import llm as agents_llm
from livekit.agents import stt as agents_stt
from livekit.agents import tts as agents_tts
from livekit.agents import vad as agents_vad
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.plugins import openai, silero

from agent.settings import SELFHOSTED_KEY, Provider, Settings
from agent.speech.prepared import PreparedVoice, Shelf
from agent.speech.synthesis import synthesiser
from agent.turns.turn_end import UNFINISHED_S, WHOLE_S

# Models whose names start so let the client's VAD end a segment and take `keywords`; the model
# server answers to this name too.
REALTIME_STT_MODEL = "gpt-live-transcribe"

SESSION_MIN_SILENCE_S = 0.25
# Earlier than the session's VAD, so that the final is there when the turn is decided.
STT_MIN_SILENCE_S = 0.2

# A restarted server is found again within seconds, for as long as the call lasts.
STT_CONNECT = APIConnectOptions(max_retry=1_000, retry_interval=1.0, timeout=5.0)
# A late answer is worse than the short one that the code has ready, so the model gets one try.
LLM_CONNECT = APIConnectOptions(max_retry=0, timeout=10.0)
TTS_CONNECT = APIConnectOptions(max_retry=2, retry_interval=0.5, timeout=5.0)
# Whoever wants the sentence after all has it synthesised then.
TTS_AHEAD_CONNECT = APIConnectOptions(max_retry=0, timeout=5.0)
# The receptionist answers without the model, so failures of the model alone never end a call.
MAX_UNRECOVERABLE_ERRORS = 1_000

LLM_MAX_TOKENS = 90


def load_vad(min_silence_s: float) -> agents_vad.VAD:
    """Silero VAD that ends speech after `min_silence_s` seconds; slow, so done before a call."""
    return silero.VAD.load(min_silence_duration=min_silence_s)


def build_stt(settings: Settings, vad: agents_vad.VAD, keywords: list[str]) -> agents_stt.STT[Any]:
    """The speech-to-text client.

    Args:
        settings: where it is and which model.
        vad: ends a segment for servers that leave that to the client.
        keywords: words to expect, for models that take them.
    """
    if settings.stt_provider is Provider.LIVEKIT:
        return inference.STT(
            settings.stt_model or "speechmatics/linden-1",
            language="en",
            extra_kwargs={"enable_partials": True},
            **_inference_credentials(settings),
        )
    realtime = settings.stt_provider is Provider.SELFHOSTED
    model = settings.stt_model or (REALTIME_STT_MODEL if realtime else "gpt-4o-mini-transcribe")
    takes_keywords = model.startswith(REALTIME_STT_MODEL)
    key = settings.stt_api_key or (settings.model_server_api_key if realtime else None)
    return openai.STT(
        model=model,
        language="en",
        use_realtime=True,
        base_url=settings.stt_url or NOT_GIVEN,
        api_key=key.get_secret_value() if key else SELFHOSTED_KEY,
        keywords=keywords if takes_keywords else NOT_GIVEN,
        vad=vad if takes_keywords else NOT_GIVEN,
    )


def build_llm(settings: Settings) -> agents_llm.LLM[Any]:
    """The language model's client."""
    if settings.llm_provider is Provider.LIVEKIT:
        return inference.LLM(
            settings.llm_model or "openai/gpt-4.1-mini", **_inference_credentials(settings)
        )
    if settings.llm_provider is Provider.OPENROUTER:
        key, model = settings.openrouter_api_key, settings.openrouter_model
    else:
        key = settings.llm_api_key
        model = settings.llm_model or (
            "qwen2.5-coder-1.5b-instruct"
            if settings.llm_provider is Provider.SELFHOSTED
            else "gpt-4.1-mini"
        )
    return openai.LLM(
        model=model,
        base_url=settings.llm_url or NOT_GIVEN,
        api_key=key.get_secret_value() if key else SELFHOSTED_KEY,
        temperature=0.3,
        max_completion_tokens=LLM_MAX_TOKENS,
        # Qwen's chat template thinks aloud unless told not to; endpoints that are not one's own
        # may reject the field.
        extra_body={"chat_template_kwargs": {"enable_thinking": False}}
        if settings.llm_provider is Provider.SELFHOSTED
        else NOT_GIVEN,
    )


def build_tts(settings: Settings) -> agents_tts.TTS[Any]:
    """The speech client; raw 24 kHz PCM, so that the first sound waits for no decoder."""
    if settings.tts_provider is Provider.LIVEKIT:
        return inference.TTS(
            settings.tts_model or "fishaudio/s2.1-pro", **_inference_credentials(settings)
        )
    selfhosted = settings.tts_provider is Provider.SELFHOSTED
    key = settings.tts_api_key or (settings.model_server_api_key if selfhosted else None)
    return openai.TTS(
        model=settings.tts_model or ("piper" if selfhosted else "gpt-4o-mini-tts"),
        voice=settings.tts_voice or ("joe" if selfhosted else "ash"),
        base_url=settings.tts_url or NOT_GIVEN,
        api_key=key.get_secret_value() if key else SELFHOSTED_KEY,
        response_format="pcm",
    )


@dataclass(frozen=True)
class Models:
    """What hears, words and speaks in one call.

    Building the clients takes some tenths of a second (each makes a TLS context), which would hold
    up the loop of a call; so they are built beforehand.
    """

    stt: agents_stt.STT[Any]
    llm: agents_llm.LLM[Any]
    tts: agents_tts.TTS[Any]
    # For sentences that may never be wanted: its failures are none of the session's.
    tts_ahead: agents_tts.TTS[Any] | None
    session_vad: agents_vad.VAD

    @classmethod
    def load(cls, settings: Settings, keywords: list[str]) -> Models:
        """Build the clients and load the local models.

        Args:
            settings: the three endpoints.
            keywords: words that the recogniser should expect.
        """
        return cls(
            stt=build_stt(settings, load_vad(STT_MIN_SILENCE_S), keywords),
            llm=build_llm(settings),
            tts=build_tts(settings),
            tts_ahead=build_tts(settings) if settings.makes_replies_ahead else None,
            session_vad=load_vad(SESSION_MIN_SILENCE_S),
        )

    def voice(self, shelf: Shelf) -> PreparedVoice:
        """The call's voice.

        Args:
            shelf: the sound that it has already.
        """
        ahead = self.tts_ahead
        return PreparedVoice(
            synthesiser(self.tts, TTS_CONNECT),
            None if ahead is None else synthesiser(ahead, TTS_AHEAD_CONNECT),
            shelf,
        )


def build_session(models: Models, *, barge_in: bool = True) -> AgentSession[None]:
    """The session of one call.

    Args:
        models: what hears, words and speaks.
        barge_in: whether the caller may interrupt the agent.
    """
    return AgentSession(
        stt=models.stt,
        vad=models.session_vad,
        llm=models.llm,
        tts=models.tts,
        turn_handling={
            # The receptionist brings its own; left out, the framework would pick its cloud model.
            "turn_detection": "vad",
            "endpointing": {
                "mode": "fixed",
                # What ends a turn: the receptionist sets the longer one for each.
                "min_delay": WHOLE_S,
                "max_delay": UNFINISHED_S,
            },
            # The receptionist's floor interrupts on words. A sound alone holds the agent for a
            # moment, so no sound is long enough for the framework.
            "interruption": {
                "enabled": barge_in,
                # What is said over a line that goes on is kept until that has been said.
                "discard_audio_if_uninterruptible": False,
                "mode": "vad",
                "min_duration": math.inf,
                "resume_false_interruption": True,
                "false_interruption_timeout": 1.5,
            },
            "preemptive_generation": {"enabled": True, "preemptive_tts": True},
        },
        # What is spoken was made speakable and checked sentence by sentence already.
        tts_text_transforms=None,
        user_away_timeout=None,
        conn_options=SessionConnectOptions(
            stt_conn_options=STT_CONNECT,
            llm_conn_options=LLM_CONNECT,
            tts_conn_options=TTS_CONNECT,
            max_unrecoverable_errors=MAX_UNRECOVERABLE_ERRORS,
        ),
    )


def _inference_credentials(settings: Settings) -> dict[str, Any]:
    key, secret = settings.livekit_inference_api_key, settings.livekit_inference_api_secret
    credentials = {
        "base_url": settings.livekit_inference_url,
        "api_key": key.get_secret_value() if key else None,
        "api_secret": secret.get_secret_value() if secret else None,
    }
    return {name: value for name, value in credentials.items() if value is not None}
