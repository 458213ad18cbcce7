from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from selfhost.load.ears import audible_spans, levels_dbfs
from selfhost.load.recording import write_wav
from selfhost.load.script import Pause, Sound, Words
from selfhost.load.voice import (
    SAMPLE_RATE,
    BuiltInVoice,
    ServedVoice,
    Speech,
    VoiceError,
    decode,
    open_voice,
    render,
)
from tests.selfhost.load.double import tone

NOBODY = "http://127.0.0.1:9/v1"


class Tones:
    """A voice with silence around its words, as synthesised speech has."""

    def speak(self, text: str, speed: float) -> Speech:
        quiet = np.zeros(SAMPLE_RATE // 5, dtype=np.float32)
        return np.concatenate((quiet, tone(len(text) / 10 / speed, dbfs=-30.0) / 32768, quiet))


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    """A speech endpoint that knows the voice `anna` only, and answers in WAV at 16 kHz."""
    path = tmp_path / "answer.wav"
    write_wav(path, tone(0.5)[: 16_000 // 2].reshape(-1, 1), 16_000)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            known = b'"anna"' in asked and self.headers["Authorization"] == "Bearer key"
            self.send_response(200 if known else 400)
            self.end_headers()
            self.wfile.write(path.read_bytes() if known else b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_pause_is_as_long_as_it_is_written() -> None:
    parts = (Words(text="hello"), Pause(pause_ms=700), Words(text="there"))
    first, second = audible_spans(render(parts, Tones(), 1.0, Path()), SAMPLE_RATE)
    # Two frames at each edge are kept, so that no soft consonant is cut off.
    assert second.start_s - first.end_s == pytest.approx(0.74, abs=0.011)


def test_speech_has_one_level_whatever_the_voice() -> None:
    sound = render((Words(text="hello"),), Tones(), 1.0, Path())
    assert np.max(levels_dbfs(sound, SAMPLE_RATE)) == pytest.approx(-20.0, abs=0.3)


def test_an_audio_file_is_played_as_it_is_at_the_lines_rate(tmp_path: Path) -> None:
    write_wav(tmp_path / "cough.wav", np.tile(tone(0.5).reshape(-1, 1), (1, 2)), 48_000)
    sound = render((Sound(audio=Path("cough.wav")),), Tones(), 1.0, tmp_path)
    assert len(sound) == pytest.approx(SAMPLE_RATE / 4, rel=0.02)
    assert np.median(levels_dbfs(sound, SAMPLE_RATE)) == pytest.approx(-20.0, abs=0.5)


def test_a_file_without_sound_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "notes.wav"
    path.write_text("no audio")
    with pytest.raises(VoiceError, match="expected an audio file"):
        decode(str(path), "notes.wav")


def test_a_served_voice_is_used_where_the_endpoint_has_it(endpoint: str) -> None:
    voice = open_voice("anna", endpoint, "key")
    assert isinstance(voice, ServedVoice)
    assert len(voice.speak("Hello.", 1.0)) == pytest.approx(SAMPLE_RATE / 2, rel=0.02)


@pytest.mark.parametrize("reachable", [True, False])
def test_the_built_in_voice_steps_in(endpoint: str, reachable: bool) -> None:
    voice = open_voice("hibari", endpoint if reachable else NOBODY, "key")
    assert isinstance(voice, BuiltInVoice)
    assert np.array_equal(voice.speak("Hello.", 1.0), voice.speak("Hello.", 1.0))


def test_a_voice_that_nobody_has_is_a_clear_error(endpoint: str) -> None:
    with pytest.raises(VoiceError, match="TTS_BASE_URL"):
        open_voice("bella", endpoint, "key")
