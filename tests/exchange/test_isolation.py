"""A long import holds nothing else up: workers as `fairseat up` has them."""

from flask import Flask
from sqlalchemy import text

from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.db import Sessions, transaction
from portal.core.queue import enqueue
from portal.exchange.importing import import_jobs
from portal.recorder.consistency import audit_runs
from tests import cast as builders
from tests.cast import Cast
from tests.exchange.campus import Campus
from tests.exchange.makers import as_zip, change_rows, latest, sent
from tests.recorder.processes import ready, running, wait_for
from tests.web.visitors import browser_of

ASIDE = [("worker", queue) for queue in ("background", "background", "maintain")]


def test_sections_reach_the_ledger_and_audits_end_while_an_import_is_stored(
    app: Flask, cast: Cast, backend: Backend
) -> None:
    boss = browser_of(app, "max")
    term = builders.a_term("Fall 2031")
    section = builders.a_section(builders.a_course(), term)
    change_rows(Section, capacity=9, version=Section.version + 1)
    import_id = sent(boss, as_zip(Campus()))
    with Sessions.begin() as holder, running(*ASIDE):
        ready("background", "maintain")
        # However long the waits below take on a slow machine.
        holder.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        holder.execute(text("LOCK TABLE sections IN SHARE ROW EXCLUSIVE MODE"))
        boss.post(f"/admin/imports/{import_id}/apply")
        wait_for(lambda: latest().state == "applying" and at_work())
        enqueue(term.id, ["maintain"])
        wait_for(lambda: backend.ledger.seats(term.id)[section.id].capacity == 9)
        with transaction() as session:
            run = audit_runs.request_run(session, term.id, cast.max.id)
        assert run
        audit_runs.enqueue_run(term.id, run)
        wait_for(lambda: ended(term.id))
        assert latest().state == "applying"


def at_work() -> bool:
    with transaction() as session:
        return import_jobs.is_at_work(session)


def ended(term: int) -> bool:
    with transaction() as session:
        return bool(audit_runs.latest(session, term, 1)[0].ended_at)
