"""The guest's name, as said and as spelled; a spelled name beats a heard one."""

from __future__ import annotations

from agent.booking.corrections import negated
from agent.booking.heard import Asked, Found
from agent.booking.heard_names import (
    FIRST_NAME_CUES,
    NAME_CUES,
    SURNAME_CUES,
    HeardName,
    Part,
    find_names,
)
from agent.booking.hotel import Hotel
from agent.booking.letter_hints import apply_letter_hint
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.spelled_names import SpelledName, find_spelled, likeness, resemble
from agent.booking.tokens import Utterance

_MOST_LOST = 2  # vowels of one name
_CUE_REACH = 4  # tokens between "first name" and the letters that spell it


def find_spelling(
    utterance: Utterance, asked: Asked, taken: frozenset[int] = frozenset()
) -> list[SpelledName]:
    """The names that a turn spells; see `agent.booking.spelled_names`."""
    announced = utterance.find((*NAME_CUES, *SURNAME_CUES, *FIRST_NAME_CUES))
    expected = asked.about(Field.GUEST_NAME) or bool(announced)
    return find_spelled(utterance, taken, expected=expected)


def hear_name(
    utterance: Utterance,
    *,
    request: BookingRequest,
    asked: Asked,
    hotel: Hotel,
    turn: int,
    taken: frozenset[int] = frozenset(),
) -> Found:
    """What a turn says of the guest's name.

    Args as for `agent.booking.dates.hear_dates`.
    """
    spelled = [
        one for one in find_spelling(utterance, asked, taken) if not negated(utterance, one.first)
    ]
    in_spelling = frozenset(index for one in spelled for index in range(one.first, one.last + 1))
    heard = find_names(
        utterance,
        taken | in_spelling,
        known=request.guest_name,
        expected=asked.about(Field.GUEST_NAME),
    )
    denied = [one for one in heard if negated(utterance, one.first)]
    name = request.guest_name
    spans: list[tuple[int, int]] = []
    for one in heard:
        if one not in denied:
            name = _with_heard(name, one, denied)
            spans.append((one.first, one.last))
    for count, letters in enumerate(spelled):
        name = _with_spelled(name, letters, utterance, more=count > 0)
        spans.append((letters.first, letters.last))
    hint = apply_letter_hint(utterance, name)
    if hint is not None:
        name = hint.name
        spans.append((hint.first, hint.last))
    if not spans or name is None:
        return Found()
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    used = frozenset(range(first, last + 1))
    if name == request.guest_name:
        return Found(used=used)
    change = Change(Field.GUEST_NAME, name, utterance.said(first, last), turn)
    return Found((change,), used=used)


def _with_heard(name: str | None, heard: HeardName, denied: list[HeardName]) -> str:
    """The name once this was heard: a part takes the place of the part that it is or is like."""
    known = (name or "").split()
    if not known or (len(heard.words) > 1 and heard.part is Part.WHOLE):
        return " ".join(heard.words)
    if heard.part is Part.LAST:
        return " ".join((*known[:1], *heard.words))
    if heard.part is Part.FIRST:
        return " ".join((*heard.words, *known[1:]))
    replaced = [word for one in denied for word in one.words]
    for place, word in enumerate(known):
        if any(resemble(word, one) for one in replaced or heard.words):
            return " ".join((*known[:place], *heard.words, *known[place + 1 :]))
    return " ".join(heard.words)


def _with_spelled(
    name: str | None, spelled: SpelledName, utterance: Utterance, *, more: bool
) -> str:
    """The name once this was spelled: it takes the place of the word that it is most like.

    `more` says that another word of the name was spelled before it.
    """
    known = (name or "").split()
    words = [word.capitalize() for word in spelled.words]
    restored = _with_lost_vowels("".join(words), known)
    if restored is not None:
        return restored
    if len(words) > 1 or not known:
        return " ".join(words)
    split = _split_like(spelled.words[0], known)
    if split is not None:
        return split
    likenesses = [likeness(words[0], word) for word in known]
    best = max(range(len(known)), key=lambda place: (likenesses[place], place))
    before = range(max(0, spelled.first - _CUE_REACH), spelled.first)
    if any(last in before for _, last in utterance.find(FIRST_NAME_CUES)):
        best = 0
    elif not resemble(words[0], known[best]):
        is_surname = any(last in before for _, last in utterance.find(SURNAME_CUES))
        if len(known) == 1 and (more or is_surname):
            return f"{known[0]} {words[0]}"
        best = len(known) - 1
    return " ".join((*known[:best], words[0], *known[best + 1 :]))


def _with_lost_vowels(spelled: str, known: list[str]) -> str | None:
    """The known name mended by letters that lack vowels of it: "Roman, R-M-A-N" is Raman.

    A recogniser loses vowels between other letters; a caller does not leave them out. "Oh", "you"
    and "eye" are not easily lost, so that where the name was heard with one of those, it was an A.

    Returns:
        The name, or None where the letters are not those of the name without some vowels.
    """
    places = [[place] for place in range(len(known))]
    if len(known) > 1:
        places.append(list(range(len(known))))
    for place in places:
        heard = "".join(known[index] for index in place)
        lost = _lost(spelled, heard)
        if lost is None:
            continue
        mended = "".join(
            "a" if index in lost and char in "oiu" else char for index, char in enumerate(heard)
        )
        if len(place) == 1:
            return " ".join((*known[: place[0]], mended, *known[place[0] + 1 :]))
        return " ".join((mended[: len(known[0])], mended[len(known[0]) :].capitalize()))
    return None


def _lost(spelled: str, heard: str) -> set[int] | None:
    """The places of the vowels inside `heard` that `spelled` lacks, if it lacks nothing else."""
    lost: set[int] = set()
    letters = iter(spelled.lower())
    expected = next(letters, "")
    for place, char in enumerate(heard.lower()):
        if char == expected:
            expected = next(letters, "")
        elif char in "aeiou" and 0 < place < len(heard) - 1:
            lost.add(place)
        else:
            return None
    return lost if not expected and 0 < len(lost) <= _MOST_LOST else None


def _split_like(letters: str, known: list[str]) -> str | None:
    """Letters that spell the whole of a name of two words, split as that name is."""
    if len(known) != 2:
        return None
    splits = [(letters[:place], letters[place:]) for place in range(2, len(letters) - 1)]
    fitting = [
        split for split in splits if resemble(split[0], known[0]) and resemble(split[1], known[1])
    ]
    if not fitting:
        return None
    best = max(
        fitting, key=lambda split: likeness(split[0], known[0]) + likeness(split[1], known[1])
    )
    return " ".join(word.capitalize() for word in best)
