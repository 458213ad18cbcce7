"""Which sounds of several calls Whisper decodes in one run.

Measured with Whisper base (int8, one thread, clips of 2.5 s, two cores that others used too). Eight
clips by CTranslate2 itself, one by one against two and four at once: in windows of 4 s 4.0 s
against 2.6 and 2.2 s, in windows of 10 s 5.5 against 5.2 and 4.6 s. The encoder gains nothing; the
decoder reads its weights once a step for all. So drafts, whose windows are short, are decoded
together, and finals, whose windows are 10 s at least, are not. Four streams at once through the
worker, drafts one by one against two, three and four at once: a draft took 2.0 s against 1.2, 1.0
and 1.1 s (median), and a final, which waits for the run before it, 1.5 s against 1.4, 2.2 and 2.2 s
(95th percentile). So two go together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

MAX_DRAFTS = 2
# The shorter ones are filled up with silence, and the encoder's time grows with it.
MAX_WINDOW_RATIO = 1.25


def groups(kinds: Sequence[Hashable], windows_s: Sequence[float]) -> list[list[int]]:
    """The places of those that go together: of one kind, and of about the same length.

    Returns:
        Every place once, the longest of a group first.
    """
    found: list[list[int]] = []
    for place in sorted(range(len(kinds)), key=lambda place: -windows_s[place]):
        for group in found:
            longest = group[0]
            if (
                kinds[longest] == kinds[place]
                and windows_s[longest] <= windows_s[place] * MAX_WINDOW_RATIO
            ):
                group.append(place)
                break
        else:
            found.append([place])
    return found
