"""The supervisor, with real child processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from selfhost import descendants
from selfhost.liveness import LivenessPolicy
from selfhost.parts import PROJECT, Part, Port
from selfhost.restarts import RestartPolicy
from selfhost.state import PartState, PartStatus
from selfhost.supervise import Supervisor
from tests.stack import free_ports

CHILD = str(Path(__file__).with_name("child.py"))
EAGER = RestartPolicy(first_delay_s=0.05, max_delay_s=0.2, max_failures=3)
WAKEFUL = LivenessPolicy(every_s=0.2, timeout_s=0.6, shown_after=2, restart_after=5)
PATIENCE_S = 30.0
NAMES = ("models", "engine")


def part(
    name: str,
    *options: str,
    needs: tuple[str, ...] = (),
    start_timeout_s: float = PATIENCE_S,
    stop_grace_s: float = 5.0,
    ready_log: str | None = None,
    ready_log_after: str | None = None,
    live_path: str | None = None,
) -> Part:
    (port,) = free_ports(1)
    return Part(
        name,
        (sys.executable, CHILD, str(port), *options),
        ready_url=f"http://127.0.0.1:{port}/",
        live_url=None if live_path is None else f"http://127.0.0.1:{port}{live_path}",
        ports=(Port(port, "SOME_PORT"),),
        memory_bytes=0,
        needs=needs,
        start_timeout_s=start_timeout_s,
        stop_grace_s=stop_grace_s,
        ready_log=ready_log,
        ready_log_after=ready_log_after,
    )


class Watched:
    """A running supervisor and every state that its parts went through."""

    def __init__(self, stack: str, folder: Path, parts: tuple[Part, ...]) -> None:
        self.stack = stack
        self.history: list[tuple[str, PartState]] = []
        self.stop = asyncio.Event()
        self.supervisor = Supervisor(stack, parts, folder, self._note, EAGER, WAKEFUL)

    def _note(self) -> None:
        for status in self.supervisor.statuses():
            last = [state for name, state in self.history if name == status.name][-1:]
            if last != [status.state]:
                self.history.append((status.name, status.state))

    def status(self, name: str) -> PartStatus:
        return next(one for one in self.supervisor.statuses() if one.name == name)

    async def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, self.supervisor.statuses()
            await asyncio.sleep(0.02)

    async def until_state(self, name: str, state: PartState) -> PartStatus:
        await self.until(lambda: self.status(name).state is state)
        return self.status(name)


@asynccontextmanager
async def supervised(folder: Path, *parts: Part) -> AsyncIterator[Watched]:
    watched = Watched(f"test-{os.getpid()}-{time.monotonic_ns()}", folder, parts)
    running = asyncio.create_task(watched.supervisor.run(watched.stop))
    try:
        yield watched
    finally:
        watched.stop.set()
        await running
        assert descendants.find(watched.stack) == []


async def test_a_part_starts_once_what_it_needs_is_ready(tmp_path: Path) -> None:
    worker = part("worker", needs=("models",))
    models = part("models", "--slow", "0.5")
    async with supervised(tmp_path, models, worker) as watched:
        await watched.until(lambda: "waits for models" in watched.status("worker").detail)
        assert watched.status("worker").pid is None
        await watched.until_state("worker", PartState.READY)
    readied = [name for name, state in watched.history if state is PartState.READY]
    assert readied == ["models", "worker"]


async def test_parts_that_need_nothing_start_side_by_side(tmp_path: Path) -> None:
    async with supervised(tmp_path, part("a", "--slow", "60"), part("b")) as watched:
        await watched.until_state("b", PartState.READY)
        assert watched.status("a").state is PartState.STARTING
        assert watched.status("a").pid is not None


async def test_a_killed_part_is_started_again_and_counted(tmp_path: Path) -> None:
    async with supervised(tmp_path, part("page")) as watched:
        before = await watched.until_state("page", PartState.READY)
        assert before.pid is not None
        os.kill(before.pid, signal.SIGKILL)
        await watched.until(lambda: watched.status("page").restarts == 1)
        assert "SIGKILL" in watched.status("page").detail
        after = await watched.until_state("page", PartState.READY)
        assert after.pid != before.pid


async def test_a_part_that_keeps_dying_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    async with supervised(tmp_path, part("worker", "--dies"), part("page")) as watched:
        failed = await watched.until_state("worker", PartState.FAILED)
        assert failed.restarts == EAGER.max_failures - 1
        assert "ended with status 3" in failed.detail
        assert failed.log in failed.detail
        await watched.until_state("page", PartState.READY)
    assert watched.status("worker").state is PartState.FAILED
    assert watched.status("page").state is PartState.STOPPED


async def test_a_program_that_is_not_there_is_a_failure_with_its_name(tmp_path: Path) -> None:
    missing = Part("page", ("/no/such/program",), "http://127.0.0.1:1/", (), 0)
    async with supervised(tmp_path, missing) as watched:
        failed = await watched.until_state("page", PartState.FAILED)
        assert "/no/such/program" in failed.detail


async def test_a_part_that_never_answers_is_taken_for_hung(tmp_path: Path) -> None:
    hung = part("models", "--slow", "600", start_timeout_s=0.5)
    async with supervised(tmp_path, hung) as watched:
        failed = await watched.until_state("models", PartState.FAILED)
        assert "not ready after 0.5 s" in failed.detail


async def test_a_part_that_hangs_without_dying_is_shown_and_then_started_again(
    tmp_path: Path,
) -> None:
    async with supervised(tmp_path, part("models"), part("page")) as watched:
        before = await watched.until_state("models", PartState.READY)
        await watched.until_state("page", PartState.READY)
        assert before.pid is not None
        os.kill(before.pid, signal.SIGSTOP)  # it holds its port and says nothing
        await watched.until(lambda: "has not answered" in watched.status("models").detail)
        assert watched.status("models").pid == before.pid
        await watched.until(lambda: watched.status("models").restarts == 1)
        assert "was hung" in watched.status("models").detail
        after = await watched.until_state("models", PartState.READY)
        assert after.pid != before.pid
        assert watched.status("page").restarts == 0


async def test_a_part_that_says_itself_that_it_is_hung_is_started_again(tmp_path: Path) -> None:
    state = tmp_path / "state"
    models = part("models", "--health", str(state), live_path="/health")
    async with supervised(tmp_path, models) as watched:
        await watched.until_state("models", PartState.READY)
        state.write_text("whisper has not moved for 70 s")
        await watched.until(lambda: watched.status("models").restarts == 1)
        assert "whisper has not moved for 70 s" in watched.status("models").detail
        state.unlink()
        await watched.until_state("models", PartState.READY)


async def test_a_part_that_answers_late_or_is_not_ready_is_left_alone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    slow = part("models", "--health", str(state), live_path="/late")
    busy = part("engine", "--health", str(state), live_path="/alive")
    async with supervised(tmp_path, slow, busy) as watched:
        pids = [(await watched.until_state(name, PartState.READY)).pid for name in NAMES]
        state.write_text("all places are taken")  # the ready address says 503 from here on
        await watched.until(lambda: "is not ready" in watched.status("engine").detail)
        await asyncio.sleep(WAKEFUL.restart_after * (WAKEFUL.every_s + 0.3))
        state.unlink()
        for name, pid in zip(NAMES, pids, strict=True):
            assert (await watched.until_state(name, PartState.READY)).pid == pid
            assert watched.status(name).restarts == 0


async def test_a_part_is_not_ready_before_its_log_says_so(tmp_path: Path) -> None:
    silent = part("worker", ready_log="registered")
    async with supervised(tmp_path, silent, part("page")) as watched:
        await watched.until_state("page", PartState.READY)
        await asyncio.sleep(1.0)
        assert watched.status("worker").state is PartState.STARTING
        with (tmp_path / "worker.log").open("a") as log:
            log.write("registered worker\n")
        await watched.until_state("worker", PartState.READY)


async def test_a_worker_must_sign_on_again_when_its_room_server_was_restarted(
    tmp_path: Path,
) -> None:
    rooms = part("rooms")
    worker = part("worker", "--says", "registered", ready_log="registered", ready_log_after="rooms")
    async with supervised(tmp_path, rooms, worker) as watched:
        await watched.until_state("worker", PartState.READY)
        pid = (await watched.until_state("rooms", PartState.READY)).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await watched.until_state("worker", PartState.STARTING)
        await watched.until_state("rooms", PartState.READY)
        assert watched.status("worker").state is PartState.STARTING
        with (tmp_path / "worker.log").open("a") as log:
            log.write("registered\n")
        await watched.until_state("worker", PartState.READY)
        assert watched.status("worker").restarts == 0


async def test_stopping_ends_parts_before_what_they_need(tmp_path: Path) -> None:
    rooms, worker = part("rooms"), part("worker", needs=("rooms",))
    ended: list[str] = []
    async with supervised(tmp_path, rooms, worker) as watched:
        await watched.until_state("worker", PartState.READY)
        watched.stop.set()
        while len(ended) < 2:
            for name in ("worker", "rooms"):
                if watched.status(name).pid is None and name not in ended:
                    ended.append(name)
            await asyncio.sleep(0.005)
    assert ended == ["worker", "rooms"]


async def test_a_part_that_ignores_sigterm_is_killed_after_its_grace(tmp_path: Path) -> None:
    stubborn = part("page", "--stubborn", stop_grace_s=0.3)
    async with supervised(tmp_path, stubborn) as watched:
        await watched.until_state("page", PartState.READY)
    assert watched.status("page").state is PartState.STOPPED


async def test_a_grandchild_that_left_its_group_goes_with_the_part_that_started_it(
    tmp_path: Path,
) -> None:
    escaping = part("worker", "--escaping", str(tmp_path / "pid"))
    async with supervised(tmp_path, escaping) as watched:
        first = await watched.until_state("worker", PartState.READY)
        grandchild = psutil.Process(int((tmp_path / "pid").read_text()))
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        await watched.until(lambda: watched.status("worker").restarts == 1)
        assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


async def test_memory_counts_the_whole_tree(tmp_path: Path) -> None:
    escaping = part("worker", "--escaping", str(tmp_path / "pid"))
    async with supervised(tmp_path, escaping) as watched:
        ready = await watched.until_state("worker", PartState.READY)
        assert ready.pid is not None
        alone = psutil.Process(ready.pid).memory_info().rss
        await watched.until(lambda: (watched.status("worker").memory_bytes or 0) > alone)


SUPERVISOR = textwrap.dedent(
    """
    import asyncio, signal, sys
    from pathlib import Path
    from selfhost.parts import Part, Port
    from selfhost.sentinel import Sentinel
    from selfhost.supervise import Supervisor

    stack, child, port, folder, pid_file = sys.argv[1:]
    part = Part("worker", (sys.executable, child, port, "--stubborn", "--escaping", pid_file),
                f"http://127.0.0.1:{port}/", (Port(int(port), "SOME_PORT"),), 0, stop_grace_s=0.5)

    async def main():
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        sentinel = Sentinel(stack)
        print(sentinel.pid, flush=True)
        await Supervisor(stack, [part], Path(folder)).run(stop)
        sentinel.dismiss()

    asyncio.run(main())
    """
)


@pytest.mark.parametrize(
    "kill", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: signal.Signals(number).name
)
def test_however_the_supervisor_ends_nothing_is_left_behind(
    tmp_path: Path, kill: signal.Signals
) -> None:
    stack = f"test-{os.getpid()}-{time.monotonic_ns()}"
    (port,) = free_ports(1)
    pid_file = tmp_path / "pid"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, stack, CHILD, str(port), str(tmp_path), str(pid_file)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert supervisor.stdout is not None
    sentinel_pid = int(supervisor.stdout.readline())
    _wait(lambda: pid_file.exists() and len(descendants.find(stack)) == 2)
    supervisor.send_signal(kill)
    supervisor.wait(PATIENCE_S)
    _wait(lambda: not descendants.find(stack) and not psutil.pid_exists(sentinel_pid))


def test_even_with_the_sentinel_gone_a_killed_supervisor_takes_its_children_along(
    tmp_path: Path,
) -> None:
    if sys.platform != "linux":
        pytest.skip("the kernel's parent-death signal is Linux's")
    stack = f"test-{os.getpid()}-{time.monotonic_ns()}"
    (port,) = free_ports(1)
    pid_file = tmp_path / "pid"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, stack, CHILD, str(port), str(tmp_path), str(pid_file)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert supervisor.stdout is not None
    sentinel_pid = int(supervisor.stdout.readline())
    _wait(lambda: pid_file.exists() and len(descendants.find(stack)) == 2)
    os.kill(sentinel_pid, signal.SIGKILL)
    supervisor.kill()
    supervisor.wait(PATIENCE_S)
    grandchild = int(pid_file.read_text())
    _wait(lambda: [process.pid for process in descendants.find(stack)] == [grandchild])
    descendants.kill_all(stack)


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
