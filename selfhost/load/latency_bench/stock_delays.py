"""What the framework itself measured in the stock worker, by the names of our waterfall. Pure.

The stock pipeline has no timeline. Its worker logs what LiveKit's messages carry, and these times
are not parts of a gap: a reply that is prepared before the turn is surely over is worded while the
caller still pauses, so they overlap and need not add up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

DELAYS = "delays"  # the text of the log's lines that hold them


def stages(log: str) -> list[dict[str, float]]:
    """The delays of every turn and of every reply to one, in milliseconds.

    Args:
        log: the worker's, of one call; lines of JSON among others.

    Returns:
        For each message, those parts that it tells of; nothing of the greeting.
    """
    found = []
    caller_spoke = False
    for line in log.splitlines():
        message = _message(line)
        caller_spoke = caller_spoke or message.get("role") == "user"
        metrics = message.get("metrics")
        if caller_spoke and isinstance(metrics, Mapping) and (parts := _parts(metrics)):
            found.append(parts)
    return found


def _message(line: str) -> Mapping[str, Any]:
    try:
        data = json.loads(line)
    except ValueError:
        return {}
    return data if isinstance(data, dict) and data.get("message") == DELAYS else {}


def _parts(metrics: Mapping[str, Any]) -> dict[str, float]:
    def ms(name: str) -> float | None:
        value = metrics.get(name)
        return None if value is None else float(value) * 1000

    transcript, decision = ms("transcription_delay"), ms("end_of_turn_delay")
    token, sentence, audio = ms("llm_node_ttft"), ms("llm_node_ttfs"), ms("tts_node_ttfb")
    parts = {
        "final_transcript": transcript,
        # The decision counts from the end of speech, the first sound from the first token.
        "end_of_turn": _since(transcript, decision),
        "first_token": token,
        "first_sentence": _since(token, sentence),
        "first_audio": _since(_since(token, sentence), audio),
    }
    return {name: value for name, value in parts.items() if value is not None}


def _since(earlier_ms: float | None, later_ms: float | None) -> float | None:
    if earlier_ms is None or later_ms is None:
        return None
    return max(0.0, later_ms - earlier_ms)
