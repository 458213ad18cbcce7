from __future__ import annotations

from selfhost.server.transcription.captions import Segment, segments, srt, vtt
from selfhost.server.transcription.files import join_spans
from selfhost.server.transcription.whisper import Word


def words(*spoken: tuple[str, float, float]) -> list[Word]:
    return [Word(text, start, end, 1.0) for text, start, end in spoken]


def test_a_segment_ends_at_a_sentence_and_at_a_pause() -> None:
    found = segments(
        words(("Yes.", 0, 0.4), ("Two", 0.5, 0.7), ("guests", 0.7, 1.1), ("please", 2.5, 3.0))
    )
    assert [segment.text for segment in found] == ["Yes.", "Two guests", "please"]
    assert (found[1].start_s, found[1].end_s) == (0.5, 1.1)


def test_no_segment_outgrows_a_caption() -> None:
    long = words(*((f"word{i:04}", i * 0.1, i * 0.1 + 0.1) for i in range(200)))
    assert all(len(segment.text) <= 84 for segment in segments(long))
    assert " ".join(segment.text for segment in segments(long)) == " ".join(w.text for w in long)


def test_srt_and_vtt_write_times_in_their_own_way() -> None:
    parts = [Segment(0.0, 1.5, "Good evening."), Segment(3661.25, 3662.0, "Goodbye.")]
    assert srt(parts) == (
        "1\n00:00:00,000 --> 00:00:01,500\nGood evening.\n\n"
        "2\n01:01:01,250 --> 01:01:02,000\nGoodbye.\n\n"
    )
    assert vtt(parts).startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood evening.\n\n")
    assert vtt([]) == "WEBVTT\n\n"


def test_neighbouring_spans_join_up_to_the_longest_window() -> None:
    assert join_spans([(0, 10), (12, 20), (21, 40)], max_samples=25) == [(0, 20), (21, 40)]
    assert join_spans([], max_samples=25) == []
