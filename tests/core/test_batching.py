"""Callers that arrive during a call share the next one."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from threading import Event

import pytest

from portal.core import batching
from portal.core.batching import Batcher
from tests.recorder.processes import wait_for


class Ledger:
    """Answers each question with its double, once the test allows it."""

    def __init__(self) -> None:
        self.questions: list[list[int]] = []
        self.may = Event()
        self.away = False
        self.fatal = 0  # the number of the call whose caller is killed

    def ask(self, numbers: Sequence[int]) -> list[int]:
        self.questions.append(list(numbers))
        assert self.may.wait(60)
        if self.away:
            raise ConnectionError from TimeoutError()
        if len(self.questions) == self.fatal:
            raise SystemExit
        return [2 * each for each in numbers]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a batch wait until the call before it is answered, however slow the machine is."""
    monkeypatch.setattr(batching, "LONGEST", 60)


@contextmanager
def crowd(ledger: Ledger, asking: Batcher[int, int], count: int) -> Iterator[list[Future[int]]]:
    """Start one caller, and so many that wait for its call to end."""
    with ThreadPoolExecutor(count + 1) as pool:
        answer = [pool.submit(asking, 0)]
        wait_for(lambda: ledger.questions == [[0]])
        answer += [pool.submit(asking, number) for number in range(1, count + 1)]
        wait_for(lambda: len(asking._next.questions) == count)  # noqa: SLF001
        ledger.may.set()
        yield answer


def test_simultaneous_callers_share_one_call_and_get_their_own_answers() -> None:
    ledger = Ledger()
    with crowd(ledger, Batcher(ledger.ask), 9) as calls:
        assert [each.result(60) for each in calls] == [2 * number for number in range(10)]
    assert [sorted(each) for each in ledger.questions] == [[0], list(range(1, 10))]


def test_batches_have_a_maximum_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "MOST", 4)
    ledger = Ledger()
    asking = Batcher(ledger.ask)
    ledger.may.set()
    with ThreadPoolExecutor(20) as pool:
        assert sorted(pool.map(asking, range(200))) == [2 * number for number in range(200)]
    assert max(map(len, ledger.questions)) <= 4
    assert sorted(chain.from_iterable(ledger.questions)) == list(range(200))


def test_batch_does_not_wait_long_for_a_silent_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "MOST", 2)
    monkeypatch.setattr(batching, "LONGEST", 0.01)
    ledger = Ledger()
    asking = Batcher(ledger.ask)
    with ThreadPoolExecutor(6) as pool:
        answer = [pool.submit(asking, number) for number in range(6)]
        wait_for(lambda: sum(map(len, ledger.questions)) == 6)  # none has been answered
        ledger.may.set()
        assert [each.result(60) for each in answer] == [0, 2, 4, 6, 8, 10]


def test_others_ask_again_if_the_caller_of_a_batch_is_killed() -> None:
    ledger = Ledger()
    ledger.fatal = 2
    with crowd(ledger, Batcher(ledger.ask), 3) as calls:
        ended = [each for each in calls if each.exception(60)]
        assert [type(each.exception()) for each in ended] == [SystemExit]
        assert all(each.result() == 2 * calls.index(each) for each in calls if each not in ended)


def test_error_reaches_every_caller_and_the_next_may_try_again() -> None:
    ledger = Ledger()
    asking, ledger.away = Batcher(ledger.ask), True
    with crowd(ledger, asking, 3) as calls:
        errors = [each.exception(60) for each in calls]
    assert all(isinstance(each, ConnectionError) for each in errors)
    assert all(isinstance(each.__cause__, TimeoutError) for each in errors if each)
    ledger.away = False
    assert asking(7) == 14
