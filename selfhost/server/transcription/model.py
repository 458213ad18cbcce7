"""A Whisper model that is loaded, with the thread that it works on."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from selfhost.server.batching import BatchingWorker, BatchLimits, Row
from selfhost.server.errors import ApiError
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.metrics import Metrics
from selfhost.server.scheduling import Priority
from selfhost.server.transcription.guards import collapse_repeats, reason_to_withhold
from selfhost.server.transcription.together import MAX_DRAFTS
from selfhost.server.transcription.whisper import Audio, Decoded, Draft, Hints, Whisper

ReadDraft = Callable[[], Draft]


def transcription_worker(
    model: str, whisper: Whisper, *, max_queued: int, metrics: Metrics
) -> BatchingWorker[ReadDraft, Decoded]:
    """The thread of a Whisper model, which takes the drafts of several calls at once."""

    def compute(drafts: list[ReadDraft]) -> list[Decoded]:
        return whisper.decode_drafts([read() for read in drafts])

    return BatchingWorker(
        model,
        compute,
        limits=BatchLimits(max_rows=MAX_DRAFTS, max_tokens=MAX_DRAFTS),
        max_queued=max_queued,
        metrics=metrics,
    )


@dataclass
class TranscriptionModel:
    id: str
    whisper: Whisper
    worker: BatchingWorker[ReadDraft, Decoded]
    metrics: Metrics

    def check_language(self, language: str | None) -> None:
        """
        Raises:
            ApiError: the model does not know the language. None, for any, is always right.
        """
        if language is not None and language not in self.whisper.languages:
            raise ApiError(
                400,
                f"language: {self.id} has no {language[:20]!r}; expected a code such as en.",
                code="invalid_language",
                param="language",
            )

    async def transcribe(
        self,
        read: Callable[[], Audio],
        hints: Hints,
        *,
        owner: Hashable,
        priority: Priority,
        kind: str,
        voiced_ms: float,
        draft: bool = False,
        prefix: str = "",
        word_times: bool = False,
        may_refuse: bool = True,
    ) -> Decoded:
        """Decode what `read` returns when the turn of this work comes.

        Args:
            read: gives at most 30 s of sound; called on the model's thread, so that work that had
                to wait gets the newest sound.
            voiced_ms: how much of that sound is a voice.
            draft, prefix, word_times: as for Whisper.decode.
            owner, priority, kind, may_refuse: as for Worker.run.

        Returns:
            The decoded text without loops, or with an empty text where nobody spoke.

        Raises:
            BrokenModelError: the model's scores are no numbers. Its text is then a row of signs,
                which would pass for silence.
        """

        if draft and not word_times:
            row: Row[ReadDraft] = Row(lambda: Draft(read(), hints, prefix), 1)
            (decoded,) = await self.worker.run_rows(
                [row], owner=owner, priority=priority, kind=kind, may_refuse=may_refuse
            )
        else:
            decoded = await self.worker.run(
                lambda: self.whisper.decode(
                    read(), hints, draft=draft, prefix=prefix, word_times=word_times
                ),
                owner=owner,
                priority=priority,
                kind=kind,
                may_refuse=may_refuse,
            )
        if not (math.isfinite(decoded.avg_logprob) and math.isfinite(decoded.no_speech_prob)):
            raise BrokenModelError(f"{self.id} made scores that are not numbers")
        return self._judged(decoded, voiced_ms, hints)

    def close(self) -> None:
        self.worker.close()
        self.whisper.close()

    def _judged(self, decoded: Decoded, voiced_ms: float, hints: Hints) -> Decoded:
        text = collapse_repeats(decoded.text, voiced_ms=voiced_ms)
        reason = reason_to_withhold(
            text,
            avg_logprob=decoded.avg_logprob,
            no_speech_prob=decoded.no_speech_prob,
            voiced_ms=voiced_ms,
            keywords=hints.keywords,
            prompt=hints.prompt,
        )
        if reason is None:
            return replace(decoded, text=text)
        if decoded.text:
            self.metrics.suppressed.labels(reason).inc()
        return replace(decoded, text="", words=None if decoded.words is None else ())
