"""The session's decisions, with scripted sound: V is a window with a voice, q a quiet one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from selfhost.server.errors import ApiError
from selfhost.server.realtime.config import ServerVad
from selfhost.server.realtime.events import COMMITTED, COMPLETED, DELTA, FAILED
from selfhost.server.realtime.utterance import MAX_PART_MS, MS
from selfhost.server.realtime.utterances import (
    MAX_UTTERANCE_MS,
    DecodeRequest,
    Kind,
    Utterances,
)
from selfhost.server.transcription.activity import WINDOW_MS


class Script:
    """Drives one session by hand and keeps what it told."""

    def __init__(self, vad: ServerVad | None = None) -> None:
        numbers = itertools.count(1)
        self.session = Utterances(lambda: f"item{next(numbers)}", vad)
        self.told: list[dict[str, Any]] = []

    def hear(self, sound: str) -> Script:
        self.told += self.session.heard(1.0 if window == "V" else 0.0 for window in sound)
        return self

    def commit(self) -> Script:
        self.told += self.session.commit()
        return self

    def request(self, kind: Kind) -> DecodeRequest:
        request = self.session.next_request()
        assert request is not None
        assert request.kind is kind
        return request

    def answer(self, request: DecodeRequest, text: str, avg_logprob: float = -1.0) -> Script:
        end = self.session.position if request.end is None else request.end
        self.told += self.session.decoded(request, text, end, avg_logprob)
        return self

    def types(self) -> list[str]:
        return [event["type"] for event in self.told]

    def transcripts(self) -> list[str]:
        return [event["transcript"] for event in self.told if event["type"] == COMPLETED]

    def shown(self, item: str = "item1") -> str:
        deltas = (event for event in self.told if event["type"] == DELTA)
        return "".join(event["delta"] for event in deltas if event["item_id"] == item)


def test_silence_is_completed_empty_without_a_decode() -> None:
    script = Script().hear("q" * 40).commit()
    assert script.types() == [COMMITTED, COMPLETED]
    assert script.transcripts() == [""]
    assert script.session.next_request() is None


def test_a_click_is_no_speech() -> None:
    script = Script().hear("qqqqVqqqqqqq").commit()
    assert script.transcripts() == [""]
    assert script.session.next_request() is None


def test_a_commit_without_sound_is_an_error() -> None:
    script = Script().hear("q" * 10).commit()
    with pytest.raises(ApiError) as error:
        script.commit()
    assert error.value.code == "input_audio_buffer_commit_empty"


def test_a_short_burst_is_decoded_and_completed() -> None:
    script = Script().hear("VVV").commit()
    script.answer(script.request(Kind.FINAL), "")
    assert script.transcripts() == [""]


def test_partials_are_asked_for_one_at_a_time_and_only_while_the_caller_speaks() -> None:
    script = Script().hear("V" * 12)
    first = script.request(Kind.PARTIAL)
    assert script.hear("V" * 30).session.next_request() is None
    script.answer(first, "I'd like")
    second = script.request(Kind.PARTIAL)
    script.answer(second, "I'd like to book")
    assert script.shown() == "I'd like"
    script.hear("q").request(Kind.SPECULATIVE)
    assert script.session.next_request() is None


def test_a_decode_that_is_sure_shows_its_first_word_at_once() -> None:
    script = Script().hear("V" * 10)
    script.answer(script.request(Kind.PARTIAL), "I'd like", avg_logprob=-0.3)
    assert script.shown() == "I'd"


def test_a_one_word_answer_is_shown_before_its_utterance_ends() -> None:
    script = Script().hear("V" * 8 + "qqqq")
    script.answer(script.request(Kind.SPECULATIVE), "Yes.", avg_logprob=-0.3)
    assert script.shown() == "Yes"


def test_a_transcript_decoded_in_the_quiet_is_used_at_the_commit() -> None:
    script = Script().hear("V" * 8 + "qqqq")
    script.answer(script.request(Kind.SPECULATIVE), "A twin room.")
    script.hear("qqq").commit()
    assert script.transcripts() == ["A twin room."]
    assert script.session.next_request() is None
    assert script.session.speculations == {"used": 1, "outdated": 0}


def test_a_speculation_under_way_at_the_commit_becomes_the_transcript() -> None:
    script = Script().hear("V" * 8 + "qqqq")
    guess = script.request(Kind.SPECULATIVE)
    script.hear("qq").commit()
    assert script.session.next_request() is None
    assert script.answer(guess, "A twin room.").transcripts() == ["A twin room."]


def test_more_speech_outdates_a_speculation() -> None:
    script = Script().hear("V" * 8 + "qqqq")
    guess = script.request(Kind.SPECULATIVE)
    script.hear("V" * 4)
    assert script.session.is_outdated(guess)
    script.answer(guess, "A twin.").hear("qq").commit()
    final = script.request(Kind.FINAL)
    assert final.end is not None
    assert script.answer(final, "A twin room.").transcripts() == ["A twin room."]


def test_a_speculation_that_failed_is_not_tried_again_before_more_is_said() -> None:
    script = Script().hear("V" * 8 + "qqqq")
    script.told += script.session.failed(script.request(Kind.SPECULATIVE), "broken")
    assert script.session.next_request() is None
    script.commit()
    script.answer(script.request(Kind.FINAL), "A twin room.")
    assert script.transcripts() == ["A twin room."]
    assert script.session.speculations == {"used": 0, "outdated": 0}


def test_a_partial_that_comes_after_the_commit_tells_nothing() -> None:
    script = Script().hear("V" * 12)
    late = script.request(Kind.PARTIAL)
    script.commit()
    assert script.session.is_outdated(late)
    final = script.request(Kind.FINAL)
    script.answer(late, "A twin").answer(final, "A twin room.")
    assert script.types() == [COMMITTED, COMPLETED]


def test_transcripts_come_in_the_order_of_the_commits_and_before_newer_deltas() -> None:
    script = Script().hear("V" * 8).commit().hear("V" * 12).commit().hear("V" * 12)
    first = script.request(Kind.FINAL)
    assert script.session.next_request() is None
    script.answer(first, "One.")
    script.answer(script.request(Kind.FINAL), "Two.")
    for text in ("Three and", "Three and four"):
        script.hear("V" * 8).answer(script.request(Kind.PARTIAL), text)
    assert script.transcripts() == ["One.", "Two."]
    assert script.types()[-1] == DELTA
    committed = [event for event in script.told if event["type"] == COMMITTED]
    assert [event["previous_item_id"] for event in committed] == [None, "item1"]


def test_a_moment_of_quiet_does_not_waste_a_partial_under_way() -> None:
    script = Script().hear("V" * 12)
    script.answer(script.request(Kind.PARTIAL), "A twin")
    script.hear("V" * 4)
    under_way = script.request(Kind.PARTIAL)
    script.hear("q")
    assert not script.session.is_outdated(under_way)
    script.answer(under_way, "A twin room").hear("V")
    assert script.shown() == "A twin"


def test_a_guess_at_the_end_goes_before_a_partial_that_waits() -> None:
    script = Script().hear("V" * 12)
    waiting = script.request(Kind.PARTIAL)
    script.hear("qqq")
    script.request(Kind.SPECULATIVE)
    assert script.session.is_outdated(waiting)


def test_a_failed_decode_gives_up_its_own_utterance_only() -> None:
    script = Script().hear("V" * 8).commit()
    script.told += script.session.failed(script.request(Kind.FINAL), "broken")
    script.hear("V" * 8).commit()
    script.answer(script.request(Kind.FINAL), "Two.")
    assert script.types() == [COMMITTED, FAILED, COMMITTED, COMPLETED]


def test_a_long_silence_before_the_first_word_is_no_long_utterance() -> None:
    script = Script().hear("q" * (MAX_UTTERANCE_MS // WINDOW_MS + 100))
    assert script.session.position - script.session.needed_from <= 1_000 * MS
    script.hear("V" * 12)
    assert script.types() == []


def test_cleared_sound_is_forgotten() -> None:
    script = Script().hear("V" * 12)
    script.told += script.session.clear()
    script.hear("q" * 6).commit()
    assert script.transcripts() == [""]


def test_server_vad_begins_and_ends_utterances_by_itself() -> None:
    script = Script(ServerVad(prefix_padding_ms=300, silence_duration_ms=350))
    script.hear("q" * 20 + "V" * 10 + "q" * 4)
    script.answer(script.request(Kind.SPECULATIVE), "Hello.").hear("q" * 10)
    assert script.types() == [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        COMMITTED,
        COMPLETED,
    ]
    started, stopped = script.told[0], script.told[1]
    assert started["audio_start_ms"] == 20 * WINDOW_MS - 300
    assert 30 * WINDOW_MS + 350 <= stopped["audio_end_ms"] <= 30 * WINDOW_MS + 350 + WINDOW_MS
    assert started["item_id"] == stopped["item_id"] == "item1"


def test_server_vad_may_wait_longer_than_a_pause_between_parts() -> None:
    script = Script(ServerVad(silence_duration_ms=2_000)).hear("V" * 10 + "q" * 60)
    assert COMMITTED not in script.types()
    script.hear("q" * 10)
    assert script.types()[-1] == COMMITTED


def test_a_click_before_the_speech_does_not_get_its_words() -> None:
    script = Script().hear("V" + "q" * 40 + "V" * 12)
    first = script.request(Kind.PARTIAL)
    assert first.start >= 30 * WINDOW_MS * MS
    script.commit()
    script.answer(script.request(Kind.FINAL), "Yes.")
    assert script.transcripts() == ["Yes."]


def test_a_pause_in_an_open_utterance_closes_a_part_and_the_parts_are_joined() -> None:
    script = Script().hear("V" * 20 + "qqqq")
    script.answer(script.request(Kind.SPECULATIVE), "One two.")
    script.hear("q" * 40 + "V" * 12)
    script.answer(script.request(Kind.PARTIAL), "Three four")
    script.hear("V" * 12)
    script.answer(script.request(Kind.PARTIAL), "Three four five")
    assert script.shown() == "One two Three four"
    script.commit()
    script.answer(script.request(Kind.FINAL), "Three four five.")
    assert script.transcripts() == ["One two. Three four five."]


def test_endless_speech_is_decoded_in_parts_with_bounded_sound() -> None:
    script = Script()
    widest = 0
    for minute_piece in range(40):
        script.hear(("V" * 90 + "q" * 3) * 2)
        while (request := script.session.next_request()) is not None:
            end = request.end or script.session.position
            assert end - request.start <= (MAX_PART_MS + 100) * MS
            script.answer(request, f"part {minute_piece}")
        widest = max(widest, script.session.position - script.session.needed_from)
    assert script.session.position > 200_000 * MS
    assert widest <= (MAX_PART_MS + 1_000) * MS
    script.commit()
    while (request := script.session.next_request()) is not None:
        script.answer(request, "end")
    assert len(script.transcripts()) == 1


def test_no_part_is_lost_or_decoded_twice_at_a_cut() -> None:
    script = Script()
    spans: list[tuple[int, int]] = []
    for _ in range(20):
        script.hear("V" * 60 + "q" * 4)
        while (request := script.session.next_request()) is not None:
            if request.kind is Kind.FINAL and request.end is not None:
                spans.append((request.start, request.end))
            script.answer(request, "words")
    assert len(spans) >= 1
    for (_, end), (start, _) in itertools.pairwise(spans):
        assert start == end


def test_an_utterance_without_end_is_committed_by_the_server() -> None:
    script = Script().hear("V")
    for _ in range(MAX_UTTERANCE_MS // 1000 + 2):
        script.hear("V" * (1000 // WINDOW_MS + 1))
        while (request := script.session.next_request()) is not None:
            script.answer(request, "x")
    assert COMPLETED in script.types()
