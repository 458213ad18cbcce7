"""Which end of the stay each date of a turn is for, by the words around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from agent.booking.corrections import negated, replacing
from agent.booking.mention import Mention, Shape
from agent.booking.request import BookingRequest, Field
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

CHECK_IN_CUES = (
    "check in",
    "check - in",
    "checkin",
    "checking in",
    "checking - in",
    "checking on",  # "check in on"
    "check and date",  # what Whisper makes of "check-in date"
    "check and",
    "chicken date",
    "chicken",
    "check in date",
    "arrive",
    "arriving",
    "arrival",
    "arrives",
    "from",
    "starting",
    "start",
    "starts",
    "beginning",
    "coming in",
    "coming on",
    "come in",
    "get there",
    "getting there",
    "get in",
    "between",
)
CHECK_OUT_CUES = (
    "check out",
    "check - out",
    "checkout",
    "checking out",
    "checking - out",
    "check out date",
    "leave",
    "leaving",
    "leaves",
    "depart",
    "departing",
    "departure",
    "until",
    "till",
    "til",
    "through",
    "thru",
    "ending",
    "ends",
    "end",
    "up to",
    "going home",
    "go home",
    "heading home",
)
_MOST_BETWEEN = 4  # words between two dates that are offered as alternatives
# Alone between two dates, these make a range of them.
_RANGE_WORDS = frozenset({"to", "through", "thru", "until", "till", "til", "-", "–", "—", "too"})
_MOVING = ("change", "move", "switch", "shift", "push", "swap")
_FILLER = frozenset(
    {
        "the",
        "on",
        "is",
        "to",
        ",",
        "my",
        "our",
        "date",
        "as",
        "for",
        "will",
        "be",
        "a",
        "it's",
        "of",
    }
)
_TRAILING_LINKS = word_set(
    "is as for my our the being will be to we i we'll i'll we'd i'd we're i'm would like want"
)


@dataclass(frozen=True)
class Said:
    """A mention, and which end of the stay its words make it.

    `unsure` is one of several that were offered: "the sixteenth or the seventeenth".
    """

    mention: Mention
    role: Field | None = None
    unsure: bool = False


def with_roles(
    utterance: Utterance, mentions: tuple[Mention, ...], request: BookingRequest
) -> tuple[list[Said], list[Mention]]:
    """The mentions that stand, with their roles; and those that name what no longer does."""
    said: list[Said] = []
    old: list[Mention] = []
    previous: Mention | None = None
    trailing_end = -1
    for number, mention in enumerate(mentions):
        gap_start = max(previous.last + 1 if previous else 0, trailing_end + 1)
        role = _leading_role(utterance, gap_start, mention.first)
        following = mentions[number + 1] if number + 1 < len(mentions) else None
        trailing = _trailing_role(utterance, mention, following)
        if trailing is not None:
            role, trailing_end = trailing
        joined = previous is not None and _is_range(utterance, previous, mention)
        moved = joined and previous is not None and _names_old(utterance, previous, request)
        if negated(utterance, mention.first):
            old.append(mention)
        elif moved and said:
            old.append(said.pop().mention)
            said.append(Said(mention, _role_of_old(old[-1], request, role)))
        elif said and previous is not None and _is_alternative(utterance, previous, mention):
            said[-1] = replace(said[-1], unsure=True)
        elif joined and said and said[-1].mention is previous:
            said[-1] = replace(said[-1], role=said[-1].role or Field.CHECK_IN)
            said.append(Said(mention, Field.CHECK_OUT))
        else:
            replaces = previous is not None and replacing(
                utterance, previous.last + 1, mention.first
            )
            _add(said, Said(mention, role), replaces)
        previous = mention
    return _with_month_said_apart(said), old


def _with_month_said_apart(said: list[Said]) -> list[Said]:
    """ "In October, the sixteenth": a month without a day is the month of the days beside it."""
    days = [one for one in said if one.mention.shape is not Shape.MONTH]
    months = [one.mention.month for one in said if one.mention.shape is Shape.MONTH]
    if not days or not months:
        return said
    return [
        replace(one, mention=replace(one.mention, month=months[-1]))
        if one.mention.day is not None and one.mention.month is None
        else one
        for one in days
    ]


def _add(said: list[Said], new: Said, replaces: bool) -> None:
    """Add a mention; one that replaces an earlier one takes its place and its role."""
    if replaces and said:
        same = [place for place, one in enumerate(said) if new.role in (None, one.role)]
        if same:
            place = same[-1]
            said[place] = Said(
                _completed(new.mention, said[place].mention), new.role or said[place].role
            )
            return
    same_role = [place for place, one in enumerate(said) if new.role and one.role is new.role]
    if same_role:
        said[same_role[-1]] = new
    else:
        said.append(new)


def _completed(new: Mention, old: Mention) -> Mention:
    """A correction with the month of what it replaces: "October fourth, no, the fifth"."""
    if new.shape is Shape.DAY and new.day is not None and new.month is None:
        return replace(new, month=old.month, year=old.year)
    return new


def _leading_role(utterance: Utterance, start: int, before: int) -> Field | None:
    """The role that the words before a mention give it: the nearest cue's."""
    cues = [(end, Field.CHECK_IN) for first, end in utterance.find(CHECK_IN_CUES) if first >= start]
    cues += [
        (end, Field.CHECK_OUT) for first, end in utterance.find(CHECK_OUT_CUES) if first >= start
    ]
    near = [
        cue
        for cue in cues
        if cue[0] < before and utterance.words[cue[0] : cue[0] + 2] != ("end", "of")
    ]
    return max(near)[1] if near else None


