"""The demo semester: made at once, whole, the same every time, and good to race in."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import func, select

from portal.applications import documents, listing, service
from portal.applications.documents import ScannerFailed
from portal.applications.kinds import KINDS
from portal.applications.listing import Filters
from portal.applications.models import (
    ACTING,
    REVIEW,
    STATES,
    Application,
    ApplicationDocument,
    Charge,
)
from portal.backend import Backend
from portal.catalog import requisites
from portal.catalog.models import CrossList, Instructor, Meeting
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.catalog.views import MeetingView
from portal.core.db import transaction
from portal.exchange import demo
from portal.exchange.demo import applications, coming_term
from portal.people import passwords
from portal.people.models import Account, CompletedCourse, Hold, Student
from portal.people.student_profile import StudentProfile, profile
from portal.registration import rules
from tests.exchange.oneroster import School, imported

MINUTES = timedelta(minutes=2)
PASSWORD = "for a look around"


@pytest.fixture(scope="module")
def made(empty_portal: Callable[[], None]) -> TermCatalog:
    """The demo, for tests that only look at it."""
    empty_portal()
    term = demo.create(PASSWORD, MINUTES)
    assert term is not None
    return catalog_of(term)


def profiles(count: int) -> list[StudentProfile]:
    with transaction() as session:
        ids = session.scalars(select(Student.id).order_by(Student.id).limit(count)).all()
    return [profile(each) for each in ids]


def test_its_window_opens_for_everyone(made: TermCatalog, connected: Backend) -> None:
    [window] = connected.ledger.windows(made.term.id)
    assert abs(window.opens - connected.ledger.now() - 120_000) < 60_000
    assert window.opens % 60_000 == 0  # as real windows do
    assert window.closes - window.opens == 14 * 24 * 3_600_000
    assert (window.name, window.state, window.cohort) == ("All students", "scheduled", {})


def test_it_has_the_size_of_a_small_university(made: TermCatalog) -> None:
    assert 145 <= len(made.sections) <= 155
    assert 58 <= len({view.course_code for view in made.sections}) <= 64
    assert len(made.subjects) == 10
    with transaction() as session:
        counts = [
            session.scalar(select(func.count()).select_from(t)) for t in (Student, Instructor)
        ]
        assert counts == [2000, 40]
        assert (session.scalar(select(func.count()).select_from(Hold)) or 0) > 10
        assert (session.scalar(select(func.count()).select_from(CompletedCourse)) or 0) > 5000


def test_everyone_logs_in_with_the_one_password(made: TermCatalog) -> None:  # noqa: ARG001
    with transaction() as session:
        kept = dict(session.execute(select(Account.username, Account.password_hash)).all())
        admins = session.scalars(select(Account.username).where(Account.is_admin)).all()
    assert {"student0001", "student2000", "instructor01", "instructor40", "admin"} <= set(kept)
    assert len(kept) == 2045
    assert admins == ["admin"]
    assert passwords.verify(kept["student0001"], PASSWORD)
    assert len(set(kept.values())) == 1


def test_it_has_the_quirks_of_real_catalogs(made: TermCatalog) -> None:
    views = made.sections
    assert Counter(view.status for view in views) == {
        "OPEN": len(views) - 5, "NEW": 3, "CANCELED": 2,
    }  # fmt: skip
    assert any(view.capacity == 0 for view in views)
    assert sum(1 for view in views if 0 < view.capacity <= 2) >= 5
    assert any(view.credits_min < view.credits_max for view in views)
    assert any([meeting.times for meeting in view.meetings] == ["TBA"] for view in views)
    assert any(len(view.meetings) > 1 for view in views)
    assert any(meeting.dates for view in views for meeting in view.meetings)
    assert any(meeting.kind == "Lab" for view in views for meeting in view.meetings[1:])
    assert any(not meeting.clashes for view in views for meeting in view.meetings)
    assert any(view.restrictions for view in views)
    assert any(view.corequisites for view in views)
    assert any(not view.public for view in views)
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(CrossList))


def test_it_has_applications_in_every_state(
    made: TermCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, tries = documents.verdict, count(1)

    def verdict(file: Path, name: str) -> tuple[str, int]:
        if next(tries) == 1:  # as on a machine that is full
            raise ScannerFailed("Nothing")
        return judge(file, name)

    monkeypatch.setattr(documents, "verdict", verdict)
    applications.create(made.term.id)
    with transaction() as session:
        found = session.scalars(select(Application)).all()
        states = {each.state for each in found}
        assert states == set(STATES) - {ACTING}
        assert {each.kind for each in found} == set(KINDS)
        assert {each.paid for each in found} == {True, False}
        checks = session.scalars(select(ApplicationDocument)).all()
        assert {each.state for each in checks} == {"ok", "refused", "dead"}
        charges = session.scalars(select(Charge)).all()
        assert {each.state for each in charges} == {"new", "paid", "failed", "refunded"}
        assert [each.state for each in charges if each.dead_at] == ["new"]
        stale = [each.kind for each in found if each.state == REVIEW and service.pointless(each)]
        assert not stale


def test_an_instructor_decides_for_a_department(made: TermCatalog) -> None:
    with transaction() as session:
        decides = Account.username, Instructor.decides_for_id
        found = select(*decides).join(Account, Account.id == Instructor.account_id)
        [(name, _)] = session.execute(found.where(Instructor.decides_for_id.is_not(None))).all()
        account = session.scalars(select(Account.id).where(Account.username == name)).one()
    assert name == applications.DECIDER
    waiting = listing.queue(Filters(decider=account, term=made.term.id), 1)
    assert len(waiting) > 1


def test_seats_taken_before_are_in_the_ledger(made: TermCatalog, connected: Backend) -> None:
    seats = connected.ledger.seats(made.term.id)
    assert set(seats) == {view.id for view in made.sections}
    assert any(each.taken > each.capacity for each in seats.values())
    assert sum(1 for each in seats.values() if 0 < each.open <= 3 and each.taken) >= 6


def test_every_section_has_an_instructor_without_time_conflicts(made: TermCatalog) -> None:
    timed = [view for view in made.sections if any(meeting.start for meeting in view.meetings)]
    assert all(len(view.instructors) == 1 for view in timed)
    assert all(meeting.start for view in timed for meeting in view.meetings)
    loads = Counter(key for view in made.sections for key in view.instructor_ids)
    assert len(loads) == 40
    assert max(loads.values()) <= 6
    with transaction() as session:
        met = session.scalars(select(Meeting.room_id).where(Meeting.starts_at.is_not(None))).all()
    assert sum(1 for room in met if room) > 150


def test_the_first_instructor_teaches_what_students_race_for(made: TermCatalog) -> None:
    with transaction() as session:
        first = session.scalar(
            select(Instructor.id).join(Account).where(Account.username == "instructor01")
        )
    assert first is not None
    assert sum(1 for view in made.taught_by(frozenset({first})) if 0 < view.capacity <= 2) == 2


def test_prerequisites_name_courses_of_the_catalog(made: TermCatalog) -> None:
    named = {code for view in made.sections for code in requisites.codes(view.prerequisites)}
    assert named <= {view.course_code for view in made.sections}


def test_students_find_plenty(made: TermCatalog) -> None:
    free = [
        sum(
            1
            for view in made.sections
            if rules.visible(who, view) and not rules.refusals(who, view)
        )
        for who in profiles(20)
    ]
    assert min(free) >= 50


def test_the_term_is_the_next_one() -> None:
    assert coming_term(date(2026, 11, 21)) == (
        "Spring 2027", date(2027, 1, 11), date(2027, 4, 30),
    )  # fmt: skip
    assert coming_term(date(2026, 3, 1))[0] == "Fall 2026"


FALL = coming_term(date(2026, 3, 1))


@pytest.fixture(scope="module")
def completed(made: TermCatalog, empty_portal: Callable[[], None]) -> TermCatalog:
    """The demo of another term, interrupted and then completed; it replaces the first one."""
    assert made
    empty_portal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "coming_term", lambda _today: FALL)
        with pytest.MonkeyPatch.context() as trouble:
            trouble.setattr(demo, "hash_password", lambda _password: next(iter(())))
            with pytest.raises(StopIteration):
                demo.create(PASSWORD, MINUTES)
        assert not demo.exists()
        term = demo.create(PASSWORD, MINUTES)
    assert term is not None
    return catalog_of(term)


def test_its_dates_are_moved_to_another_term(completed: TermCatalog) -> None:
    term = completed.term
    assert (term.name, term.starts_on, term.ends_on) == FALL
    with transaction() as session:
        days = set(session.execute(select(Meeting.date_start, Meeting.date_end)).all())
    assert days == {
        (date(2026, 8, 24), date(2026, 12, 11)),  # all of the term, and its halves
        (date(2026, 8, 24), date(2026, 10, 9)),
        (date(2026, 10, 12), date(2026, 12, 11)),
        (date(2026, 12, 9), date(2026, 12, 9)),  # the final exams
    }


def test_an_interrupted_one_is_completed_once_and_is_the_same_every_time(
    made: TermCatalog, completed: TermCatalog
) -> None:
    assert demo.exists()
    assert demo.create(PASSWORD, MINUTES) is None
    assert facts(completed) == facts(made)


def test_accounts_of_an_import_from_a_folder_of_that_name_are_left_alone(
    empty_portal: Callable[[], None], tmp_path: Path
) -> None:
    empty_portal()
    folder = tmp_path / "demo"
    folder.mkdir()
    School().write(folder)
    imported(folder)
    assert demo.create(PASSWORD, MINUTES) is None
    with transaction() as session:
        assert set(session.scalars(select(Account.password_hash))) == {""}


def facts(offered: TermCatalog) -> list[tuple[object, ...]]:
    """Return sections with their meetings, but without the dates of the term."""
    return [
        (view.crn, view.title, view.instructors, [undated(meeting) for meeting in view.meetings])
        for view in offered.sections
    ]


def undated(meeting: MeetingView) -> MeetingView:
    return replace(meeting, first=date.min, last=date.max, term=None)
