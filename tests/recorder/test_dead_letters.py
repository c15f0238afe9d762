"""A failing job is retried; after its last attempt it is a dead letter with an alarm."""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask.testing import FlaskClient
from rq import Queue
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from portal.backend import Backend
from portal.core.queue import KEPT, enqueue, job_name, job_subject
from portal.operations import dead_letters, workers
from portal.operations.dead_letters import DeadLetter, Watch
from portal.operations.scheduler import CLEANUP_JOB
from tests import cast
from tests.recorder.poisoned_journal import mark_dead, waiting
from tests.recorder.processes import caught_up, ready, recorded, running, wait_for
from tests.recorder.rush import Rush, a_rush

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


def tries(worker: BaseWorker) -> int:
    """Return how many jobs of the worker have failed."""
    worker.refresh()
    return int(worker.failed_job_count)


def test_job_ends_after_the_last_failure_and_others_run(backend: Backend, poisoned: Rush) -> None:
    other = cast.a_term("Spring 2031")
    cast.an_open_window(other)
    with running(("worker", "record"), ("scheduler",)):
        ready("record")
        enqueue(poisoned.term, ["record"])
        enqueue(other.id, ["record"])
        wait_for(lambda: recorded(other.id) and caught_up(other.id))
        wait_for(lambda: dead_letters.counts(backend.redis)["record"])
        (worker,) = workers.workers(backend.redis)
        # A job enqueued while the first was running replaces its dead letter.
        wait_for(lambda: tries(worker) in {2, 4} and waiting(backend) == 0)
        wait_for(lambda: len(dead_letters.find_all(backend.redis)) == 1)
    (letter,) = dead_letters.find_all(backend.redis)
    assert (letter.queue, letter.about) == ("record", str(poisoned.term))
    assert "JSONDecodeError" in letter.error
    assert "in drain" in letter.trace


def test_dead_job_rests_before_it_is_retried(
    backend: Backend, given_up: DeadLetter, poisoned: Rush
) -> None:
    enqueue(poisoned.term, ["record"])
    assert waiting(backend) == 0
    rested = time.time() + KEPT - 61
    backend.redis.zadd("rq:failed:record", {given_up.id: rested})
    enqueue(poisoned.term, ["record"])
    assert waiting(backend) == 1


def test_job_waiting_for_a_retry_is_not_enqueued_again(backend: Backend, poisoned: Rush) -> None:
    with running(("worker", "record")):
        ready("record")
        enqueue(poisoned.term, ["record"])
        wait_for(lambda: backend.redis.zcard("rq:scheduled:record"))
        enqueue(poisoned.term, ["record"])
        assert waiting(backend) == 1


def test_unavailable_service_is_no_failure(backend: Backend) -> None:
    rush = a_rush(sections=1, students=1)
    with a_worker_without_postgresql():
        enqueue(rush.term, ["record"])
        wait_for(lambda: waiting(backend) == 0)
        wait_for(lambda: finished(backend))
    assert sum(dead_letters.counts(backend.redis).values()) == 0
    assert waiting(backend) == 0


@contextmanager
def a_worker_without_postgresql() -> Iterator[None]:
    stored = os.environ["DATABASE_URL"]
    os.environ["DATABASE_URL"] = NOWHERE
    try:
        with running(("worker", "record")):
            os.environ["DATABASE_URL"] = stored
            ready("record")
            yield
    finally:
        os.environ["DATABASE_URL"] = stored


def finished(backend: Backend) -> bool:
    """Return whether a worker has finished a job and is idle."""
    (worker,) = workers.workers(backend.redis)
    return worker.successful_job_count == 1 and worker.get_state() == "idle"


# The alarm


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    records = [each for each in caplog.records if each.name == "fairseat.alarm"]
    assert all(each.levelno == logging.CRITICAL for each in records)
    return [each.getMessage() for each in records]


def test_dead_letter_alarms_once(
    backend: Backend, given_up: DeadLetter, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watch(backend.redis)
    for _ in range(3):
        watch.check()
    (alarm,) = alarms(caplog)
    assert alarm.startswith("ALARM dead-letter: ")
    assert given_up.id in alarm
    assert "ValueError: poison" in alarm


def test_dead_letter_alarms_again_after_another_failure(
    backend: Backend, given_up: DeadLetter, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watch(backend.redis)
    watch.check()
    assert dead_letters.retry(backend.redis, given_up)
    watch.check()
    mark_dead(backend, "again")
    watch.check()
    assert [alarm.count(given_up.id) for alarm in alarms(caplog)] == [1, 1]


def test_latest_dead_letter_of_a_term_replaces_earlier_ones(
    backend: Backend, given_up: DeadLetter, poisoned: Rush, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watch(backend.redis)
    watch.check()
    backend.redis.zadd("rq:failed:record", {given_up.id: time.time() + KEPT - 61})
    with running(("worker", "record"), ("scheduler",)):
        ready("record")
        enqueue(poisoned.term, ["record"])
        wait_for(lambda: dead_letters.find_all(backend.redis)[-1].id != given_up.id)
    watch.check()
    (letter,) = dead_letters.find_all(backend.redis)
    assert [letter.id in alarm for alarm in alarms(caplog)] == [False, True]


def test_dead_letters_of_terms_are_separate(backend: Backend) -> None:
    background = Queue("background", connection=backend.redis, serializer=JSONSerializer)
    jobs = [
        "7-audit-3",
        job_name("7"),
        job_name("70"),
        job_name("import-5"),
        job_name("import-55"),
        "export-5",
    ]
    for job in [*jobs, job_name("import-5")]:
        background.enqueue(CLEANUP_JOB, job_id=job, failure_ttl=KEPT)
        mark_dead(backend, "poison", "background")
    Watch(backend.redis).check()
    left = {letter.id for letter in dead_letters.find_all(backend.redis)}
    others = {"7-audit-3", "7", "70", "import-5", "import-55", "export-5"}
    assert ({job_subject(job) for job in left}, len(left)) == (others, 6)
    assert jobs[3] not in left


def test_term_job_is_enqueued_beside_its_audits(backend: Backend) -> None:
    background = Queue("background", connection=backend.redis, serializer=JSONSerializer)
    background.enqueue(CLEANUP_JOB, job_id="7-audit-3")
    enqueue(7, ["reconcile"])
    enqueue(7, ["reconcile"])
    assert [job_subject(job) for job in background.job_ids] == ["7-audit-3", "reconcile-7"]


def test_health_counts_dead_letters(client: FlaskClient, given_up: DeadLetter) -> None:
    assert given_up
    data = client.get("/health").json
    assert data
    assert data["dead_letters"] == dict.fromkeys(dead_letters.QUEUES, 0) | {"record": 1}
