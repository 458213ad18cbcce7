"""Which decoded text nobody spoke.

Whisper has learnt from subtitles: on silence or noise it writes what subtitles often hold there, or
repeats itself. Everything here is a pure function of the text and the model's own scores.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

NO_SPEECH_PROB = 0.6
MIN_AVG_LOGPROB = -1.0
HOPELESS_AVG_LOGPROB = -1.7
MAX_COMPRESSION_RATIO = 2.4
MIN_CHARS_TO_COMPRESS = 40  # short texts compress badly whatever they say
REPEATED_WORDS_PER_S = 4.5  # somebody who says a thing twice does not hurry
MAX_WORDS_PER_S = 6.0  # of voice, pauses left out
MIN_VOICED_MS = 96  # three windows of the voice detector; less is a click

# Never said to a hotel, and common in subtitles: withheld wherever they are the whole text.
NEVER_SPOKEN = frozenset(
    {
        "thank you for watching",
        "thanks for watching",
        "thank you so much for watching",
        "thank you for listening",
        "please subscribe",
        "please subscribe to my channel",
        "like and subscribe",
        "dont forget to subscribe",
        "subtitles by the amaraorg community",
        "transcription by castingwords",
        "see you in the next video",
        "ill see you in the next video",
        "see you next time",
    }
)
# Said by people too: withheld only where the scores or the little voice heard speak against it.
OFTEN_INVENTED = frozenset({"you", "thank you", "thanks", "bye", "bye bye"})
DOUBTFUL_AVG_LOGPROB = -0.7
DOUBTFUL_VOICED_MS = 200
MIN_ECHO_WORDS = 3

_NOT_LETTERS = re.compile(r"[^\w\s]")
_MARKED_SOUND = re.compile(r"[\[(*♪][^\])*♪]*[\])*♪]")  # [Music], (applause), *laughs*, ♪ la ♪


def compression_ratio(text: str) -> float:
    """Bytes of the text over its bytes compressed: high where it repeats itself; 0 if empty."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def plain(text: str) -> str:
    """Lower case, no punctuation, single spaces: for comparing texts by their words."""
    return " ".join(_NOT_LETTERS.sub("", text.replace("-", " ")).lower().split())


def reason_to_withhold(
    text: str,
    *,
    avg_logprob: float,
    no_speech_prob: float,
    voiced_ms: float,
    keywords: Sequence[str] = (),
    prompt: str = "",
) -> str | None:
    """Why this text must not be shown, or None if it may be.

    Args:
        text: after `collapse_repeats`.
        voiced_ms: how much of the audio the voice detector took for a voice.
        keywords: what the model was told to expect; it echoes them where it hears nothing.
        prompt: the text that it was given to go on from; likewise.
    """
    words = plain(_MARKED_SOUND.sub(" ", text))
    if not words:
        return "empty"
    if voiced_ms < MIN_VOICED_MS:
        return "no voice"
    if no_speech_prob > NO_SPEECH_PROB and avg_logprob < MIN_AVG_LOGPROB:
        return "no speech"
    if avg_logprob < HOPELESS_AVG_LOGPROB:
        return "improbable"
    if words in NEVER_SPOKEN:
        return "invented phrase"
    doubtful = avg_logprob < DOUBTFUL_AVG_LOGPROB or voiced_ms < DOUBTFUL_VOICED_MS
    if words in OFTEN_INVENTED and doubtful:
        return "invented phrase"
    # Callers repeat themselves, but not faster than people speak: a decoding loop does.
    too_fast = len(words.split()) > MAX_WORDS_PER_S * voiced_ms / 1000
    repeats = len(text) >= MIN_CHARS_TO_COMPRESS and compression_ratio(text) > MAX_COMPRESSION_RATIO
    if repeats and too_fast:
        return "repetition"
    if len(keywords) > 1 and words == plain(" ".join(keywords)):
        return "echoed keywords"
    if len(words.split()) >= MIN_ECHO_WORDS and doubtful and words in plain(prompt):
        return "echoed prompt"
    return None


def collapse_repeats(text: str, *, voiced_ms: float) -> str:
    """`text` without the repeats of a decoding loop.

    A phrase said twice stays while there was time to say it: callers do say "no, no". The same
    phrase three times, or the same word four times, is always one. Digits and letters stay:
    references and telephone numbers do repeat them.

    Args:
        voiced_ms: for how long a voice was heard.
    """
    words = text.split()
    keys = [plain(word) for word in words]
    too_fast = len(words) > max(1.0, REPEATED_WORDS_PER_S * voiced_ms / 1000)
    kept: list[str] = []
    index = 0
    while index < len(words):
        length, times = _longest_repeat(keys, index)
        spelt = all(len(key) == 1 or key.isdigit() for key in keys[index : index + length])
        too_many = times >= (4 if length == 1 else 3)
        if times > 1 and (too_many or too_fast) and not spelt:
            kept.extend(words[index : index + length])
            index += length * times
        else:
            kept.append(words[index])
            index += 1
    return " ".join(kept)


def _longest_repeat(keys: Sequence[str], start: int) -> tuple[int, int]:
    """Length and count of the phrase at `start` that repeats at once over the most words."""
    best = (1, 1)
    for length in range(1, (len(keys) - start) // 2 + 1):
        phrase = keys[start : start + length]
        times = 1
        while keys[start + length * times : start + length * (times + 1)] == phrase:
            times += 1
        if times > 1 and length * times > best[0] * best[1]:
            best = (length, times)
    return best
