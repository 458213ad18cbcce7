"""The typed and the spoken console on a machine without PortAudio, which opens sound devices."""

from __future__ import annotations

import sys
import types

NEEDED = (
    "`python -m agent console` speaks and listens through PortAudio, which is not installed here. "
    "Install it (Debian: apt-get install libportaudio2; macOS: brew install portaudio), or type "
    "the call: `python -m agent console --text`"
)


class SoundUnavailable(RuntimeError):
    """The console needs a sound library that this machine lacks; the message says which."""


def prepare(arguments: list[str]) -> None:
    """Make the console usable as far as this machine allows.

    A typed console opens no sound device, yet the framework imports the library for it first; so an
    empty module takes its place where the real one cannot be loaded.

    Raises:
        SoundUnavailable: the console was asked to speak, and cannot.
    """
    try:
        import sounddevice  # noqa: F401
    except OSError:
        if "--text" not in arguments:
            raise SoundUnavailable(NEEDED) from None
        sys.modules["sounddevice"] = types.ModuleType("sounddevice")
