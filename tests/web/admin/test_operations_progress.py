"""GET /admin/operations: what is under way, and how ready the next windows are."""

from datetime import timedelta
from typing import NoReturn

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.exchange.exporting import export_jobs
from portal.exchange.exporting.models import Export
from portal.exchange.importing import import_jobs
from portal.exchange.importing.import_jobs import ProgressReport, ProgressStep
from portal.exchange.importing.models import Import, Options
from portal.ledger.errors import LedgerUnavailable
from portal.operations import figures
from portal.windows.readiness import make_ready
from portal.windows.warmup import section_specs
from tests import cast as builders
from tests.cast import Cast
from tests.registration import database_outage
from tests.web.admin.test_operations import PAGE, ask, text
from tests.web.pages import words

pytestmark = pytest.mark.usefixtures("term")  # a window is open


def away(*_: int) -> NoReturn:
    raise LedgerUnavailable


def test_page_shows_no_work_in_progress(admin: FlaskClient) -> None:
    assert "Cancellations, imports and exports appear here" in admin.get(PAGE).text


def test_export_in_progress_is_shown(admin: FlaskClient, cast: Cast) -> None:
    with transaction() as session:
        number = export_jobs.request_export(session, cast.max.id).id
    figures.forget()
    page = admin.get(PAGE).text
    assert f'data-export="{number}"' in page
    assert "Export of all data for Max in progress" in words(page)
    with transaction() as session:
        session.get_one(Export, number).size = 1
    figures.forget()
    assert "data-export" not in admin.get(PAGE).text


def test_page_shows_seats_a_canceled_section_still_frees(
    admin: FlaskClient, backend: Backend, term: Term, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = builders.a_course("BIO-2120", credits=3)
    section = builders.a_section(course, term, capacity=2, prior_enrolled=1, number="07")
    ask(term, section, cast.ada, cast.ben, cast.cleo, wait=True)
    with transaction() as session:
        found = session.get_one(Section, section.id)
        found.status, found.version = "CANCELED", 2
        specs = section_specs(session, term.id, section.id)
    monkeypatch.setattr(backend.ledger, "at_once", 1)  # one place or seat a step
    monkeypatch.setattr(backend.ledger, "empty", away)  # which keeps it from the second one
    backend.ledger.put_sections(term.id, specs)
    page = text(admin.get(PAGE).text)
    assert "<strong>BIO 2120-07</strong>" in page
    assert "being canceled" in page
    assert "Still to remove: 1 seat, 1 waitlist position." in page
    with database_outage.away():
        assert "being canceled" in admin.get(PAGE).text


def test_import_is_shown_with_progress(admin: FlaskClient, cast: Cast) -> None:
    sent = import_jobs.NewImport(cast.max.id, "fall.zip", "", Options())
    with transaction() as session:
        number = import_jobs.begin(session, sent)
    assert "fall.zip" in admin.get(PAGE).text
    with transaction() as session:
        import_jobs.change_state(session, number, "reading", of=("waiting",))
    ProgressReport(number)("sections.csv", 300, 1200)
    page = text(admin.get(PAGE).text)
    assert f'href="/admin/imports/{number}"' in page
    assert "Import by Max" in page
    assert "Reading sections.csv: 300 of 1,200" in page
    with transaction() as session:
        session.execute(update(Import).values(moved_at=Import.made_at - timedelta(minutes=1)))
    figures.forget()
    page = text(admin.get(PAGE).text)
    assert "Interrupted" in page
    assert "300 of 1,200" not in page  # where nothing moves
    with transaction() as session:
        import_jobs.change_state(session, number, "ready", of=("reading",))


def test_new_step_of_an_import_and_the_end_of_one_are_shown_at_once(backend: Backend) -> None:
    assert backend
    report = ProgressReport(1)
    for step in (("sections.csv", 1, 9), ("meetings.csv", 1, 9), ("meetings.csv", 9, 9)):
        report(*step)
        assert import_jobs.step_of(1) == ProgressStep(*step)


def test_page_shows_readiness_for_the_next_window(
    admin: FlaskClient, backend: Backend, term: Term
) -> None:
    builders.a_coming_window(term)
    builders.a_section(builders.a_course(), term)
    assert "Not ready yet" in admin.get(PAGE).text
    make_ready(term.id)
    page = text(admin.get(PAGE).text)
    assert "Ready for opening since" in page
    assert "1 section is loaded." in page
    backend.redis.hset(f"{{t:{term.id}}}:warmup", "sent", 0)
    assert "Getting ready: 1 of 1 sections are loaded" in text(admin.get(PAGE).text)
    with database_outage.away():
        assert "Getting ready" in admin.get(PAGE).text
