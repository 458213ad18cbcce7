"""Which sounds of several calls Whisper decodes in one run.

Measured with Whisper base (int8, one thread, a 2.5 s clip, two cores that others used too), eight
clips one by one against two, four and eight at once: in windows of 4 s 3.99 s against 2.55, 2.16
and 2.64 s, in windows of 10 s 5.5 against 5.2, 4.6 and 4.6 s. The encoder gains nothing; the
decoder reads its weights once a step for all, and takes half or a third of the time. So drafts,
whose windows are short, are decoded together, and finals are not: their windows are 10 s at least,
and a caller waits for each. Whoever speaks last must not wait for a long run either, so a run holds
few drafts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

MAX_DRAFTS = 3
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
