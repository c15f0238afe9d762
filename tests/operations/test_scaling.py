"""How many workers a queue should have, decided by what waits, in how long, and since when."""

import os
import time
from pathlib import Path

import pytest

from portal.backend import Backend
from portal.core import flags, scaling
from portal.core.scaling import Pool, pools
from portal.core.settings import SettingsError
from portal.operations import autoscaler, backlog
from portal.operations.autoscaler import Autoscaler, Target, wanted
from portal.operations.backlog import Backlog
from portal.operations.workers import QueueState, WorkerState
from portal.recorder.recorder import drain
from portal.recorder.sweep import live_terms
from tests import commands
from tests.cast import Cast, a_term, an_open_window
from tests.notifications.stories import a_story, outbox
from tests.operations.conftest import Switch
from tests.recorder import slow_jobs
from tests.recorder.rush import a_rush, claims
from tests.statements import looked_up

POOL = Pool(least=2, most=4, up_at=50)


@pytest.mark.parametrize(
    ("workers", "busy", "waiting", "oldest", "unchanged", "count"),
    [
        (2, 0, 0, 0, 999, 2),  # quiet, and at the least
        (2, 2, 49, 0, 999, 2),  # not enough waits
        (2, 2, 50, 0, 999, 3),  # enough does
        (2, 2, 1, 5.1, 999, 3),  # one waits for too long
        (3, 3, 50, 0, 4, 3),  # the last change was just now
        (4, 4, 500, 60, 999, 4),  # never more than the most
        (3, 2, 0, 0, 58, 3),  # quiet, but not for long
        (3, 2, 0, 0, 61, 2),
        (3, 3, 0, 0, 999, 3),  # nothing waits, but all are at work
        (3, 1, 1, 0, 999, 3),  # something waits
        (9, 9, 9, 0, 0, 4),  # the limits are others now
        (1, 0, 0, 0, 0, 2),
    ],
)
def test_one_more_or_fewer_at_a_time(  # noqa: PLR0917  the facts that decide
    workers: int, busy: int, waiting: int, oldest: float, unchanged: float, count: int
) -> None:
    last = Target(workers, time.time() - unchanged)
    queue = QueueState("notify", waiting, 0, 0, [WorkerState("a:1", "busy")] * busy)
    work = Backlog(waiting, oldest, busy + waiting)
    assert wanted(POOL, last, queue, work) == count


def test_no_worker_is_added_that_would_find_nothing_to_do() -> None:
    last = Target(2, time.time() - 999)
    queue = QueueState("record", 1, 0, 0, [WorkerState("a:1", "busy")])
    assert wanted(POOL, last, queue, Backlog(100_000, 60, shares=2)) == 2
    assert wanted(POOL, last, queue, Backlog(100_000, 60, shares=3)) == 3


def test_a_paused_queue_keeps_its_workers() -> None:
    last = Target(3, time.time() - 999)
    queue = QueueState("notify", 500, 0, 0, [], paused=True)
    assert wanted(POOL, last, queue, Backlog(500, 60, 500)) == 3


def test_unrecorded_events_of_several_terms_add_recorders(backend: Backend) -> None:
    pool = {"record": Pool(1, 3, 5)}

    def check() -> int:
        terms = looked_up(live_terms)
        Autoscaler(backend.redis, pool, lambda: backlog.read(terms)).check()
        return autoscaler.targets(backend.redis)["record"].workers

    one = a_rush(sections=1, students=9)
    claims(one, [(student, one.sections[0]) for student in one.students])
    assert backlog.read(looked_up(live_terms))["record"].depth >= 9
    assert backlog.read(looked_up(live_terms))["record"].age >= 0
    assert check() == 1  # a term has one recorder at a time
    other = a_term("Fall 2031")
    an_open_window(other)
    assert backlog.read(looked_up(live_terms))["record"].shares == 2
    assert check() == 2
    drain(one.term)
    drain(other.id)
    assert backlog.read(looked_up(live_terms))["record"] == Backlog()


def test_due_mail_adds_workers_unless_mail_is_off(
    backend: Backend, cast: Cast, switch: Switch
) -> None:
    story = a_story(cast)
    story.claim(cast.ada, cast.ben)
    story.hand_over(cast.ada, cast.ben)
    assert outbox()
    found = backlog.read(looked_up(live_terms))["notify"]
    assert (found.depth, found.shares) == (len(outbox()), 1)
    assert backend
    switch("mail", on=False)
    flags.read()
    assert backlog.read(looked_up(live_terms))["notify"] == Backlog()


def test_a_large_machine_has_what_a_large_university_needs() -> None:
    assert pools(cores=8) == scaling.POOLS


def test_a_small_one_is_not_swamped() -> None:
    found = pools(cores=2)
    assert sum(pool.least for pool in found.values()) == 9
    assert all(pool.most <= pool.least + 1 for pool in found.values())


def test_bounds_can_be_set() -> None:
    found = pools("record=3-7@20, notify=1-1@5", cores=2)
    assert (found["record"], found["notify"]) == (Pool(3, 7, 20), Pool(1, 1, 5))
    assert found["promote"] == pools(cores=2)["promote"]


@pytest.mark.parametrize("text", ["record", "record=5-2@10", "record=0-2@10", "nobody=1-2@3"])
def test_bounds_that_make_no_sense_are_named(text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        pools(text)


@pytest.mark.parametrize("command", ["up", "scheduler", "prepare"])
def test_nothing_begins_with_bounds_that_make_no_sense(
    backend: Backend, command: str, tmp_path: Path
) -> None:
    assert backend
    env = {**os.environ, "FAIRSEAT_WORKERS": "many", "FAIRSEAT_VAR": str(tmp_path)}
    done = commands.run(command, env=env)
    assert done.returncode == 1
    assert done.stderr == "Error: FAIRSEAT_WORKERS: write many like record=2-10@50.\n"


def test_the_clock_asks_for_more_while_much_waits(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    scaler = Autoscaler(backend.redis, {"notify": Pool(1, 3, 2)})
    scaler.check()
    assert asked(backend) == 1
    for _ in range(2):
        slow_jobs.call("notify", slow_jobs.UNTIL, Path("nowhere"))
    scaler.check()
    scaler.check()
    assert asked(backend) == 2  # and not more until it has had time to help
    assert "Workers of notify: 2, not 1 (2 waiting" in caplog.text


def test_fewer_once_it_is_quiet(backend: Backend) -> None:
    autoscaler.set_target(backend.redis, "notify", Target(3, time.time() - autoscaler.DOWN_REST))
    Autoscaler(backend.redis, {"notify": Pool(1, 3, 2)}).check()
    # No worker runs here, so their number is what was asked for.
    assert asked(backend) == 2


def test_the_least_while_it_is_switched_off(backend: Backend, switch: Switch) -> None:
    switch("autoscaling", on=False)
    flags.read()
    autoscaler.set_target(backend.redis, "notify", Target(3, time.time()))
    for _ in range(5):
        slow_jobs.call("notify", slow_jobs.UNTIL, Path("nowhere"))
    Autoscaler(backend.redis, {"notify": Pool(1, 3, 2)}).check()
    assert asked(backend) == 1


def asked(backend: Backend) -> int:
    return autoscaler.targets(backend.redis)["notify"].workers
