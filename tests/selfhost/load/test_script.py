from __future__ import annotations

from pathlib import Path

import pytest

from selfhost.load.expectation import DateRule
from selfhost.load.script import Pause, ScriptError, Words, load_script

CALLS = Path(__file__).parents[2] / "calls"


def write(folder: Path, text: str) -> Path:
    path = folder / "call.yaml"
    path.write_text(text)
    return path


def test_a_turn_is_text_or_parts_and_may_come_over_the_agent(tmp_path: Path) -> None:
    (tmp_path / "cough.wav").touch()
    script = load_script(
        write(
            tmp_path,
            """
            name: example
            turns:
              - say: Two guests.
              - say: ["My name is", {pause_ms: 700}, "Priya"]
              - audio: cough.wav
              - {say: stop, over_agent_ms: 800, interrupts: true}
              - {say: [{noise: cough}, {noise: babble, lasts_ms: 500}], over_agent_ms: 0,
                 reply_goes_on: true}
              - {say: Kilo two, again: {when: once more, say: "K. Two."}}
            expect:
              booking: {check_in: {next: "10-18"}, check_out: 2027-10-20, guests: 2}
              never_says: is confirmed
            """,
        )
    )
    assert script.turns[0].parts == (Words(text="Two guests."),)
    assert script.turns[1].parts[1] == Pause(pause_ms=700)
    assert script.turns[1].said == "My name is (700 ms) Priya"
    assert script.turns[2].said == "[cough.wav]"
    assert script.turns[3].over_agent_ms == 800
    assert script.turns[4].said == "[cough] [babble]"
    assert script.turns[4].reply_goes_on
    assert script.turns[5].again is not None
    assert script.turns[5].again.when == ("once more",)
    assert script.turns[5].again.parts == (Words(text="K. Two."),)
    assert script.expect.booking["check_in"] == DateRule(next="10-18")
    assert script.expect.never_says == ("is confirmed",)


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("turns: [{say: hello}]", "name", "required"),
        ("{name: x, turns: []}", "turns", "at least 1"),
        ("{name: x, turns: [{say: yes}]}", "turns[0].say", "text in quotes"),
        ("{name: x, turns: [{say: [hi, {pause: 3}]}]}", "turns[0].say", "pause_ms"),
        ("{name: x, turns: [{say: {noise: drum}}]}", "turns[0].say", "'cough'"),
        ("{name: x, turns: [{say: {noise: hum}}]}", "turns[0].say", "lasts_ms with babble and hum"),
        ("{name: x, turns: [{say: hi, reply_goes_on: true}]}", "turns[0]", "over_agent_ms"),
        ("{name: x, turns: [{say: hi, audio: a.wav}]}", "turns[0]", "not both"),
        ("{name: x, turns: [{say: hi, again: {say: ho}}]}", "turns[0].again.when", "required"),
        ("{name: x, turns: [{audio: a.wav}]}", "turns[0].audio", "no file a.wav"),
        ("{name: x, turns: [{say: hi, sya: hi}]}", "turns[0].sya", "no such key"),
        (
            "{name: x, turns: [{say: hi}], expect: {never_says: ['(']}}",
            "expect.never_says[0]",
            "regular expression",
        ),
        (
            "{name: x, turns: [{say: hi}], expect: {booking: {check_in: {next: soon}}}}",
            "expect.booking.check_in.next",
            "month and a day",
        ),
        (
            "{name: x, turns: [{say: hi}], expect: {booking: {a: {after: b, days: 1}}}}",
            "expect",
            "must name a date",
        ),
        ("[1, 2]", "", "expected a mapping"),
        ("{", "", "expected YAML"),
    ],
)
def test_an_error_names_the_file_the_key_and_what_was_expected(
    tmp_path: Path, text: str, key: str, expected: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ScriptError) as caught:
        load_script(path)
    assert str(caught.value).startswith(f"{path}: {key}")
    assert expected in str(caught.value)


def test_a_missing_file_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot be read"):
        load_script(tmp_path / "absent.yaml")


@pytest.mark.parametrize("path", sorted(CALLS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_call_of_the_suite_can_be_played(path: Path) -> None:
    assert load_script(path).name == path.stem
