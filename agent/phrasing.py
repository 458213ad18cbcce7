"""What the language model is asked to word, and what it may say in doing so."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import date

from livekit.agents import APIConnectOptions, llm

from agent import instructions, wording
from agent.booking.hotel import DateOrder, Hotel
from agent.booking.request import REQUIRED, BookingRequest
from agent.reply import Plan
from agent.speech.grounds import Grounds
from agent.speech.sentences import split

# How much of the talk the model sees: enough for "and for the second?", little enough to be read
# anew within a turn.
HISTORY_MESSAGES = 4


@dataclass(frozen=True)
class Phrasing:
    """A hotel's language model, as the receptionist uses it.

    Attributes:
        hotel: whose receptionist it words for.
        model: the language model's client.
        options: how often it is tried, and for how long.
    """

    hotel: Hotel
    model: llm.LLM
    options: APIConnectOptions

    async def fill_prefix(self) -> None:
        """Have the model read its standing instructions before they are needed.

        Without this the first reply waits for a cold prefix: 1.2 s instead of 0.4 s to the first
        token on two cores.
        """
        context = self._instructions()
        context.add_message(role="user", content="Hello.")
        async with self.model.chat(chat_ctx=context, conn_options=self.options) as stream:
            await anext(aiter(stream), None)

    async def words(
        self, plan: Plan, request: BookingRequest, talk: llm.ChatContext
    ) -> AsyncGenerator[str, None]:
        """What the model says under the plan's brief, as it streams; nothing of it is checked.

        Args:
            plan: the reply; it has a brief.
            request: the request as the caller will find it.
            talk: the conversation so far, the caller's last words among it.
        """
        context = self._instructions()
        spoken = [item for item in talk.items if isinstance(item, llm.ChatMessage)]
        spoken = [it for it in spoken if it.role in ("user", "assistant") and it.text_content]
        context.items.extend(spoken[-HISTORY_MESSAGES:])
        brief = wording.brief(plan.brief or "", request, self.hotel)
        context.add_message(role="system", content=brief)
        async with self.model.chat(chat_ctx=context, conn_options=self.options) as stream:
            async for chunk in stream:
                if chunk.delta is not None and chunk.delta.content:
                    yield chunk.delta.content

    def grounds(self, plan: Plan, request: BookingRequest, today: date) -> Grounds:
        """What those words are checked against."""
        hotel = self.hotel
        return Grounds(
            request=request,
            today=today,
            facts=(*hotel.facts, f"The front desk's number is {hotel.phone}."),
            hotel_names=(hotel.name,),
            room_types=hotel.room_types,
            known=frozenset(REQUIRED) - frozenset(request.missing()),
            instructions=wording.instructions(hotel),
            day_first=hotel.date_order is DateOrder.DAY_FIRST,
            said=tuple(split(plan.opening)),
        )

    def _instructions(self) -> llm.ChatContext:
        context = llm.ChatContext.empty()
        for message in instructions.messages(self.hotel):
            context.add_message(role="system", content=message["content"])
        return context