def _trailing_role(
    utterance: Utterance, mention: Mention, following: Mention | None
) -> tuple[Field, int] | None:
    """The role of "the sixteenth is my check-in", and the last token of those words."""
    words = utterance.words
    index = mention.last + 1
    while index < len(words) and words[index] in _TRAILING_LINKS:
        index += 1
    linked = index > mention.last + 1
    if not linked and following is not None:
        return None
    for cues, role in ((CHECK_IN_CUES, Field.CHECK_IN), (CHECK_OUT_CUES, Field.CHECK_OUT)):
        for first, end in utterance.find(cues):
            # "the sixteenth to leave the twentieth": the cue leads on to the next date.
            leads_on = (
                following is not None
                and utterance.word(end + 1) not in (",", ".", "and")
                and all(word in _FILLER for word in words[end + 1 : following.first])
            )
            if first == index and not leads_on and (following is None or end < following.first):
                return role, end
    return None


def _is_range(utterance: Utterance, first: Mention, second: Mention) -> bool:
    between = [
        word for word in utterance.words[first.last + 1 : second.first] if word not in ("the", "on")
    ]
    between = [word for word in between if word not in (",", "about", "up")]
    if between == ["and"]:
        return utterance.words[max(0, first.first - 2) : first.first].count("between") > 0
    return len(between) == 1 and between[0] in _RANGE_WORDS


def _is_alternative(utterance: Utterance, first: Mention, second: Mention) -> bool:
    between = utterance.words[first.last + 1 : second.first]
    return "or" in between and "rather" not in between and len(between) <= _MOST_BETWEEN


def _names_old(utterance: Utterance, first: Mention, request: BookingRequest) -> bool:
    """Whether "from A" in "change it from A to B" names a date of the request."""
    if not any(end < first.first for _, end in utterance.find(_MOVING)):
        return False
    return any(is_same(first, day) for day in (request.check_in, request.check_out))


def _role_of_old(old: Mention, request: BookingRequest, role: Field | None) -> Field | None:
    if role is not None:
        return role
    return Field.CHECK_IN if is_same(old, request.check_in) else Field.CHECK_OUT


def is_same(mention: Mention, day: date | None) -> bool:
    """Whether a mention, as far as it goes, names this date."""
    if day is None:
        return False
    if mention.exact is not None:
        return mention.exact == day
    if mention.day is None:
        return mention.weekday == day.weekday()
    return mention.day == day.day and mention.month in (None, day.month)
