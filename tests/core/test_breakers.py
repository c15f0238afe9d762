"""A service that keeps failing is left alone, and none is waited for by everyone."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread

import pytest

from portal.core.breakers import AT_ONCE, FAILURES, Breaker, BreakerOpen
from tests.recorder.processes import wait_for


class Away(Exception):
    """The service does not answer."""


class Refused(Exception):
    """The service answers that it will not."""


@pytest.fixture
def breaker() -> Breaker:
    return Breaker("A service", (Away,))


@pytest.fixture
def brief() -> Breaker:
    """One that rests so briefly that no test waits."""
    return Breaker("A service", (Away,), rest=0.05)


def fail(breaker: Breaker, times: int = 1, error: type[Exception] = Away) -> None:
    for _ in range(times):
        with pytest.raises(error):
            breaker.call(_raise, error)


def _raise(error: type[Exception]) -> None:
    raise error


@contextmanager
def waiting(breaker: Breaker) -> Iterator[Event]:
    """A call that waits for its answer, which comes with the event, or at the end of the block."""
    asked, answer = Event(), Event()

    def ask() -> None:
        asked.set()
        assert answer.wait(10)

    thread = Thread(target=breaker.call, args=(ask,))
    thread.start()
    assert asked.wait(10)
    try:
        yield answer
    finally:
        answer.set()
        thread.join()


def test_it_gives_what_the_call_gives(breaker: Breaker) -> None:
    assert breaker.call(max, 1, 2) == 2


def test_after_five_failures_the_service_is_not_asked(breaker: Breaker) -> None:
    fail(breaker, FAILURES - 1)
    assert breaker.state == "closed"
    fail(breaker)
    fail(breaker, error=BreakerOpen)
    assert FAILURES == 5


def test_failures_between_successes_count_too(breaker: Breaker) -> None:
    for _ in range(FAILURES):
        breaker.call(int)
        fail(breaker)
    assert breaker.state == "open"


def test_where_they_count_in_a_row_one_success_makes_good() -> None:
    breaker = Breaker("A service", (Away,), in_a_row=True)
    for _ in range(FAILURES * 2):
        fail(breaker, FAILURES - 1)
        breaker.call(int)
    assert breaker.state == "closed"


def test_failures_of_long_ago_do_not_count(
    breaker: Breaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.core.breakers.WITHIN", 0.0)
    fail(breaker, FAILURES * 2)
    assert breaker.state == "closed"


def test_a_refusal_is_the_answer_of_a_service_that_lives(breaker: Breaker) -> None:
    fail(breaker, FAILURES * 2, Refused)
    assert breaker.state == "closed"


def test_then_one_call_shows_that_it_is_back(brief: Breaker) -> None:
    fail(brief, FAILURES)
    wait_for(lambda: brief.state == "half-open")
    brief.call(int)
    assert brief.state == "closed"
    fail(brief, FAILURES - 1)  # it begins with a clean sheet
    assert brief.state == "closed"


def test_or_that_it_is_not(brief: Breaker) -> None:
    fail(brief, FAILURES)
    wait_for(lambda: brief.state == "half-open")
    fail(brief)
    assert brief.state != "closed"


def test_while_that_one_is_waited_for_no_one_else_asks(brief: Breaker) -> None:
    fail(brief, FAILURES)
    wait_for(lambda: brief.state == "half-open")
    with waiting(brief):
        fail(brief, error=BreakerOpen)
    assert brief.call(int) == 0


def test_a_slow_service_is_waited_for_by_a_few_and_no_one_queues(breaker: Breaker) -> None:
    with ExitStack() as calls:
        for _ in range(AT_ONCE):
            calls.enter_context(waiting(breaker))
        fail(breaker, error=BreakerOpen)
    assert breaker.call(int) == 0
