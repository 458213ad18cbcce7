"""The end of an output chain, which plays when a test says so."""

from __future__ import annotations

from livekit import rtc
from livekit.agents.voice import io


class Loudspeaker(io.AudioOutput):
    """Takes frames; what is played and when is told by hand."""

    def __init__(self) -> None:
        super().__init__(label="loudspeaker", capabilities=io.AudioOutputCapabilities(pause=True))

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)

    def flush(self) -> None:
        super().flush()

    def clear_buffer(self) -> None:
        pass
