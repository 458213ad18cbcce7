from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.database import Database
from desk.keeping import deliver_due
from desk.metrics import Metrics
from desk.outbox import FIRST_WAIT, LONGEST_WAIT, Outbox, wait_after
from desk.requests import Requests
from desk.webhook import Webhook
from tests.desk.conftest import Clock
from tests.desk.receiver import SECRET, Receiver, running_receiver

REQUEST = {"guest_name": "Zoë O'Brien", "check_in": "2027-10-16", "history": []}
RUNNING = threading.Event()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


@pytest.fixture
def webhook(receiver: Receiver) -> Iterator[Webhook]:
    with httpx.Client(trust_env=False) as client:
        yield Webhook(receiver.url, SECRET, client)


@pytest.fixture
def requests(database: Database, clock: Clock) -> Requests:
    return Requests(database, now=clock)


@pytest.fixture
def outbox(database: Database, clock: Clock) -> Outbox:
    return Outbox(database, now=clock)


def deliver(outbox: Outbox, webhook: Webhook) -> None:
    # What signs and what checks the signature live by the real clock.
    deliver_due(outbox, webhook, RUNNING, Metrics(), now=lambda: datetime.now(UTC))


def test_a_finished_request_arrives_signed_and_once(
    requests: Requests, outbox: Outbox, webhook: Webhook, receiver: Receiver
) -> None:
    number = requests.finish("call-1", REQUEST)
    deliver(outbox, webhook)
    deliver(outbox, webhook)
    (message,) = receiver.messages
    assert message["type"] == "request.finished"
    assert message["data"] == {"call_id": "call-1", "number": number, "request": REQUEST}
    assert outbox.waiting() == 0


@pytest.mark.parametrize("answer", [307, 400, 410, 503])
def test_what_is_not_taken_is_kept_and_sent_again_under_the_same_id(
    requests: Requests,
    outbox: Outbox,
    webhook: Webhook,
    receiver: Receiver,
    clock: Clock,
    answer: int,
) -> None:
    receiver.answers = [answer, answer]
    requests.finish("call-1", REQUEST)
    deliver(outbox, webhook)
    deliver(outbox, webhook)
    assert len(receiver.ids) == 1, "sent again before its time"
    for _ in range(2):
        clock.go_on(minutes=1)
        deliver(outbox, webhook)
    assert len(receiver.messages) == 1
    assert len(receiver.ids) == 3
    assert len(set(receiver.ids)) == 1
    assert outbox.waiting() == 0


def test_a_receiver_that_is_down_loses_nothing(
    requests: Requests, outbox: Outbox, webhook: Webhook, receiver: Receiver, clock: Clock
) -> None:
    requests.finish("call-1", REQUEST)
    with httpx.Client(trust_env=False) as client:
        deliver(outbox, Webhook("http://127.0.0.1:1/", SECRET, client))
    assert outbox.waiting() == 1
    clock.go_on(minutes=1)
    deliver(outbox, webhook)
    assert len(receiver.messages) == 1


def test_a_change_waits_until_the_request_itself_was_accepted(
    requests: Requests, outbox: Outbox, webhook: Webhook, receiver: Receiver, clock: Clock
) -> None:
    receiver.answers = [503]
    requests.finish("call-1", REQUEST)
    requests.save("call-1", {**REQUEST, "check_in": "2027-10-18"})
    clock.go_on(seconds=1)
    requests.finish("call-2", REQUEST)
    deliver(outbox, webhook)
    assert [message["data"]["call_id"] for message in receiver.messages] == ["call-2"]
    clock.go_on(minutes=1)
    deliver(outbox, webhook)
    told = [m["type"] for m in receiver.messages if m["data"]["call_id"] == "call-1"]
    assert told == ["request.finished", "request.changed"]


def test_one_message_is_claimed_by_one_of_many_and_by_another_when_that_one_has_died(
    requests: Requests, outbox: Outbox, clock: Clock
) -> None:
    requests.finish("call-1", REQUEST)
    with ThreadPoolExecutor(6) as threads:
        claimed = [one for one in threads.map(lambda _: outbox.claim(), range(6)) if one]
    assert len(claimed) == 1
    clock.go_on(seconds=61)
    again = outbox.claim()
    assert again is not None
    assert again.id == claimed[0].id


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_the_wait_grows_to_an_hour_and_never_ends(attempts: int, spread: float) -> None:
    wait = wait_after(attempts, spread)
    assert FIRST_WAIT * 0.75 <= wait <= LONGEST_WAIT * 1.25
    assert wait_after(attempts + 1, spread) >= wait
    assert wait_after(1, 0.5) == timedelta(seconds=5)
