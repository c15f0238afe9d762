"""Whatever cuts a worker off amid an import, nothing is half done, and it goes on by itself."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, text

from portal.catalog.models import Section
from portal.core.db import Sessions, transaction
from portal.exchange.importing import import_jobs, runs
from portal.exchange.importing.models import Options
from tests.exchange.campus import Campus
from tests.exchange.enrolled import roster
from tests.exchange.imported_enrollments import with_a_seat_left
from tests.exchange.makers import LOST, as_zip, latest, let_a_minute_pass, page, send, sent
from tests.forked import Forked
from tests.recorder.processes import running, wait_for

WORKER = ("worker", "background")
HELD = "LOCK TABLE sections IN ACCESS EXCLUSIVE MODE"


def reading(boss: FlaskClient) -> None:
    """An import that waits to be read."""
    assert send(boss, as_zip(Campus())).status_code == 303


def applying(boss: FlaskClient) -> None:
    """One that waits to be applied."""
    boss.post(f"/admin/imports/{sent(boss, as_zip(Campus()))}/apply")


def enrolling(boss: FlaskClient) -> None:
    """Store everything of an import but a seat."""
    with_a_seat_left(boss)


def lose(_worker: Forked) -> None:
    """PostgreSQL goes away for a moment."""
    with transaction() as session:
        session.execute(LOST)


def kill(worker: Forked) -> None:
    """The worker has no time to say goodbye."""
    worker.kill()
    worker.wait()


@pytest.mark.parametrize("trouble", [lose, kill])
@pytest.mark.parametrize(
    ("begin", "then"), [(reading, "ready"), (applying, "done"), (enrolling, "done")]
)
def test_an_import_that_is_cut_off_goes_on_by_itself(
    boss: FlaskClient,
    begin: Callable[[FlaskClient], None],
    then: str,
    trouble: Callable[[Forked], None],
) -> None:
    begin(boss)
    with running(WORKER) as [worker]:
        with Sessions.begin() as holder:
            holder.execute(text(runs.NO_TIMEOUTS))
            holder.execute(text(HELD))
            wait_for(lambda: latest().state == begin.__name__ and waits())
            trouble(worker)
        wait_for(lambda: not at_work())
        assert (latest().state, latest().tries) == (begin.__name__, 1)
        let_a_minute_pass()
        assert "Interrupted" in page(boss, latest().id)
        runs.resume()  # as the clock does
        with running(*[WORKER] * (worker.poll() is not None)):
            wait_for(lambda: latest().state == then)
    assert latest().tries == 0
    with transaction() as session:
        there = [] if begin is reading else ["10001" if begin is applying else "90001"]
        assert session.scalars(select(Section.crn)).all() == there
    if begin is enrolling:
        assert roster() == [("90001", "S-1")]


def test_the_scheduler_fails_the_import_of_a_killed_command(boss: FlaskClient) -> None:
    with transaction() as session:
        new = import_jobs.NewImport(None, "spring.zip", "", Options(term="Spring"))
        import_id = import_jobs.begin(session, new)
        assert import_jobs.change_state(session, import_id, "reading", of=("waiting",))
    runs.resume()
    assert latest().state == "reading"  # whose worker is about to begin
    let_a_minute_pass()
    runs.resume()
    assert (latest().state, latest().busy) == ("failed", None)
    assert send(boss, as_zip(Campus())).status_code == 303


def waits() -> bool:
    """Return whether a worker is at it and waits for the table."""
    with transaction() as session:
        return import_jobs.is_at_work(session) and bool(
            session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted"))
        )


def at_work() -> bool:
    with transaction() as session:
        return import_jobs.is_at_work(session)
