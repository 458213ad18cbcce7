"""Letters and digits as callers spell them: "K as in kilo", "november", "double four", "oh"."""

from __future__ import annotations

from dataclasses import dataclass

from agent.booking.numbers import cardinal_at
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

NATO = (
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliet",
    "kilo",
    "lima",
    "mike",
    "november",
    "oscar",
    "papa",
    "quebec",
    "romeo",
    "sierra",
    "tango",
    "uniform",
    "victor",
    "whiskey",
    "x-ray",
    "yankee",
    "zulu",
)
_NATO_LETTERS = {word: word[0].upper() for word in NATO}
_NATO_LETTERS |= {"alfa": "A", "juliett": "J", "whisky": "W", "xray": "X", "fox": "F", "kilos": "K"}
_NATO_LETTERS |= {"beta": "B", "siera": "S", "yankees": "Y"}
_NATO_LETTERS |= {"alphan": "A", "alphas": "A", "charly": "C", "juliette": "J"}
_NATO_LETTERS |= {"quebeck": "Q", "oscars": "O", "zulus": "Z"}
_NATO_LETTERS |= {"abravo": "B", "hotels": "H", "mic": "M", "pop": "P", "cierra": "S"}
_NATO_LETTERS |= {"foxdrat": "F", "foxdrot": "F", "foxdot": "F", "foxstrat": "F", "victer": "V"}

# The names of letters, as a recogniser writes them when it does not take them for letters.
_LETTER_NAMES = {
    "ay": "A",
    "eh": "A",
    "bee": "B",
    "be": "B",
    "cee": "C",
    "see": "C",
    "sea": "C",
    "dee": "D",
    "ef": "F",
    "eff": "F",
    "gee": "G",
    "jee": "G",
    "aitch": "H",
    "haitch": "H",
    "eye": "I",
    "jay": "J",
    "kay": "K",
    "cay": "K",
    "el": "L",
    "ell": "L",
    "em": "M",
    "en": "N",
    "pee": "P",
    "pea": "P",
    "queue": "Q",
    "cue": "Q",
    "kew": "Q",
    "are": "R",
    "ar": "R",
    "ess": "S",
    "es": "S",
    "tea": "T",
    "tee": "T",
    "you": "U",
    "yu": "U",
    "vee": "V",
    "ex": "X",
    "why": "Y",
    "wye": "Y",
    "zee": "Z",
    "zed": "Z",
    "zet": "Z",
}
_DIGIT_NAMES = {
    "nought": "0",
    "naught": "0",
    "null": "0",
    "nil": "0",
    "won": "1",
    "to": "2",
    "too": "2",
    "tree": "3",
    "free": "3",
    "for": "4",
    "fore": "4",
    "fower": "4",
    "fife": "5",
    "sex": "6",
    "sicks": "6",
    "ate": "8",
    "niner": "9",
    "nein": "9",
}
# Words that are a letter or digit only where one is expected; elsewhere they are just words.
_HOMOPHONES = word_set(
    "be see sea are you why to too for won free ate eh eye tea pea sex nil null em en es el"
)
_REPEATS = {"double": 2, "triple": 3, "treble": 3}
_MOST_JOINED = 4  # letters that are written together with a digit without being a word
_LONGEST_LETTER_NAME = 3  # "of as in alpha"
_LIKE = (("as", "in"), ("is", "in"), ("like", "in"), ("like",), ("for",))


@dataclass(frozen=True)
class Spelled:
    """One spelled unit: the characters that it may stand for, the likeliest first.

    `doubtful` is a word that may as well be only a word ("for"). `named` is a unit that was said
    with a word for its letter ("K as in kilo", "november").
    """

    first: int
    last: int
    options: tuple[str, ...]
    doubtful: bool = False
    named: bool = False


def spelled_at(utterance: Utterance, index: int) -> Spelled | None:
    """The letters or digits that are spelled from this token on.

    Digits may be several ("29", "seventy four"), as may characters run together ("K74Q").
    """
    words = utterance.words
    if index >= len(words):
        return None
    word = words[index]
    named = _named_by_example(utterance, index)
    if named is not None:
        return named
    if word in _REPEATS:
        return _repeated(utterance, index, _REPEATS[word])
    if word == "x" and utterance.match(index + 1, ("-", "ray")):
        return Spelled(index, index + 2, ("X",), named=True)
    if len(word) == 1 and word.isalpha():
        return Spelled(index, index, ("0", "O") if word == "o" else (word.upper(),), word == "a")
    if word.isalpha() and word not in _NATO_LETTERS and _is_written_as_letters(utterance, index):
        return Spelled(index, index, (word.upper(),))
    if word in ("oh", "ooh"):
        return Spelled(index, index, ("0", "O"))
    if word in _NATO_LETTERS:
        return Spelled(index, index, (_NATO_LETTERS[word],), named=True)
    if word.isdecimal():
        return Spelled(index, index, (word,))
    number = cardinal_at(words, index)
    if number is not None:
        return Spelled(index, index + number[1] - 1, (str(number[0]),))
    for names in (_LETTER_NAMES, _DIGIT_NAMES):
        if word in names:
            return Spelled(index, index, (names[word],), word in _HOMOPHONES)
    return None


def _is_written_as_letters(utterance: Utterance, index: int) -> bool:
    """Whether a word is letters run together: in capitals, or joined to a digit as in "2vb"."""
    joined = (utterance.adjoins(index) and utterance.word(index - 1).isdecimal()) or (
        index + 1 < len(utterance.tokens)
        and utterance.adjoins(index + 1)
        and utterance.word(index + 1).isdecimal()
    )
    word = utterance.tokens[index].raw
    return word.isupper() or (joined and len(word) <= _MOST_JOINED)


def _repeated(utterance: Utterance, index: int, times: int) -> Spelled | None:
    """ "double four", "triple N"; "double u" is a W where nothing says otherwise."""
    words = utterance.words
    after = index + 2 if words[index + 1 : index + 2] == ("-",) else index + 1
    unit = spelled_at(utterance, after)
    if unit is None:
        return None
    options = tuple(option[0] * times + option[1:] for option in unit.options)
    if words[index] == "double" and words[after] in ("u", "you"):
        options = ("W", *options)
    return Spelled(index, unit.last, options, unit.doubtful, named=unit.named)


def _named_by_example(utterance: Utterance, index: int) -> Spelled | None:
    """ "K as in kilo", "R for Romeo", "N like Nancy": any word that begins with the letter.

    After "as in" the example says more than the letter, which a recogniser easily mishears: "of as
    in alpha", "R is in alpha". Other links stand between other words too, so there the letter must
    be the example's own.
    """
    said = utterance.word(index)
    if not said.isalpha() or len(said) > _LONGEST_LETTER_NAME:
        return None
    for link in _LIKE:
        place = index + 1 + (utterance.word(index + 1) == ",")
        example = utterance.word(place + len(link))
        if not utterance.match(place, link) or len(example) < 2 or not example.isalpha():
            continue
        if link[-1] != "in" and (len(said) > 1 or not example.startswith(said)):
            continue
        end = place + len(link)
        return Spelled(index, end, (example[0].upper(),), named=True)
    return None
