"""A command whose import others work at says what is true of it, and of theirs."""

from pathlib import Path
from threading import Thread

import pytest
from flask import Flask
from sqlalchemy import text

from portal.backend import Backend
from portal.core.db import Sessions, transaction
from portal.exchange.importing import import_jobs, runs
from portal.exchange.importing.enrollments import decide_enrollments
from portal.exchange.importing.models import Options
from portal.exchange.importing.report import Report
from portal.recorder.consistency import fence
from tests.cast import Cast
from tests.exchange.campus import nothing
from tests.exchange.enrolled import roster, the_term
from tests.exchange.imported_enrollments import with_a_seat_left
from tests.exchange.makers import latest
from tests.exchange.oneroster import School, imported
from tests.recorder.processes import wait_for
from tests.web.visitors import browser_of


def test_the_command_waits_for_a_worker_that_applies_its_enrollments(
    backend: Backend,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    school, overtaker = School().seats(1).enroll(), Thread(target=overtake)

    def meanwhile(step: str, *_: int) -> None:
        if step == "storing" and not overtaker.ident:
            overtaker.start()
            wait_for(waits)

    report = Report()
    runs.import_files(school.write(tmp_path), Options(layout="oneroster"), report, meanwhile)
    overtaker.join()
    assert latest().state == "done"
    assert [note.kind for note in report.notes if note.kind == "seat_late"] == []
    assert roster() == [("90001", "S-1")]


def overtake() -> None:
    """Keep the command from going on once all is stored, and give its seats meanwhile."""
    with Sessions() as holder:
        holder.execute(text(runs.NO_TIMEOUTS))
        holder.execute(text("LOCK TABLE sections IN ACCESS EXCLUSIVE MODE"))
        # PostgreSQL releases the command's locks one by one: the table's may come first.
        wait_for(no_import_runs)
        with runs.exclusive_transaction():
            holder.rollback()
            runs.update_ledger([the_term().id])
            decide_enrollments(latest().id, nothing)


def no_import_runs() -> bool:
    with transaction() as session:
        return import_jobs.lock(session)


def waits() -> bool:
    with transaction() as session:
        return bool(session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))


def test_it_names_the_other_one_whose_seats_can_not_be_given(
    app: Flask, cast: Cast, tmp_path: Path
) -> None:
    boss = browser_of(app, cast.max.username)
    with_a_seat_left(boss)
    fence.put_up(the_term().id, "a test")
    with pytest.raises(import_jobs.Busy, match=r"spring\.zip"):
        imported(School().write(tmp_path))
