"""Which type of room: the hotel's own types, by the words that callers use for them."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz, process

from agent.booking.corrections import negated, replacing
from agent.booking.heard import Asked, Found, Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.numbers import is_number_word
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

# Rooms that hotels have; one that this hotel does not have is asked about.
_OTHER_TYPES = (
    "triple",
    "triple room",
    "quad",
    "quad room",
    "quadruple room",
    "penthouse",
    "dorm",
    "dorm bed",
    "dormitory",
    "studio",
    "bungalow",
    "villa",
    "apartment",
    "cabin",
    "cottage",
    "deluxe",
    "deluxe room",
    "superior room",
    "executive room",
    "standard room",
    "connecting rooms",
    "presidential suite",
    "royal suite",
    "bridal suite",
    "honeymoon suite",
    "junior suite",
    "executive suite",
    "penthouse suite",
    "single",
    "single room",
    "double",
    "double room",
    "twin",
    "twin room",
    "suite",
    "family room",
)
# A type's own name alone is a room only after such a word, or where the type was asked for.
_BEFORE_NAME = word_set("a an the one that your of as in to for get take have want is")
_NOT_A_ROOM_AFTER = word_set("of check checked mother mum mom booking booked")
# A turn with these asks about rooms, and wants none yet.
_ASKING = ("how much", "price of", "cost of", "the price", "the difference", "how big", "how large")
# So does one with these, unless the type was asked for.
_ASKING_UNLESS_ASKED = ("what does", "does the", "do the", "is the")
_LIKELY = 80  # of 100: how alike a single word must be to a type's name to be taken for it


def hear_room_type(
    utterance: Utterance,
    *,
    request: BookingRequest,
    asked: Asked,
    hotel: Hotel,
    turn: int,
    taken: frozenset[int] = frozenset(),
) -> Found:
    """What a turn says of the room type.

    Args as for `agent.booking.dates.hear_dates`.
    """
    is_asked = asked.about(Field.ROOM_TYPE)
    if utterance.find(_ASKING) or (not is_asked and utterance.find(_ASKING_UNLESS_ASKED)):
        return Found()
    mentions = _mentions(utterance, hotel, taken, asked=is_asked)
    if not mentions and is_asked:
        mentions = _misheard(utterance, hotel, taken)
    standing: list[tuple[int, int, str]] = []
    for first, last, room_type in mentions:
        if negated(utterance, first):
            continue
        if standing and (
            replacing(utterance, standing[-1][1] + 1, first) or standing[-1][2] == room_type
        ):
            standing.pop()
        standing.append((first, last, room_type))
    if not standing:
        return Found()
    used = frozenset(index for first, last, _ in standing for index in range(first, last + 1))
    words = utterance.said(standing[0][0], standing[-1][1])
    types = tuple(dict.fromkeys(room_type for *_, room_type in standing))
    unknown = [room_type for room_type in types if room_type not in hotel.room_types]
    if unknown:
        problem = Problem(
            ProblemKind.ROOM_TYPE_UNKNOWN,
            Field.ROOM_TYPE,
            words,
            value=unknown[0],
            choices=tuple(hotel.room_types),
        )
        return Found(problems=(problem,), used=used)
    if len(types) > 1:
        problem = Problem(ProblemKind.ROOM_TYPE_AMBIGUOUS, Field.ROOM_TYPE, words, choices=types)
        return Found(problems=(problem,), used=used)
    if types[0] == request.room_type:
        return Found(used=used)
    return Found((Change(Field.ROOM_TYPE, types[0], words, turn),), used=used)


def _mentions(
    utterance: Utterance, hotel: Hotel, taken: frozenset[int], *, asked: bool
) -> list[tuple[int, int, str]]:
    """Each room type named: first token, last token, and its id or, if it is not on offer, name."""
    types = {name: name for name in _OTHER_TYPES}
    types |= {
        synonym: room_type
        for room_type, synonyms in hotel.room_types.items()
        for synonym in synonyms
    }
    # Hyphens are tokens of their own.
    spelled = {name.replace("-", " - "): room_type for name, room_type in types.items()}
    found = []
    for first, last in utterance.find(spelled):
        name = " ".join(utterance.words[first : last + 1])
        if taken & set(range(first, last + 1)):
            continue
        if first == last and not _is_room(utterance, first, asked=asked):
            continue
        found.append((first, last, spelled[name]))
    return found


def _misheard(
    utterance: Utterance, hotel: Hotel, taken: frozenset[int]
) -> list[tuple[int, int, str]]:
    """A word that is nearly a room type's name, in an answer to the question for one."""
    names = {name: name for name in hotel.room_types}
    for index, word in enumerate(utterance.words):
        best = process.extractOne(word, names, scorer=fuzz.ratio, score_cutoff=_LIKELY)
        if best is not None and word not in names and index not in taken:
            return [(index, index, best[2])]
    return []


def _is_room(utterance: Utterance, index: int, *, asked: bool) -> bool:
    """Whether a single word that can be a room type is one here."""
    words = utterance.words
    before = words[index - 1] if index else ""
    after = words[index + 1] if index + 1 < len(words) else ""
    if after in _NOT_A_ROOM_AFTER or (words[index] in ("family", "families") and not asked):
        return False
    if words[index] == "double" and _doubles_a_letter(words, index):
        return False
    if (words[index] == "sweet" and after in ("of", "thanks")) or before in ("how", "so", "every"):
        return False
    if asked or before in _BEFORE_NAME or after in ("room", "rooms", "bed", "please"):
        return True
    return words[index] not in ("king", "queen", "sweet", "single", "twins") and before != "my"


def _doubles_a_letter(words: Sequence[str], index: int) -> bool:
    """Whether this "double" is one of "double N", "double four" or "with a double"."""
    following = [word for word in words[index + 1 : index + 3] if word != "-"]
    after = following[0] if following else ""
    if words[max(0, index - 2) : index] == ("with", "a"):
        return after not in ("", ".", ",", "bed", "beds", "room", "please")
    letter = len(after) == 1 and after.isalpha() and after != "a"
    return letter or after.isdecimal() or is_number_word(after) or after in ("check", "you")
