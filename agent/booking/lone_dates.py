"""Which end of the stay a single date is for, where the words around it do not say."""

from __future__ import annotations

from datetime import date

from agent.booking.date_resolution import Impossible, Resolver
from agent.booking.date_roles import is_same
from agent.booking.heard import Asked
from agent.booking.mention import Mention
from agent.booking.request import BookingRequest, Field

# A date this many times nearer to one end of the stay than to the other is a correction of it.
_CLEARLY_NEARER = 3


def end_of_lone(
    lone: Mention,
    old: list[Mention],
    *,
    request: BookingRequest,
    asked: Asked,
    takes_back: bool,
    resolver: Resolver,
) -> Field | date:
    """Decide what a single date is for.

    Args:
        lone: the date.
        old: dates that were named as what does not hold.
        request: what is known so far.
        asked: what the agent's last turn was about.
        takes_back: whether the turn speaks of something said before.
        resolver: decides which date a mention is.

    Returns:
        CHECK_IN or CHECK_OUT; or, where it could be either, the date that has to be asked about.
    """
    for mention in old:
        is_check_in = is_same(mention, request.check_in)
        if is_check_in != is_same(mention, request.check_out):
            return Field.CHECK_IN if is_check_in else Field.CHECK_OUT
    asked_for = [part for part in (Field.CHECK_IN, Field.CHECK_OUT) if asked.about(part)]
    if request.check_in is None:
        return Field.CHECK_OUT if asked_for == [Field.CHECK_OUT] else Field.CHECK_IN
    if request.check_out is None:
        # "No wait, the eighteenth" is about the one date there is; "the twentieth" is not.
        return Field.CHECK_IN if takes_back or old else Field.CHECK_OUT
    if len(asked_for) == 1:
        return asked_for[0]
    return _nearer_end(lone, request.check_in, request.check_out, resolver)


def _nearer_end(lone: Mention, check_in: date, check_out: date, resolver: Resolver) -> Field | date:
    """The end of a known stay that a date corrects, where the dates make that clear."""
    day = resolver.check_in(lone, check_out=check_out)
    if isinstance(day, Impossible) or day == check_in:
        return Field.CHECK_IN
    if day == check_out:
        return Field.CHECK_OUT
    if day > check_out:
        later = resolver.check_out(lone, check_in=check_in)
        fits = not isinstance(later, Impossible) and resolver.is_stay(check_in, later)
        return Field.CHECK_OUT if fits else Field.CHECK_IN
    if day < check_in:
        return Field.CHECK_IN
    from_start, to_end = (day - check_in).days, (check_out - day).days
    if from_start * _CLEARLY_NEARER <= to_end:
        return Field.CHECK_IN
    if to_end * _CLEARLY_NEARER <= from_start:
        return Field.CHECK_OUT
    return day
