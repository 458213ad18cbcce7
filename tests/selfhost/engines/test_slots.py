"""Which slot a conversation goes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from selfhost.engines.slots import Conversation, Slot, choose

INSTRUCTIONS = {"role": "system", "content": "You are a receptionist."}


def talk(*said: str, brief: str = "") -> Conversation:
    messages: list[dict[str, Any]] = [INSTRUCTIONS]
    for turn, words in enumerate(said):
        messages.append({"role": "assistant" if turn % 2 else "user", "content": words})
    if brief:
        messages.append({"role": "system", "content": brief})
    return Conversation.of(messages)


def slots(*held: Conversation) -> list[Slot]:
    return [
        Slot(number, conversation, used_at_s=float(number))
        for number, conversation in enumerate(held)
    ]


def chosen(held: list[Slot], conversation: Conversation) -> int | None:
    slot = choose(held, conversation)
    return None if slot is None else slot.number


def test_a_call_goes_back_to_the_slot_that_holds_its_words() -> None:
    held = slots(talk("I am Ann"), talk("I am Bob"), Conversation())
    assert chosen(held, talk("I am Ann", "Hello Ann", "a double")) == 0
    assert chosen(held, talk("I am Bob", "Hello Bob", "a single")) == 1


def test_a_new_call_evicts_nobody_while_a_slot_is_free() -> None:
    held = slots(talk("I am Ann"), talk("I am Bob"))
    fresh = Slot(2, used_at_s=-1.0)
    assert chosen([*held, fresh], talk("I am Eve")) == 2


def test_a_new_call_takes_the_slot_that_was_not_used_for_longest() -> None:
    assert chosen(slots(talk("I am Ann"), talk("I am Bob")), talk("I am Eve")) == 0


def test_shared_instructions_alone_do_not_make_it_the_same_call() -> None:
    held = slots(talk("I am Ann"), talk("I am Bob"))
    held[0] = replace(held[0], used_at_s=9.0)
    assert chosen(held, talk("I am Eve")) == 1


def test_a_turn_that_was_foreseen_with_other_words_stays_with_its_call() -> None:
    held = slots(talk("I am Ann", "Hello", "on the", brief="ask"), talk("I am Bob"))
    assert chosen(held, talk("I am Ann", "Hello", "on the fifth", brief="say back")) == 0


def test_a_busy_slot_is_not_given_twice() -> None:
    held = slots(talk("I am Ann"), Conversation())
    held[0] = replace(held[0], is_busy=True)
    assert chosen(held, talk("I am Ann", "Hello", "a double")) == 1
    held[1] = replace(held[1], is_busy=True)
    assert chosen(held, talk("I am Ann")) is None


def test_instructions_are_named_by_what_they_say() -> None:
    assert talk("I am Ann").prefix == talk("I am Bob", brief="ask").prefix
    other = Conversation.of([{"role": "system", "content": "You are a porter."}])
    assert other.prefix != talk().prefix
    assert Conversation.of([{"role": "user", "content": "Hello"}]).prefix is None


def test_messages_of_any_shape_are_compared() -> None:
    odd = Conversation.of([None, "text", 7, {"role": ["user"]}])
    assert odd.instructions == 0
    assert odd.shared_messages(odd) == 4
