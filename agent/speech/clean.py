"""A streaming filter from what a language model writes to the words that it means.

The text is taken one character at a time, so how it was cut into chunks cannot change the outcome.
Only what may still become a mark is held back; everything else passes at once.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterable
from enum import Enum, auto

from agent.speech.marks import (
    END_TOKEN,
    HEADER,
    LINE_MARK,
    OTHER_SPEAKS,
    SILENT_TAGS,
    TAG,
    is_decoration,
    is_direction,
    is_emoticon,
    may_be_direction,
    may_become_emoticon,
    may_become_line_mark,
)

# In the filter's output: all that came before it was a thought after all, and is void. (ASCII CAN
# has meant this, "disregard what precedes", since 1963.)
RETRACT = "\x18"
# A thought longer than this will not come to an answer in time to be spoken.
MAX_SILENT_CHARS = 4_000
_ENDS_SENTENCE = tuple(".!?…")
_MAX_MARK_CHARS = 80  # a bracket still open after this is no mark


class _Mode(Enum):
    SPEECH = auto()
    SILENT = auto()  # in an element, a fence or a table row: nothing of it is speech
    HELD = auto()  # in what may become a mark
    DONE = auto()


class Cleaner:
    """The filter's state over one reply.

    Args:
        thinking: the reply begins inside a thought, since the chat template opened it; then only
            what follows `</think>` is speech.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self._mode = _Mode.SILENT if thinking else _Mode.SPEECH
        self._until = "</think>"
        self._silent = 0  # characters since speech stopped
        self._silent_tail = ""
        self._silent_limit = MAX_SILENT_CHARS
        self._held = ""
        self._line = ""  # the start of the line, while it may be a mark
        self._at_line_start = True
        self._space = False  # a space to come before the next word
        self._newline = False
        self._last = ""
        self._out: list[str] = []

    @property
    def done(self) -> bool:
        """Nothing more of this reply is speech: it ended, or its thought has no end."""
        return self._mode is _Mode.DONE

    def feed(self, chunk: str) -> str:
        """Take the next piece of the model's text and return what of it is surely speech."""
        for char in chunk.replace("\r\n", "\n"):
            if self._mode is _Mode.DONE:
                break
            self._take(char)
        return self._flush()

    def finish(self) -> str:
        """The text has ended: return what was held back and turned out to be speech."""
        for _ in range(3):  # what a line held may itself be held as a bracket, and once more
            if self._mode is _Mode.HELD:
                if re.match(r"</?[A-Za-z|]", self._held):
                    break  # cut off within a tag
                if self._held.endswith("]"):
                    self._take(" ")  # no "(" follows, so it is no link
                else:
                    self._give_up()
            if self._mode is not _Mode.DONE and self._line:
                self._end_line_start(ended=True)
        self._mode = _Mode.DONE
        return self._flush()

    def _flush(self) -> str:
        text, self._out = "".join(self._out), []
        return text

    def _take(self, char: str) -> None:
        if self._mode is _Mode.SILENT:
            self._take_silent(char)
        elif self._mode is _Mode.HELD:
            self._take_held(char)
        elif self._mode is _Mode.SPEECH:
            if self._at_line_start:
                self._take_line_start(char)
            else:
                self._take_speech(char)

    # Silence

    def _fall_silent(self, until: str, limit: int = MAX_SILENT_CHARS) -> None:
        self._mode = _Mode.SILENT
        self._until = until
        self._silent_limit = limit
        self._silent, self._silent_tail = 0, ""

    def _take_silent(self, char: str) -> None:
        self._silent += 1
        self._silent_tail = (self._silent_tail + char.lower())[-len(self._until) :]
        if self._silent_tail == self._until:
            self._mode = _Mode.SPEECH
            if self._until == "\n":
                self._start_line()
            else:
                # What follows a thought or a code block is the start of a reply.
                self._at_line_start = self._at_line_start or not self._last
                self._space = bool(self._last)
        elif self._silent > self._silent_limit:
            self._mode = _Mode.DONE

    # The start of a line

    def _start_line(self) -> None:
        self._at_line_start, self._line = True, ""
        self._newline = bool(self._last)

    def _take_line_start(self, char: str) -> None:
        if not self._line and char.isspace():
            if char == "\n":
                self._start_line()
            return
        if char == "|" and not self._line:
            self._fall_silent("\n", 1_000)
            return
        self._line += char
        if may_become_line_mark(self._line):
            return
        self._end_line_start(ended=False)

    def _end_line_start(self, *, ended: bool) -> None:
        line, self._line = self._line, ""
        if line.startswith("```"):
            self._fall_silent("```")
            return
        if OTHER_SPEAKS.match(line):
            self._mode = _Mode.DONE
            return
        if line.startswith("* "):
            line, again = line[2:], True
        elif mark := LINE_MARK.match(line if not ended else line + "\n"):
            line, again = line[mark.end() :], True
        else:
            again = False
        # A mark may stand behind another one ("- **Name:**"); otherwise the words have begun.
        self._at_line_start = again and not ended
        for char in line:
            self._take(char)

    # Within a line

    def _take_speech(self, char: str) -> None:
        if char in "<([*`~:;!_":
            self._mode, self._held = _Mode.HELD, char
        elif char == "\n":
            self._start_line()
        else:
            self._emit(char)

    def _emit(self, text: str) -> None:
        for char in text:
            if char.isspace():
                if self._last in _ENDS_SENTENCE and not self._space:
                    # At once, since the sentence is only complete with it.
                    self._out.append(" ")
                    self._last = " "
                self._space = self._last not in ("", " ")
            elif not is_decoration(char):
                if self._newline:
                    self._out.append("\n")
                elif self._space and char not in ",.;:!?":
                    self._out.append(" ")
                self._space = self._newline = False
                self._out.append(char)
                self._last = char

    def _replay(self, text: str) -> None:
        """Take text again that was held back; its first character is already dealt with."""
        self._mode, self._held = _Mode.SPEECH, ""
        for char in text:
            if self._mode is _Mode.DONE:
                return
            self._take(char)

    def _give_up(self) -> None:
        """What was held is no mark: its first character stands, unless only marks use it."""
        held = self._held
        if held[0] not in "*`~_":
            self._emit(held[0])
        self._replay(held[1:])

    def _take_held(self, char: str) -> None:
        self._held += char
        held, opener = self._held, self._held[0]
        if opener == "<":
            self._hold_tag(char)
        elif opener == "(":
            if char == ")":
                self._resolve_aside(held[1:-1], "(", ")")
            elif char == "\n" or len(held) > _MAX_MARK_CHARS or not may_be_direction(held[1:]):
                self._give_up()
        elif opener == "[":
            self._hold_bracket(char)
        elif opener == "*":
            self._hold_star(char)
        elif opener == "`":
            if held == "```":
                self._fall_silent("```")
                self._held = ""
            elif not "```".startswith(held):
                self._give_up()
        elif opener == "~":
            if held == "~~":
                # Struck-out text is what the model took back.
                self._fall_silent("~~", 200)
                self._held = ""
            elif not "~~".startswith(held):
                self._give_up()
        elif opener == "!":
            # "![alt](address)" is a picture; what it shows is not said.
            if char == "[":
                self._fall_silent(")", 300)
                self._held = ""
            else:
                self._give_up()
        elif opener == "_":
            # Kept within a word ("ref_code", an address), dropped where it marks emphasis.
            if char != "_":
                if self._last.isalnum() and not self._space and char.isalnum():
                    self._emit(held[:-1])
                self._replay(char)
        else:
            self._hold_colon()

    def _hold_tag(self, char: str) -> None:
        held = self._held
        second = held[1:2]
        if not (second.isalpha() or second in "/|!") or char == "\n" or len(held) > _MAX_MARK_CHARS:
            self._give_up()
        elif char == ">" and not (held.startswith("<|") and not held.endswith("|>")):
            self._resolve_tag(held)

    def _resolve_tag(self, tag: str) -> None:
        self._mode, self._held = _Mode.SPEECH, ""
        match = TAG.fullmatch(tag)
        name = match["name"].lower() if match else ""
        if name in SILENT_TAGS and match and not match["empty"]:
            if match["close"]:
                # The template opened the thought: all so far was part of it.
                self._out.append(RETRACT)
                self._last, self._space, self._newline = "", False, False
                self._at_line_start = True
            else:
                self._fall_silent(f"</{name}>")
        elif HEADER.fullmatch(tag) and not self._last:
            self._fall_silent("\n" if "im_start" in tag else "<|end_header_id|>", 60)
        elif END_TOKEN.fullmatch(tag) and self._last:
            self._mode = _Mode.DONE
        elif name in ("br", "p", "li", "div"):
            self._start_line()

    def _hold_bracket(self, char: str) -> None:
        held = self._held
        text, closed, _ = held[1:].partition("]")
        if char == "\n" or len(held) > _MAX_MARK_CHARS:
            self._give_up()
        elif not closed or held.endswith("]"):
            return
        elif char == "(":
            self._fall_silent(")", 300)
            self._held = ""
            self._emit(text)
        elif re.fullmatch(r"/?INST|\d+|\^\w+", text):
            self._replay(char)
        else:
            self._resolve_aside(text, "[", "]", char)

    def _hold_star(self, char: str) -> None:
        held = self._held
        body = held.lstrip("*")
        if not body:
            return
        if char == "*" and len(held) - len(body) == 1 and is_direction(body[:-1]):
            self._replay("")
            self._space = bool(self._last)
        elif char in "*\n" or len(held) > _MAX_MARK_CHARS or not may_be_direction(body):
            self._replay(body)

    def _hold_colon(self) -> None:
        if is_emoticon(self._held):
            self._replay("")
        elif not may_become_emoticon(self._held):
            self._give_up()

    def _resolve_aside(self, text: str, left: str, right: str, rest: str = "") -> None:
        if is_direction(text):
            self._replay("")
            self._space = bool(self._last)
        else:
            self._mode, self._held = _Mode.SPEECH, ""
            self._emit(left)
            self._replay(text)
            if self._mode is _Mode.HELD:
                self._give_up()
            self._emit(right)
        if self._mode is _Mode.SPEECH:
            self._replay(rest)


async def clean(chunks: AsyncIterable[str], *, thinking: bool = False) -> AsyncGenerator[str, None]:
    """Filter a reply as it streams; see `Cleaner` for what it drops.

    Yields non-empty pieces of text. Ends early when nothing more of the reply is speech.
    """
    cleaner = Cleaner(thinking=thinking)
    async for chunk in chunks:
        if text := cleaner.feed(chunk):
            yield text
        if cleaner.done:
            return
    if text := cleaner.finish():
        yield text
