"""Where this product keeps what it fetched and what is running, for the user who runs it."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

APPLICATION = "hotel-voice-agent"


def cache_root() -> Path:
    """Models and tools that can be fetched again. `HOTEL_VOICE_CACHE` overrides it."""
    chosen = os.environ.get("HOTEL_VOICE_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path(APPLICATION)


def state_root() -> Path:
    """The running stack's state, configuration and logs. `HOTEL_VOICE_STATE` overrides it.

    Two stacks side by side need a folder each, as they need ports of their own.
    """
    chosen = os.environ.get("HOTEL_VOICE_STATE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_state_path(APPLICATION)
