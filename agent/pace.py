"""Whether the language model is quick enough to be waited for."""

from __future__ import annotations

# A model that was late is late again on the same machine; but what kept it may be over.
REPLIES_WITHOUT = 4


class ModelPace:
    """What a call has seen of its model's pace.

    Where the code has the words of a reply ready, the caller waits a little for the model's. Once
    these came too late, the next few replies do without them, and then it is tried again.
    """

    def __init__(self) -> None:
        self._without = 0

    def is_worth_waiting(self) -> bool:
        """Whether this reply waits for the model; asked once a reply."""
        if self._without:
            self._without -= 1
            return False
        return True

    def tell(self, *, in_time: bool) -> None:
        """Whether the model's words came before the caller had waited long enough."""
        self._without = 0 if in_time else REPLIES_WITHOUT
