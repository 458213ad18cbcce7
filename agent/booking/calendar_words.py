"""The words of the calendar, and the words beside a number that make it something else."""

from __future__ import annotations

import calendar

from agent.booking.word_sets import word_set

MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
WEEKDAYS = tuple(name.lower() for name in calendar.day_name)

MONTH_NUMBERS = {name: number for number, name in enumerate(MONTHS, 1)}
MONTH_NUMBERS |= {name[:3]: number for name, number in MONTH_NUMBERS.items()}
MONTH_NUMBERS |= {"sept": 9, "octobers": 10, "octuber": 10, "febuary": 2}
WEEKDAY_NUMBERS = {name: number for number, name in enumerate(WEEKDAYS)}
WEEKDAY_NUMBERS |= {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3}
WEEKDAY_NUMBERS |= {"fri": 4, "wensday": 2, "thrusday": 3}
WEEKDAY_NUMBERS |= {f"{name}s": number for number, name in enumerate(WEEKDAYS)}

# Days with a name, as (month, day).
NAMED_DAYS = {
    "new year's eve": (12, 31),
    "new years eve": (12, 31),
    "new year's day": (1, 1),
    "new years day": (1, 1),
    "new year's": (1, 1),
    "new years": (1, 1),
    "new year": (1, 1),
    "christmas eve": (12, 24),
    "christmas even": (12, 24),  # "Christmas Eve until", misheard
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "saint patrick's day": (3, 17),
    "st patrick's day": (3, 17),
    "valentine's day": (2, 14),
    "valentines day": (2, 14),
    "halloween": (10, 31),
}
FRIDAY = 4
# Words that are a month as well as something quite different.
DOUBTFUL_MONTHS = frozenset({"may", "march", "mar", "sep", "dec", "jan", "jun", "jul", "apr"})
NOT_AFTER_ORDINAL = word_set(
    "floor room time thought thoughts person guest name names choice half option night one ones "
    "class of thing things question reason bed place lady"
)
TIME_WORDS = frozenset({"am", "pm", "a.m", "p.m", "o'clock", "oclock", "in"})
COUNTED = word_set(
    "more night nights nite nites knight knights day days week weeks guest guests people person "
    "persons adult adults kid kids child children room rooms bed beds of us hours hour minutes "
    "minute month months years year single double twin suite suites singles doubles twins family"
)
