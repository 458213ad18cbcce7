"""The parts of the stack: what each one runs, needs, listens on, and how it shows that it is ready.

Pure: from settings to data. Nothing here starts anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from selfhost.engines import llama, vllm
from selfhost.errors import SetupError
from selfhost.plan.start_order import Starter, order
from selfhost.settings import StackSettings

ROOM_SERVER = "room-server"
MODEL_SERVER = "model-server"
GENERATION = "generation"
WORKER = "worker"
DESK = "desk"
PAGE = "page"
NAMES = (ROOM_SERVER, MODEL_SERVER, GENERATION, WORKER, DESK, PAGE)

Profile = Literal["cpu", "gpu"]
PROJECT = Path(__file__).resolve().parent.parent
MB = 1 << 20


@dataclass(frozen=True)
class Port:
    """A port that a part listens on, and the variable that moves it."""

    number: int
    variable: str
    protocol: Literal["tcp", "udp"] = "tcp"


@dataclass(frozen=True)
class Part:
    """One child process of the stack.

    Args:
        command: program and arguments.
        environment: added to this process's own.
        needs: the parts that must be ready before this one is started.
        ready_url: answers 200 once the part is ready.
        live_url: answers 200 while the part gets on with its work, however much of it there is;
            None where `ready_url` says that too.
        ready_log: text that its log must hold besides, where the address alone says too little.
        ready_log_after: the part whose restart makes that text due once more.
        memory_bytes: roughly what it takes, measured; for the check before a start.
        models: the catalogue names of the models that it loads.
        start_timeout_s: after this long without being ready, it is taken for hung.
        stop_grace_s: between SIGTERM and SIGKILL.
    """

    name: str
    command: tuple[str, ...]
    ready_url: str
    ports: tuple[Port, ...]
    memory_bytes: int
    environment: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    live_url: str | None = None
    ready_log: str | None = None
    ready_log_after: str | None = None
    models: tuple[str, ...] = ()
    start_timeout_s: float = 120.0
    stop_grace_s: float = 5.0


def build(
    settings: StackSettings,
    profile: Profile,
    *,
    room_server_program: Path | None,
    room_server_config: Path,
    instructions: Path | None = None,
) -> tuple[Part, ...]:
    """Every part that these settings ask for, in the order in which they are started.

    Args:
        settings: valid ones.
        profile: which generation engine.
        room_server_program: None where it is not there yet.
        room_server_config: the file that holds its configuration.
        instructions: a file with what generation is to read before it is called ready.
    """
    local = f"http://{settings.local_address}"
    host = settings.selfhost_host
    python = (sys.executable, "-m")
    shared = shared_environment(settings)
    parts = []
    if settings.runs_room_server:
        room = settings.room_ports()
        media_tcp = () if settings.is_loopback else (Port(room["media_tcp"], "LIVEKIT_PORT"),)
        parts.append(
            Part(
                ROOM_SERVER,
                (str(room_server_program or "livekit-server"), "--config", str(room_server_config)),
                ready_url=f"{local}:{settings.livekit_port}/",
                ports=(
                    Port(room["signalling"], "LIVEKIT_PORT"),
                    *media_tcp,
                    Port(room["media_udp"], "LIVEKIT_PORT", "udp"),
                ),
                memory_bytes=100 * MB,
            )
        )
    if settings.runs_model_server:
        parts.append(
            Part(
                MODEL_SERVER,
                (
                    *(*python, "selfhost", "server"),
                    *("--host", host, "--port", str(settings.model_server_port)),
                ),
                environment=shared,
                ready_url=f"{local}:{settings.model_server_port}/ready",
                live_url=f"{local}:{settings.model_server_port}/health",
                ports=(Port(settings.model_server_port, "MODEL_SERVER_PORT"),),
                memory_bytes=700 * MB,
                models=(settings.model_server_transcription_model, "piper-joe"),
            )
        )
    if settings.runs_generation:
        read_first = {"GENERATION_INSTRUCTIONS": str(instructions)} if instructions else {}
        parts.append(_generation(settings, profile, python, {**shared, **read_first}))
    waits_for = card_order(settings, profile)
    parts = [replace(part, needs=waits_for.get(part.name, ())) for part in parts]
    endpoints = tuple(part.name for part in parts)
    metrics = settings.worker_metrics_port
    parts.append(
        Part(
            WORKER,
            (*python, "agent", "start"),
            environment={**shared, "WORKER_METRICS_PORT": str(metrics)},
            needs=endpoints,
            ready_url=f"http://127.0.0.1:{settings.worker_port}/",
            # Its health address answers before the room server has accepted it.
            ready_log="registered worker",
            ready_log_after=ROOM_SERVER if settings.runs_room_server else None,
            ports=(
                Port(settings.worker_port, "WORKER_PORT"),
                *((Port(metrics, "WORKER_METRICS_PORT"),) if metrics else ()),
            ),
            memory_bytes=1_200 * MB,
            # Time for a caller to hear the end of a sentence; then the stack is going down.
            stop_grace_s=10.0,
        )
    )
    parts.append(
        Part(
            DESK,
            (*python, "desk", "run"),
            environment={**shared, "DESK_HOST": host},
            ready_url=f"{local}:{settings.desk_port}/metrics",
            ports=(Port(settings.desk_port, "DESK_PORT"),),
            memory_bytes=100 * MB,
            # A delivery that is under way has ten seconds to be answered.
            stop_grace_s=12.0,
        )
    )
    parts.append(
        Part(
            PAGE,
            (
                *(*python, "streamlit", "run", str(PROJECT / "ui" / "page.py")),
                *("--server.address", host, "--server.port", str(settings.page_port)),
                *("--server.headless", "true", "--server.fileWatcherType", "none"),
                *("--browser.gatherUsageStats", "false"),
            ),
            environment=shared,
            ready_url=f"{local}:{settings.page_port}/_stcore/health",
            ports=(Port(settings.page_port, "PAGE_PORT"),),
            memory_bytes=200 * MB,
        )
    )
    return tuple(parts)


def card_order(settings: StackSettings, profile: Profile) -> dict[str, tuple[str, ...]]:
    """Whom each part that loads models waits for, since they share a card; nobody on a CPU.

    Args:
        settings: valid ones.
        profile: where generation runs.
    """
    on_card = profile == "gpu"
    starters = []
    if settings.runs_model_server:
        shares = on_card and settings.model_server_device != "cpu"
        starters.append(Starter(MODEL_SERVER, measures_the_card=False, on_card=shares))
    if settings.runs_generation:
        measures = on_card and generation_engine(settings, profile) == "vllm"
        starters.append(Starter(GENERATION, measures_the_card=measures, on_card=on_card))
    return {step.name: step.waits_for for step in order(starters)}


def generation_engine(settings: StackSettings, profile: Profile) -> Literal["llama", "vllm"]:
    """Which engine serves generation with this profile.

    Raises:
        SetupError: the engine that was asked for does not run with it.
    """
    if settings.generation_engine == "llama" and profile == "gpu":
        raise SetupError("GENERATION_ENGINE=llama serves the CPU; expected vllm, or --profile cpu.")
    if settings.generation_engine == "auto":
        return "vllm" if profile == "gpu" else "llama"
    return settings.generation_engine


def _generation(
    settings: StackSettings,
    profile: Profile,
    python: tuple[str, ...],
    environment: Mapping[str, str],
) -> Part:
    engine = generation_engine(settings, profile)
    url = f"http://{settings.local_address}:{settings.generation_port}"
    memory_bytes = vllm.CPU_MEMORY_BYTES if engine == "vllm" else llama.MEMORY_BYTES
    return Part(
        GENERATION,
        (
            *(*python, "selfhost", "generate", "--engine", engine, "--device", profile),
            *("--host", settings.selfhost_host, "--port", str(settings.generation_port)),
            *(_card_options(settings) if profile == "gpu" else ()),
        ),
        environment=environment,
        ready_url=f"{url}/health",
        live_url=f"{url}/live",
        ports=(Port(settings.generation_port, "GENERATION_PORT"),),
        memory_bytes=memory_bytes if profile == "cpu" else 4_000 * MB,
        models=(llama.MODEL,) if engine == "llama" else (),
        # The engine behind it has a limit of its own, and is started again by its front.
        start_timeout_s=vllm.START_TIMEOUT_S[profile] if engine == "vllm" else 120.0,
        # It ends the engine, and waits for what the engine tidies up.
        stop_grace_s=10.0,
    )


def _card_options(settings: StackSettings) -> tuple[str, ...]:
    """What generation is told of the card. Said here, as `.env` is read by this process alone."""
    options = ["--model", settings.generation_gpu_model]
    if settings.generation_gpu_memory_utilization is not None:
        options += ["--gpu-memory-utilization", f"{settings.generation_gpu_memory_utilization:g}"]
    if settings.runs_model_server and settings.model_server_device != "cpu":
        options += ["--shares-card"]
    return tuple(options)


def choose(parts: tuple[Part, ...], only: tuple[str, ...]) -> tuple[Part, ...]:
    """The parts named; what they need besides is taken to run elsewhere. All, if none is named."""
    if not only:
        return parts
    return tuple(
        replace(part, needs=tuple(need for need in part.needs if need in only))
        for part in parts
        if part.name in only
    )


def shared_environment(settings: StackSettings) -> dict[str, str]:
    """What every part of ours is told: where the others are, and to stay on this machine."""
    loopback = "127.0.0.1,localhost,::1"
    configured = os.environ.get("NO_PROXY") or os.environ.get("no_proxy")
    no_proxy = f"{configured},{loopback}" if configured else loopback
    environment = {
        "LIVEKIT_URL": settings.room_url,
        "LIVEKIT_API_KEY": settings.room_key,
        "LIVEKIT_API_SECRET": settings.room_secret,
        "LIVEKIT_PORT": str(settings.livekit_port),
        "MODEL_SERVER_PORT": str(settings.model_server_port),
        "GENERATION_PORT": str(settings.generation_port),
        "WORKER_PORT": str(settings.worker_port),
        "DESK_PORT": str(settings.desk_port),
        "PAGE_PORT": str(settings.page_port),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        "ORT_DISABLE_TELEMETRY": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
        "PYTHONUNBUFFERED": "1",
    }
    if settings.model_server_api_key is not None:
        # One key for all models that are served here.
        key = settings.model_server_api_key.get_secret_value()
        environment["MODEL_SERVER_API_KEY"] = key
        if settings.runs_generation and settings.llm_api_key is None:
            environment["LLM_API_KEY"] = key
    return environment
