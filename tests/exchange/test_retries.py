"""An import that is cut off again and again is given up, and says so."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask.testing import FlaskClient
from rq import Queue
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from portal.backend import backend
from portal.core.db import Sessions, transaction
from portal.exchange.importing import import_jobs, runs
from portal.ledger.errors import LedgerUnavailable
from portal.operations import figures
from portal.recorder.consistency import fence
from tests.exchange.campus import Campus
from tests.exchange.enrolled import roster, the_term
from tests.exchange.imported_enrollments import with_a_seat_left
from tests.exchange.makers import LOST, as_zip, latest, page, press, send, sent
from tests.recorder.processes import wait_for

REASON = "Workers started this import 5 times and were interrupted each time"


def reading(boss: FlaskClient) -> int:
    """An import that waits to be read."""
    assert send(boss, as_zip(Campus())).status_code == 303
    return latest().id


def applying(boss: FlaskClient) -> int:
    """One that waits to be applied."""
    import_id = sent(boss, as_zip(Campus()))
    boss.post(f"/admin/imports/{import_id}/apply")
    return import_id


def enrolling(boss: FlaskClient) -> int:
    """Return an import with only a seat left, while the ledger decides nothing."""
    import_id = with_a_seat_left(boss)
    fence.put_up(the_term().id, "a test")
    return import_id


def lose(import_id: int) -> None:
    """A worker begins, and PostgreSQL goes away under it."""
    with ThreadPoolExecutor(1) as pool, Sessions.begin() as holder:
        holder.execute(text(runs.NO_TIMEOUTS))
        holder.execute(text("LOCK TABLE sections IN ACCESS EXCLUSIVE MODE"))
        at_it = pool.submit(runs.continue_import, import_id)
        wait_for(waits)
        with transaction() as session:
            session.execute(LOST)
        with pytest.raises(OperationalError):
            at_it.result()


def refuse(import_id: int) -> None:
    """A worker begins, and the ledger can't be asked."""
    with pytest.raises(LedgerUnavailable):
        runs.continue_import(import_id)


def waits() -> bool:
    with transaction() as session:
        return bool(session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))


def tick(waited: int = 3600) -> None:
    """The clock looks after it, so many seconds after a worker was last at it."""
    with transaction() as session:
        ago = {"seconds": waited}
        session.execute(
            text("UPDATE imports SET moved_at = now() - :seconds * '1 s'::interval"), ago
        )
    runs.resume()


@pytest.mark.parametrize("begin", [reading, applying])
def test_before_its_seats_it_has_failed_and_can_be_read_again(
    boss: FlaskClient, begin: Callable[[FlaskClient], int]
) -> None:
    import_id = begin(boss)
    for number in range(1, 6):
        tick()
        assert latest().state != "failed"
        lose(import_id)
        assert latest().tries == number
    tick()
    assert latest().state == "failed"
    assert REASON in page(boss, import_id)
    press(boss, import_id, "again")
    assert (latest().state, latest().tries) == ("ready", 0)


def test_amid_its_seats_it_has_stopped_and_an_admin_has_them_tried_again(
    boss: FlaskClient,
) -> None:
    import_id = enrolling(boss)
    for _ in range(5):
        tick()
        assert not latest().error
        refuse(import_id)
    figures.forget()
    assert "until someone resolves it" not in boss.get("/admin/operations").text
    tick()
    assert REASON in page(boss, import_id)
    figures.forget()
    assert (
        "“spring.zip” has stopped. No other import can start until someone"
        in boss.get("/admin/operations").text
    )
    with transaction() as session:
        assert import_jobs.abandoned(session) is None
    fence.replace(the_term().id, "a test").release()
    press(boss, import_id, "enroll")
    assert (latest().state, latest().tries) == ("done", 0)
    assert roster() == [("90001", "S-1")]


def test_a_worker_without_the_lock_counts_no_attempt(boss: FlaskClient) -> None:
    import_id = reading(boss)
    with Sessions.begin() as other:
        assert import_jobs.lock(other)
        runs.continue_import(import_id)
    assert (latest().state, latest().tries) == ("waiting", 0)


def test_the_scheduler_leaves_a_worker_time_to_begin(boss: FlaskClient) -> None:
    import_id = reading(boss)
    tick()
    with transaction() as session:
        assert import_jobs.abandoned(session) is not None
        assert import_jobs.count_try(session, import_id)
    with transaction() as session:
        assert import_jobs.abandoned(session) is None


def test_each_retry_waits_longer(boss: FlaskClient) -> None:
    import_id = enrolling(boss)
    queue = Queue("background", connection=backend().redis)
    for tries, pause in enumerate((10, 20, 40)):
        assert latest().tries == tries
        for waited, called in ((pause - 1, 0), (pause + 1, 1)):
            queue.empty()
            tick(waited)
            assert len(queue.job_ids) == called
        refuse(import_id)


def test_an_admin_resets_the_attempts(boss: FlaskClient) -> None:
    import_id = reading(boss)
    lose(import_id)
    assert latest().tries == 1
    boss.post(f"/admin/imports/{import_id}/resume")
    assert latest().tries == 0


def test_seats_that_are_noted_have_it_tried_again(boss: FlaskClient) -> None:
    import_id = enrolling(boss)
    refuse(import_id)
    refuse(import_id)
    fence.replace(the_term().id, "a test").release()
    seen: list[tuple[str, int]] = []
    runs.apply_enrollments(import_id, lambda *_: seen.append((latest().state, latest().tries)))
    assert seen[-1] == ("enrolling", 0)
