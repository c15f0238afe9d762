"""A window that has ended is closed out once, with all that was decided in it."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import func, select

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.ledger.types import AdminAdjustment, Claim, WindowView
from portal.operations.dead_letters import Watch
from portal.operations.scheduler import Lease, tick
from portal.people.models import Student
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from portal.reports.closeout import close_out, report
from portal.reports.models import WindowReport
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.recorder.processes import running, wait_for
from tests.web.admin.windows.windows import closes, drops


@pytest.fixture
def term(cast: Cast) -> Term:
    assert cast
    return builders.a_term()


@pytest.fixture
def full(term: Term) -> Section:
    """A section with one seat and one place in line."""
    return builders.a_section(builders.a_course("CSC-1"), term, capacity=1, waitlist=1)


@pytest.fixture
def wide(term: Term) -> Section:
    """A section with many seats."""
    return builders.a_section(builders.a_course("CSC-2"), term, capacity=10)


def closed(term: Term, window: WindowView) -> dict[str, Any]:
    """The result of the window, which closes now."""
    closes(term, window)
    made = report(window.id)
    assert made
    return made.result


def test_seats_refusals_and_waiters_are_counted(
    cast: Cast, term: Term, full: Section, wide: Section
) -> None:
    window = builders.an_open_window(term)
    for student in (cast.ada, cast.ben, cast.cleo):
        claim(student, full, window)  # a seat, a place, a refusal
    claim(cast.cleo, wide, window)
    result = closed(term, window)
    assert result["students"] == {"all": 4, "asked": 3, "seated": 2}
    assert result["counts"] == {"enrolled": 2, "waitlisted": 1, "refused": 1}
    assert result["sections"] == [
        {"section": full.id, "capacity": 1, "taken": 1, "waiting": 1, "given": 1, "refused": 1},
        {"section": wide.id, "capacity": 10, "taken": 1, "waiting": 0, "given": 1, "refused": 0},
    ]
    assert result["reasons"] == [{"code": "waitlist_full", "refusals": 1, "students": 1}]
    assert result["waiters"] == [
        {"section": full.id, "student": cast.ben.id, "position": 1, "reasons": []}
    ]


def test_cohorts_are_separate(cast: Cast, term: Term, wide: Section) -> None:
    senior = builders.a_student("eli", year="Senior")
    window = builders.an_open_window(term)
    claim(senior, wide, window)
    cohorts = closed(term, window)["cohorts"]
    assert [(each["year"], each["students"], each["seated"]) for each in cohorts] == [
        ("Freshman", 4, 0),
        ("Senior", 1, 1),
    ]
    assert cast.ada


def test_what_others_do_in_their_own_window_is_not_in_it(
    cast: Cast, term: Term, wide: Section
) -> None:
    hers = builders.an_open_window(term, cohort={"students": [cast.ada.number]})
    his = builders.an_open_window(term, cohort={"students": [cast.ben.number]})
    claim(cast.ada, wide, hers)
    claim(cast.ben, wide, his)
    result = closed(term, hers)
    assert result["students"] == {"all": 1, "asked": 1, "seated": 1}
    assert result["sections"][0]["given"] == 1
    assert result["sections"][0]["taken"] == 2
    assert report(his.id) is None


def test_of_two_open_windows_each_counts_what_was_decided_in_it(
    cast: Cast, term: Term, full: Section, wide: Section
) -> None:
    older, newer = builders.an_open_window(term), builders.an_open_window(term)
    claim(cast.ada, full, older)
    claim(cast.ada, wide, newer)
    claim(cast.ben, full, newer, wait=False)
    first, second = closed(term, older), closed(term, newer)
    assert first["counts"] == {"enrolled": 1}
    assert second["counts"] == {"enrolled": 1, "refused": 1}
    assert [each["given"] for each in first["sections"]] == [1, 0]
    assert [each["given"] for each in second["sections"]] == [0, 1]
    assert (first["students"]["asked"], second["students"]["asked"]) == (1, 2)


def test_a_student_who_left_the_cohort_is_still_counted(
    cast: Cast, term: Term, wide: Section
) -> None:
    window = builders.an_open_window(term, cohort={"years": [cast.ada.year]})
    claim(cast.ada, wide, window)
    with transaction() as session:
        session.get_one(Student, cast.ada.id).year = "Senior"
    assert closed(term, window)["students"] == {"all": 4, "asked": 1, "seated": 1}


def test_admin_adjustments_are_not_requests(
    cast: Cast, term: Term, wide: Section, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    claim(cast.ada, wide, window)
    for student, add, drop in ((cast.ben, Claim(wide.id, 400), None), (cast.ada, None, wide.id)):
        asked = AdminAdjustment(student.id, add, drop, 9900, (window.id,), ((0, "today"),), 9)
        backend.ledger.adjust(
            term.id,
            asked,
            overrides=(),
            reason="a late request",
            idempotency_key=None,
            actor="account:9",
            correlation="tests",
        )
    result = closed(term, window)
    assert result["students"] == {"all": 4, "asked": 1, "seated": 0}
    assert result["counts"] == {"enrolled": 1}


def test_what_comes_after_the_closing_changes_nothing(
    cast: Cast, term: Term, full: Section, backend: Backend
) -> None:
    first, second = builders.an_open_window(term), builders.an_open_window(term)
    claim(cast.ada, full, first)
    backend.ledger.close_window(term.id, first.id, "tests")
    backend.ledger.turn(term.id)
    claim(cast.ben, full, second)
    drain(term.id)
    close_out(term.id)
    made = report(first.id)
    assert made
    assert made.result["sections"][0]["waiting"] == 0
    assert made.result["students"]["asked"] == 1


def test_a_promotion_counts_as_a_seat_given(cast: Cast, term: Term, full: Section) -> None:
    window = builders.an_open_window(term)
    for student in (cast.ada, cast.ben):
        claim(student, full, window)
    drops(cast.ada, full, window)
    promote(term.id, "tests")
    result = closed(term, window)
    assert result["counts"] == {"enrolled": 1, "waitlisted": 1, "dropped": 1, "promoted": 1}
    assert result["students"]["seated"] == 1


def test_however_many_workers_close_it_out_there_is_one_report(
    term: Term, wide: Section, backend: Backend
) -> None:
    window = builders.an_ended_window(term)
    backend.ledger.turn(term.id)
    drain(term.id)
    with ThreadPoolExecutor(4) as workers:
        made = list(workers.map(close_out, [term.id] * 4))
    assert sum(made) == 1
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(WindowReport)) == 1
        [entry] = session.scalars(select(AuditEntry)).all()
    assert (entry.action, entry.account_id) == ("window.closed", None)
    assert entry.subject == f"term:{term.id} window:{window.id}"
    assert wide.id


def test_it_waits_until_the_closing_is_recorded(term: Term, backend: Backend) -> None:
    window = builders.an_ended_window(term)
    assert close_out(term.id) == 0
    backend.ledger.turn(term.id)
    drain(term.id)
    assert close_out(term.id) == 1
    assert report(window.id)


def test_a_canceled_window_has_no_report(term: Term, backend: Backend) -> None:
    window = builders.a_coming_window(term)
    backend.ledger.cancel_window(term.id, window.id, "tests")
    drain(term.id)
    assert close_out(term.id) == 0
    assert report(window.id) is None


def test_the_scheduler_makes_the_report(term: Term, backend: Backend) -> None:
    window = builders.an_ended_window(term)
    drain(term.id)
    sweeper, workers = Sweeper(), (("worker", "record"), ("worker", "maintain"))
    with closing(Lease(backend.redis)) as lease, running(*workers):

        def done() -> bool:
            tick(sweeper, lease, Watch(backend.redis).check)
            return report(window.id) is not None

        wait_for(done, 30)
