"""Words over the agent's speech: what says "go on", and what takes the floor."""

from __future__ import annotations

import pytest

from agent.turns.backchannel import Verdict, asks_yes_or_no, over_agent


@pytest.mark.parametrize(
    "text",
    [
        *("Mhmm.", "Mm-hmm.", "Mm hmm", "Mmm.", "Hmm.", "Hm", "Uh-huh.", "Uh huh.", "Um,", "Ah."),
        *(
            "Yeah.",
            "Yeah, yeah.",
            "Yara.",
            "Yah",
            "Yep",
            "Yes.",
            "Ok",
            "Okay.",
            "Right.",
            "Sure.",
            "All right.",
        ),
        *(
            "Okay, great.",
            "I see.",
            "Got it.",
            "Thank you.",
            "Please.",
            "Oh, okay.",
            "Mhm, okay.",
            "Perfect!",
        ),
        *(
            "",
            " ",
            "...",
            "Meh.",
            "Em.",
            "Eh?",
            "[coughs]",
            "(clears throat)",
            "*coughs*",
            "You",
            "Oh.",
        ),
    ],
)
def test_a_listener_lets_the_agent_go_on(text: str) -> None:
    for remaining_s in (None, 0.4, 5.0):
        assert over_agent(text, asks_yes_or_no=False, remaining_s=remaining_s) is Verdict.GO_ON
    assert over_agent(text, asks_yes_or_no=True, remaining_s=5.0) is Verdict.GO_ON


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Wait.",
            "Wait, wait.",
            "Stop.",
            "No.",
            "No, no.",
            "Nope",
            "Hold on.",
            "Sorry?",
            "Excuse me",
        ),
        *("Hello?", "What?", "Pardon?", "Two guests.", "Yes, but make it three.", "Okay, wait."),
        *("Mm, no.", "Right, the sixth.", "Is breakfast included?", "I", "Yeah, actually"),
    ],
)
def test_anything_else_takes_the_floor(text: str) -> None:
    for asks in (True, False):
        assert over_agent(text, asks_yes_or_no=asks, remaining_s=4.0) is Verdict.GIVE_WAY


@pytest.mark.parametrize("text", ["Yes.", "Yeah.", "Mm-hmm.", "Okay.", "Right.", "Yes, correct."])
def test_a_yes_over_the_last_words_of_its_question_is_the_answer(text: str) -> None:
    assert over_agent(text, asks_yes_or_no=True, remaining_s=0.6) is Verdict.GIVE_WAY
    assert over_agent(text, asks_yes_or_no=True, remaining_s=3.0) is Verdict.GO_ON
    assert over_agent(text, asks_yes_or_no=True, remaining_s=None) is Verdict.GO_ON
    assert over_agent(text, asks_yes_or_no=False, remaining_s=0.6) is Verdict.GO_ON


@pytest.mark.parametrize("text", ["Oh.", "Um", "[coughs]", "Hmm."])
def test_a_sound_answers_nothing(text: str) -> None:
    assert over_agent(text, asks_yes_or_no=True, remaining_s=0.6) is Verdict.GO_ON


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is that right?", True),
        ("Is there anything else?", True),
        ("Your reference is K 7. Shall I try again?", True),
        ("Which dates would you like to stay?", False),
        ("For how many guests, and which kind of room?", False),
        ("Is that so? Which day do you mean?", False),
        ("Goodbye.", False),
        ("", False),
    ],
)
def test_what_yes_answers(question: str, expected: bool) -> None:
    assert asks_yes_or_no(question) is expected
