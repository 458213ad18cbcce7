"""The receptionist: one call's agent, from the caller's words to the words that answer them.

The request is data that this class owns. Each turn is heard by code, the reply is decided by code,
and the language model only words a part of it, under a deadline and behind a check.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date

from livekit import rtc
from livekit.agents import (
    Agent,
    AgentStateChangedEvent,
    ConversationItemAddedEvent,
    ModelSettings,
    SpeechCreatedEvent,
    llm,
    stt,
)

from agent import wording
from agent.booking.heard import Asked, Hearing
from agent.booking.hearing import hear
from agent.booking.hotel import Hotel
from agent.booking.keywords import keywords
from agent.booking.request import BookingRequest, Change
from agent.booking.store import BookingStore, StoreError
from agent.deadline import speaking_time_s, until_late
from agent.foresight import after, greeting, settled_sentences
from agent.pace import ModelPace
from agent.phrasing import Phrasing
from agent.readiness import Readiness
from agent.reply import MAX_SENTENCES, Move, Plan, Standing, decide, greet, not_recorded, recorded
from agent.speech.finding import Finding
from agent.speech.prepared import PreparedVoice
from agent.speech.sentences import split
from agent.speech.stream import checked
from agent.timeline.events import EventType
from agent.timeline.replies import Stage
from agent.timeline.timeline import Timeline
from agent.turns.backchannel import asks_yes_or_no
from agent.turns.floor import Floor
from agent.turns.playout import Playout
from agent.turns.silence import Patience, SilenceWatch, Step
from agent.turns.turn_end import TurnEnd, last_words, pause_s

logger = logging.getLogger("agent.receptionist")

# Where the code has the words ready, the model gets a third of the time: a caller gains little by
# its phrasing, and waits in silence for it.
READY_HASTE = 3


@dataclass
class Turn:
    """A caller's turn, worked out once and used by whoever needs it first.

    `text` is what the framework knows of it, and `words` the whole of it: where the caller went on
    before a reply was heard, they begin with the words that the reply would have answered.
    """

    text: str
    words: str
    understood: bool
    before: Standing
    request: BookingRequest
    plan: Plan
    committed: bool = False  # the turn is over, and what it said counts
    answered: bool = False  # its reply is under way
    sounded: bool = False  # since it was committed, the agent was heard


class Receptionist(Agent):
    """Takes booking requests for one hotel in one call.

    Args:
        call_id: names the call in the store.
        hotel: whose names, rules and facts hold.
        store: where the request is saved as it fills.
        timeline: where the booking's changes and replaced sentences are written.
        today: the hotel's date; passed in, so that a call can be heard on any day.
        reply_deadline_s: how long the caller waits for the model's words before the code's.
        request: what an earlier connection of the same call had gathered.
        voice: speaks, with sound made beforehand where it can; None where nothing is to be heard.
        patience: how long a silent caller is waited for.
        hang_up: ends the call; None where nobody but the caller can.
    """

    def __init__(
        self,
        *,
        call_id: str,
        hotel: Hotel,
        store: BookingStore,
        timeline: Timeline,
        today: Callable[[], date],
        reply_deadline_s: float,
        request: BookingRequest | None = None,
        voice: PreparedVoice | None = None,
        patience: Patience | None = None,
        hang_up: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(
            instructions=wording.instructions(hotel),
            turn_handling={"turn_detection": TurnEnd(self._pause_s, self._end_turn_after)},
        )
        self._call_id = call_id
        self._hotel = hotel
        self._store = store
        self._timeline = timeline
        self._today = today
        self._reply_deadline_s = reply_deadline_s
        request = request or BookingRequest()
        self._standing = Standing(request, acknowledged=request)
        self._turns = 0
        self._turn: Turn | None = None
        self._committed: Turn | None = None  # the last turn that counts
        self._floor: Floor | None = None
        self._patience = patience
        self._hang_up = hang_up
        self._silence: SilenceWatch | None = None
        self._typed = False
        self._pace = ModelPace()
        self._readiness = Readiness(voice, self._foresee) if voice is not None else None
        self._warm_up: asyncio.Task[None] | None = None
        self._settled: asyncio.Future[Plan] = asyncio.get_running_loop().create_future()

    @property
    def request(self) -> BookingRequest:
        """The booking request as it stands."""
        return self._standing.request

    async def on_enter(self) -> None:
        """Greet the caller at once, with words that need no model."""
        plan = greet(self._hotel)
        self._standing = replace(self._standing, plan=plan)
        if (sink := self.session.output.audio) is not None and sink.can_pause:
            playout = self.session.output.audio = Playout(sink)
            self._floor = Floor(self.session, playout, self._asks_yes_or_no)
        if self._patience is not None and self._hang_up is not None:
            self._silence = SilenceWatch(
                self.session, self._patience, words=self._words_for_silence, hang_up=self._hang_up
            )
            self._silence.start()
        self.session.on("agent_state_changed", self._on_agent_state)
        self.session.on("speech_created", self._on_speech_created)
        self.session.on("conversation_item_added", self._on_item_added)
        if self._readiness is not None:
            self._readiness.attach(self.session)
        self._publish_booking(())
        self._warm_up = asyncio.create_task(self._fill_prefix())
        await self.session.say(greeting(self._hotel), add_to_chat_ctx=True)

    async def on_exit(self) -> None:
        """Leave nothing running for a caller who has gone."""
        if self._warm_up is not None:
            self._warm_up.cancel()
        if self._readiness is not None:
            await self._readiness.aclose()
        if self._silence is not None:
            self._silence.stop()

    async def on_user_turn_completed(
        self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
    ) -> None:
        """Commit what the turn said, before any reply to it can be heard."""
        text = new_message.text_content or ""
        turn = self._turn
        if turn is None or turn.text != text or turn.committed or not self._is_current(turn):
            turn = self._turn = self._work_out(text)
        await self._commit(turn)

    async def stt_node(
        self, audio: AsyncIterable[rtc.AudioFrame], model_settings: ModelSettings
    ) -> AsyncIterator[stt.SpeechEvent]:
        """What the caller says, but for what only says "go on" while the agent speaks."""
        async for event in Agent.default.stt_node(self, audio, model_settings):
            # The recogniser listens before there is a floor.
            if self._floor is None or await self._floor.passes(event):
                yield event

    async def llm_node(
        self, chat_ctx: llm.ChatContext, tools: list[llm.Tool], model_settings: ModelSettings
    ) -> AsyncIterator[str]:
        """The reply, as complete sentences that may be spoken as they come.

        It may run before the turn is decided to be over; then it only foresees, and nothing that
        it works out counts until `on_user_turn_completed`.
        """
        text = last_words(chat_ctx)
        turn = self._turn
        if (
            turn is None
            or turn.text != text
            or turn.answered
            or not (turn.committed or self._is_current(turn))
        ):
            turn = self._turn = self._work_out(text)
        turn.answered = True
        if self._typed and not turn.committed:
            self._typed = False
            await self._commit(turn)
        plan = turn.plan
        if plan.move is Move.RECORD and not turn.committed:
            # Only the request in the book has a number, so its reply cannot be foreseen.
            plan = await asyncio.shield(self._settled)
        async for sentence in self._speak(plan, turn.request, chat_ctx):
            self._timeline.replies.reached(Stage.FIRST_TOKEN, Stage.FIRST_SENTENCE, Stage.CHECK)
            yield sentence

    async def tts_node(
        self, text: AsyncIterable[str], model_settings: ModelSettings
    ) -> AsyncIterator[rtc.AudioFrame]:
        """Speak each sentence as soon as it is there: no tokenizer holds it back again."""
        voice = self.session.tts

        def whole(rest: AsyncIterable[str]) -> AsyncIterable[rtc.AudioFrame]:
            return Agent.default.tts_node(self, rest, model_settings)

        if self._readiness is None or voice is None:
            frames = whole(text)
        else:
            frames = self._readiness.speak(text, whole if voice.capabilities.streaming else None)
        async for frame in frames:
            self._timeline.replies.reached(Stage.FIRST_AUDIO)
            yield frame

    def _is_current(self, turn: Turn) -> bool:
        """Whether nothing was committed since the turn was foreseen."""
        before, now = turn.before, self._before
        return before.request is now.request and before.plan is now.plan

    @property
    def _before(self) -> Standing:
        """Where the conversation stood as the caller's turn began.

        A turn whose reply was never heard is not over: the words that follow belong to it.
        """
        last = self._committed
        return self._standing if last is None or last.sounded else last.before

    def _all_words(self, text: str) -> str:
        last = self._committed
        return text if last is None or last.sounded else f"{last.words} {text}"

    def _on_agent_state(self, event: AgentStateChangedEvent) -> None:
        if event.new_state == "speaking" and self._committed is not None:
            self._committed.sounded = True

    def _words_for_silence(self, step: Step) -> str:
        plan, request = self._standing.plan, self._standing.request
        if step is Step.PROMPT:
            asked = plan.closing or plan.question if plan else ""
            prompted = self._silence is not None and self._silence.prompts > 0
            return wording.NOT_HEARD if prompted else f"{wording.STILL_THERE} {asked}"
        kept = bool(request.history) and self._standing.request_number is None
        return f"{wording.KEPT} {wording.SILENT_GOODBYE}" if kept else wording.SILENT_GOODBYE

    def _asks_yes_or_no(self) -> bool:
        plan = self._standing.plan
        return plan is not None and asks_yes_or_no(plan.closing or plan.question)

    def _on_speech_created(self, event: SpeechCreatedEvent) -> None:
        # A typed turn is over when it is sent: the framework decides no end of it, and so calls
        # no `on_user_turn_completed`.
        self._typed = event.speech_handle.input_details.modality == "text"

    def _on_item_added(self, event: ConversationItemAddedEvent) -> None:
        # A reply that was cut off acknowledged nothing: its values are said back again.
        item = event.item
        if isinstance(item, llm.ChatMessage) and item.role == "assistant" and not item.interrupted:
            self._standing = replace(self._standing, acknowledged=self._standing.request)

    def _hear(self, words: str) -> Hearing:
        before = self._before
        return hear(
            words,
            request=before.request,
            asked=before.plan.asked if before.plan else Asked(),
            today=self._today(),
            hotel=self._hotel,
            turn=self._turns + 1,
        )

    def _pause_s(self, text: str) -> float:
        before, words = self._before, self._all_words(text)
        asked = before.plan.asked if before.plan else Asked()
        return pause_s(words, self._hear(words), before.request, asked)

    def _end_turn_after(self, silence_s: float) -> None:
        self.session.update_options(endpointing_opts={"max_delay": silence_s})

    def _foresee(self, text: str) -> Plan:
        return self._work_out(text).plan

    def _work_out(self, text: str) -> Turn:
        before, words = self._before, self._all_words(text)
        heard = self._hear(words)
        request = heard.taken_into(before.request)
        plan = decide(before, heard, request, self._hotel, words)
        return Turn(text, words, heard != Hearing(), before, request, plan)

    async def _commit(self, turn: Turn) -> None:
        self._turns += 1
        # Not `turn.before`: a turn that goes on may take back what its first words changed.
        was = self._standing
        number = turn.before.request_number
        try:
            if turn.plan.move is Move.RECORD:
                request = replace(turn.request, confirmed=True)
                number = await asyncio.to_thread(self._store.finish, self._call_id, request)
                turn.request, turn.plan = request, recorded(request, number)
            elif turn.request != was.request:
                await asyncio.to_thread(self._store.save, self._call_id, turn.request)
        except StoreError as error:
            # The request goes on in memory, and the next change saves the whole of it.
            logger.error("the request was not saved: %s", error)
            self._timeline.emit(
                EventType.COMPONENT_ERROR,
                component="store",
                message="the request was not saved; see the worker's log",
                recoverable=True,
            )
            if turn.plan.move is Move.RECORD:
                turn.plan = not_recorded()
        turn.committed = True
        self._committed = turn
        self._standing = replace(
            self._standing, request=turn.request, plan=turn.plan, request_number=number
        )
        self._settled.set_result(turn.plan)
        self._settled = asyncio.get_running_loop().create_future()
        if turn.request != was.request:
            self._publish_booking(turn.request.history[len(turn.before.request.history) :])
        self._expect(turn.plan.asked)
        if self._readiness is not None:
            self._readiness.turn_over(turn.plan, after(self._standing, self._hotel))
        if self._silence is not None:
            self._silence.heard(understood=turn.understood, farewell=turn.plan.move is Move.GOODBYE)

    def _expect(self, asked: Asked) -> None:
        """Tell the recogniser which words the answer is likely to hold."""
        recogniser = self.session.stt
        if recogniser is not None and recogniser.capabilities.keyterms:
            recogniser.update_options(keywords=keywords(asked, self._hotel))  # type: ignore[attr-defined]

    async def _speak(
        self, plan: Plan, request: BookingRequest, talk: llm.ChatContext
    ) -> AsyncIterator[str]:
        """The reply, sentence by sentence: the code's own words, then what the model makes."""
        ready = settled_sentences(plan)
        if ready:
            self._timeline.emit(EventType.REPLY_STARTED, source="code")
        for sentence in ready:
            yield f"{sentence} "
        if plan.brief is None:
            return
        if plan.question == wording.UNKNOWN or self._pace.is_worth_waiting():
            worded = self._worded(plan, request, talk, ready)
        else:
            worded = self._in_own_words(plan, ready)
        async for sentence in worded:
            yield f"{sentence} "
        if plan.closing:
            yield plan.closing

    async def _in_own_words(self, plan: Plan, said: list[str]) -> AsyncIterator[str]:
        if not said:
            self._timeline.emit(EventType.REPLY_STARTED, source="code")
        yield plan.question

    async def _worded(
        self, plan: Plan, request: BookingRequest, talk: llm.ChatContext, ready: list[str]
    ) -> AsyncIterator[str]:
        """The model's words under the plan's brief, and the code's where they do not come."""
        said = list(ready)
        limit = MAX_SENTENCES - len(ready) - len(split(plan.closing))
        async for sentence in self._model_sentences(plan, request, talk, limit):
            if not said:
                self._timeline.emit(EventType.REPLY_STARTED, source="llm")
            said.append(sentence)
            yield sentence
        words = [sentence for sentence in said[len(ready) :] if sentence != wording.FILLER]
        self._pace.tell(in_time=bool(words))
        asks = any(sentence.endswith("?") for sentence in words)
        if not words or (plan.question.endswith("?") and not asks):
            reason = "no_question" if words else "no_words"
            self._timeline.emit(EventType.REPLY_REPLACED, reason=reason, text=plan.question)
            async for sentence in self._in_own_words(plan, said):
                yield sentence

    async def _model_sentences(
        self, plan: Plan, request: BookingRequest, talk: llm.ChatContext, limit: int
    ) -> AsyncIterator[str]:
        phrasing = self._phrasing()
        if phrasing is None:
            return
        # A question that the code still has to ask needs room within the limit.
        room = limit - 1 if plan.question.endswith("?") and limit > 1 else limit
        sentences = checked(
            self._timeline.replies.noting(Stage.FIRST_TOKEN, phrasing.words(plan, request, talk)),
            phrasing.grounds(plan, request, self._today()),
            max_sentences=room,
            on_sentence=lambda: self._timeline.replies.reached(Stage.FIRST_SENTENCE),
            on_replaced=self._on_replaced,
            replacement=lambda _: plan.question,
        )
        unknown = plan.question == wording.UNKNOWN
        patience_s = self._reply_deadline_s if unknown else self._reply_deadline_s / READY_HASTE
        async for sentence in until_late(
            sentences,
            # The caller listens to the opening meanwhile.
            deadline_s=patience_s + speaking_time_s(plan.opening),
            filler=wording.FILLER if unknown else "",
            on_failure=self._on_model_failure,
        ):
            yield sentence

    def _phrasing(self) -> Phrasing | None:
        model = self.session.llm
        if not isinstance(model, llm.LLM):
            return None
        return Phrasing(self._hotel, model, self.session.conn_options.llm_conn_options)

    async def _fill_prefix(self) -> None:
        phrasing = self._phrasing()
        try:
            if phrasing is not None:
                await phrasing.fill_prefix()
        except Exception as error:
            self._on_model_failure(error)

    def _on_model_failure(self, error: Exception) -> None:
        # The plugin reports the failure itself; the words may hold what the caller said.
        logger.warning("the language model failed: %s", type(error).__name__)

    def _on_replaced(self, finding: Finding, text: str) -> None:
        self._timeline.emit(EventType.REPLY_REPLACED, reason=finding.reason.value, text=text)

    def _publish_booking(self, changes: tuple[Change, ...]) -> None:
        request = self._standing.request
        self._timeline.emit(
            EventType.BOOKING_UPDATED,
            booking=request.to_dict(),
            missing=[part.value for part in request.missing()],
            confirmed=request.confirmed,
            request_number=self._standing.request_number,
            changes=[
                {
                    "field": change.field.value,
                    "old": wording.as_json(change.old),
                    "new": wording.as_json(change.new),
                    "words": change.words,
                }
                for change in changes
            ],
        )
