"""A spoken call as a YAML file: what the caller says, when, and what should come of it."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from selfhost.errors import SetupError
from selfhost.load.expectation import RULE, VALUE, Expected, resolve
from selfhost.load.noises import LASTING, Noise

PARTS = (
    "text in quotes, {pause_ms: 700}, {noise: cough}, {noise: babble, lasts_ms: 9000}, "
    "{audio: file.wav}, or a list of these"
)


class ScriptError(SetupError):
    """A call file cannot be used; the text says which file, which key, and what was expected."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(_Strict):
    """Words to synthesise."""

    text: Annotated[str, Field(min_length=1)]


class Pause(_Strict):
    """Silence inside a turn, between two audible sounds; alone, a caller who says nothing."""

    pause_ms: PositiveInt


class Noises(_Strict):
    """A sound that is no word; see `noises`."""

    noise: Noise
    lasts_ms: PositiveInt | None = None

    @model_validator(mode="after")
    def _length(self) -> Self:
        if (self.noise in LASTING) != (self.lasts_ms is not None):
            lasting = " and ".join(sorted(LASTING))
            raise ValueError(f"expected lasts_ms with {lasting}, and with no other noise")
        return self


class Sound(_Strict):
    """A file to play, relative to the call file."""

    audio: Path


Part = Words | Pause | Noises | Sound


def _as_parts(value: Any) -> Any:
    def part(item: Any) -> Part:
        match item:
            case Words() | Pause() | Noises() | Sound():
                return item
            case str() if item.strip():
                return Words(text=item)
            case {"pause_ms": int()} if len(item) == 1:
                return Pause(**item)
            case {"noise": str()}:
                return Noises(**item)
            case {"audio": str()} if len(item) == 1:
                return Sound(**item)
        # A bare yes, no, on or 12 in YAML is no text, hence the hint about quotes.
        raise ValueError(f"expected {PARTS}")

    return tuple(part(item) for item in (value if isinstance(value, list | tuple) else [value]))


def _as_regex(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"expected a regular expression ({error})") from None
    return pattern


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Patterns = Annotated[
    tuple[Annotated[str, AfterValidator(_as_regex)], ...], BeforeValidator(_as_list)
]


class Again(_Strict):
    """What the caller says when the agent asks for the turn again: its words, or others for them.

    `when` is a pattern of what the agent says then.
    """

    when: Patterns
    parts: Annotated[tuple[Part, ...], BeforeValidator(_as_parts), Field(alias="say")] = ()


class Turn(_Strict):
    """One turn of the caller.

    Without `over_agent_ms` it starts when the agent has finished; with it, that long after the
    agent's next reply has become audible. `interrupts` says whether the agent must yield to it.
    With `reply_goes_on`, the turn is no turn ("mhmm", a cough): the agent must finish what it was
    saying, without a silence of more than 3 s, and say nothing in answer. `stops_within_ms` is the
    longest time from the caller's first sound to the agent's last. With `one_reply` the agent must
    begin to speak exactly once. `answered_includes` and `never_says` are about the answer to this
    turn alone. With `again`, the caller says the turn again, twice at most, where the agent did not
    understand it and asks; the turn's figures and answer are then those of the last time.
    """

    parts: Annotated[tuple[Part, ...], BeforeValidator(_as_parts), Field(alias="say")]
    over_agent_ms: Annotated[int, Field(ge=0)] | None = None
    interrupts: bool | None = None
    reply_goes_on: bool = False
    stops_within_ms: PositiveInt | None = None
    one_reply: bool = False
    again: Again | None = None
    answered_includes: Patterns = ()
    never_says: Patterns = ()

    @model_validator(mode="before")
    @classmethod
    def _audio_is_a_part(cls, data: Any) -> Any:
        if isinstance(data, dict) and "audio" in data:
            if "say" in data:
                raise ValueError("expected say or audio, not both")
            others = {key: value for key, value in data.items() if key != "audio"}
            return {**others, "say": [{"audio": data["audio"]}]}
        return data

    @model_validator(mode="after")
    def _over_the_agent(self) -> Self:
        if (self.reply_goes_on or self.stops_within_ms) and self.over_agent_ms is None:
            raise ValueError("reply_goes_on and stops_within_ms: expected with over_agent_ms")
        if self.reply_goes_on and (self.interrupts or self.stops_within_ms or self.one_reply):
            raise ValueError("expected a reply that goes on, or one that is given up, not both")
        return self

    @property
    def said(self) -> str:
        """The turn as a reader wants to see it."""
        shown = {
            Words: lambda p: p.text,
            Pause: lambda p: f"({p.pause_ms} ms)",
            Noises: lambda p: f"[{p.noise}]",
            Sound: lambda p: f"[{p.audio.name}]",
        }
        return " ".join(shown[type(part)](part) for part in self.parts)


class Expectation(_Strict):
    """What must hold at the end of the call. Words are case-insensitive regular expressions.

    `booking: {}` expects nothing of it; `booking: {guests: null}` expects that it has no guests.
    """

    booking: dict[str, Expected] = {}
    answered_includes: Patterns = ()
    last_answer_includes: Patterns = ()
    never_says: Patterns = ()
    never_cuts_in: bool = False
    agent_hangs_up: bool = False  # in the last turn; else it is the caller who ends the call

    @model_validator(mode="after")
    def _rules_can_be_resolved(self) -> Self:
        resolve(self.booking, today=date(2000, 1, 1))  # any day does: the references are checked
        return self


class Script(_Strict):
    """A whole call."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    description: str = ""
    voice: str = "hibari"
    speed: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    expect: Expectation = Expectation()


def _problem(error: ErrorDetails) -> str:
    """One validation error in a reader's terms: key, what is wrong, what came."""
    key = ""
    for step in error["loc"]:
        if step not in (RULE, VALUE):  # tags of a union: no key of the file
            key += f"[{step}]" if isinstance(step, int) else f".{step}"
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = "no such key; check its spelling and its indentation"
    got = "" if error["type"] in ("missing", "extra_forbidden") else f", got {error['input']!r:.80}"
    return f"{key.lstrip('.') or 'the whole file'}: {message}{got}"


def load_script(path: Path) -> Script:
    """Read a call file.

    Raises:
        ScriptError: the file cannot be read, is no YAML, or is no call.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScriptError(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path}: expected YAML in UTF-8: {error}") from None
    if not isinstance(data, dict):
        raise ScriptError(f"{path}: expected a mapping with name: and turns:")
    try:
        script = Script.model_validate(data)
    except ValidationError as error:
        problems = [f"{path}: {_problem(detail)}" for detail in error.errors()]
        raise ScriptError("\n".join(problems)) from None
    for index, turn in enumerate(script.turns):
        for part in (*turn.parts, *(turn.again.parts if turn.again else ())):
            if isinstance(part, Sound) and not (path.parent / part.audio).is_file():
                raise ScriptError(
                    f"{path}: turns[{index}].audio: no file {part.audio} beside the call file"
                )
    return script
