"""eSpeak's phonemes as Kokoro takes them, in parts that it can take at once."""

from __future__ import annotations

# Kokoro has no signs for these sounds of loan words and names; the nearest that it has.
_NEAREST = str.maketrans({"r": "ɹ", "x": "k", "ɬ": "l"})


def known_signs(phonemes: str, vocabulary: dict[str, int]) -> str:
    """The phonemes without those that the model has no sign for.

    Kokoro's own dictionary writes an English diphthong as one sign (A, I, O) and eSpeak as two; the
    network knows both. Spoken by the packaged voices, the two are understood better: of "I have a
    room", the one sign "I" was lost.
    """
    return "".join(sign for sign in phonemes.translate(_NEAREST) if sign in vocabulary)


def cut(piece: str, longest: int) -> list[str]:
    """A piece in parts of at most `longest` signs, between two words where there is a place."""
    parts = []
    while len(piece) > longest:
        space = piece.rfind(" ", 1, longest)
        end = space if space > 0 else longest
        parts.append(piece[:end])
        piece = piece[end:].lstrip()
    return [*parts, piece] if piece else parts
