"""The voices of the server's catalogue."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path

from selfhost.server.errors import unknown_name
from selfhost.server.health.speaking import check_speaking
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.residency.pool import Pool
from selfhost.server.scheduling import Worker
from selfhost.server.settings import ServerSettings
from selfhost.server.speech.model import SpeechModel
from selfhost.server.speech.voices import HibariVoice, PiperVoice

MB = 1_000_000

ALIASES = ("tts-1",)  # the name that clients use by default
VOICES = {"joe": "piper", "hibari": "hibari"}
"""The model that speaks in a voice, for models with one voice."""

# By the name that clients use: the model's files, its own voice, and its memory while it computes
# its longest piece. The first was measured (between pieces it holds 170 MB); the second is the
# file's size and, for the work, what the first takes beyond its own.
KOKORO = {
    "kokoro": ("kokoro-82m", "jf_tebukuro", 470 * MB),
    "kokoro-fp32": ("kokoro-82m-fp32", "af_heart", 700 * MB),
}


def entries(
    settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> list[Entry[SpeechModel]]:
    """The voices that are installed; the alias means the one that the settings name."""

    def worker(name: str) -> Worker:
        return Worker(name, max_queued=settings.max_queued, metrics=metrics)

    def load_piper() -> SpeechModel:
        voice = PiperVoice(folder("piper-joe"), threads=settings.speech_threads)
        return SpeechModel("joe", voice, worker("piper"))

    def load_hibari() -> SpeechModel:
        return SpeechModel("hibari", HibariVoice(threads=settings.speech_threads), worker("hibari"))

    def load_kokoro(name: str) -> SpeechModel:
        # Imported when it is first used, for the sake of servers that never do.
        from selfhost.server.speech.kokoro import Kokoro

        files, own_voice, _ = KOKORO[name]
        # The small form's integer arithmetic is a CPU's; a GPU gains nothing from it.
        device = "cpu" if name == "kokoro" else settings.device
        voices = Kokoro(folder(files), device=device, threads=settings.speech_threads).voices()
        voice = voices.get(own_voice) or next(iter(voices.values()))
        return SpeechModel(name, voice, worker(name), voices)

    def entry(name: str, memory_bytes: int, load: Callable[[], SpeechModel]) -> Entry[SpeechModel]:
        aliases = ALIASES if name == settings.speech_model else ()
        return Entry(name, Job.SPEECH, memory_bytes, load, check_speaking, aliases)

    found = [entry("piper", 120 * MB, load_piper)]
    if importlib.util.find_spec("hibari") is not None:
        found.append(entry("hibari", 100 * MB, load_hibari))
    for name, (_, _, memory_bytes) in KOKORO.items():
        found.append(entry(name, memory_bytes, partial(load_kokoro, name)))
    return found


def model_of(pool: Pool, model: str, voice: str | None) -> str:
    """The id of the model that speaks as asked: in the voice `voice`, or the model's own.

    Raises:
        ApiError: no such model or voice.
    """
    chosen = pool.resolve(model, Job.SPEECH)
    if voice is None or chosen in KOKORO:  # which voices those have is told by their files
        return chosen
    if VOICES.get(voice) not in pool.entries:
        known = [name for name, id_ in VOICES.items() if id_ in pool.entries]
        raise unknown_name("voice", voice, known)
    return VOICES[voice]
