"""The one fault that nobody may be served with."""

from __future__ import annotations


class BrokenModelError(Exception):
    """A model runs, but what it makes is garbage, such as numbers that are none.

    Whoever waited for it is told so, and the model is not asked again.
    """
