"""Terms as drafts, published and archived; new ones, copies, other names, windows copied."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from flask import Flask, url_for
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.applications import service as applications
from portal.applications.kinds import KINDS
from portal.applications.service import ApplicationRefused
from portal.backend import backend
from portal.catalog.models import Instructor, Pool, Reserve, Restriction, Room, Section, Term
from portal.catalog.section_fields import FIELDS
from portal.catalog.sections import StoredSection, as_stored
from portal.catalog.term_catalog import forget
from portal.core.db import transaction
from portal.ledger.errors import WindowRefused
from portal.ledger.function_library import prefix
from portal.ledger.types import WindowView
from portal.live.visibility import visible_sections
from portal.notifications import reminders
from portal.notifications.models import Notification
from portal.people import visitors
from portal.people.models import Account
from portal.recorder import receipts
from portal.recorder.recorder import drain
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from portal.rounds import steps
from portal.web.student import earlier_terms
from portal.windows import rounds, service
from portal.windows.rounds import RoundRefused
from portal.windows.service import Author, NewWindow
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast, Meets
from tests.rounds.builders import a_draft, a_round
from tests.web import pages
from tests.web.api.callers import caller
from tests.web.visitors import browser_of

WHY = {"reason": "The catalog is complete."}
LATER = {"name": "Fall 2031", "starts_on": "2031-08-25", "ends_on": "2031-12-19"}


@pytest.fixture
def section(term: Term, cast: Cast) -> Section:
    return builders.a_section(builders.a_course(), term, instructor=cast.iris)


def put(term: Term, state: str) -> None:
    """Store the state as if it had been so for a while."""
    with transaction() as session:
        session.execute(update(Term).where(Term.id == term.id).values(state=state))
    forget()


def state_of(term: Term) -> str:
    with transaction() as session:
        return session.get_one(Term, term.id).state


def change(admin: FlaskClient, term: Term, action: str) -> Any:
    found = admin.post(f"/admin/terms/{term.id}/{action}", data=WHY)
    forget()
    return found


def submit(admin: FlaskClient, address: str, **fields: Any) -> Any:
    """Send a form with the hidden fields that its page has."""
    return admin.post(address, data=pages.hidden(admin.get(address).text) | fields)


def made(name: str) -> Term:
    with transaction() as session:
        return session.scalars(select(Term).where(Term.name == name)).one()


def stored(term: Term) -> list[StoredSection]:
    with transaction() as session:
        found = select(Section).where(Section.term_id == term.id).order_by(Section.crn)
        return [as_stored(session, each) for each in session.scalars(found)]


# Drafts


def test_only_admins_see_a_draft(
    app: Flask, admin: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    other = builders.a_term("Spring 2031")
    put(term, "draft")
    student, instructor = browser_of(app, "ada"), browser_of(app, "iris")
    home = student.get("/", follow_redirects=True)
    assert term.name not in home.text
    assert other.name in home.text
    for path in ("", "/stage", "/mine", "/plan", "/schedule", f"/sections/{section.id}"):
        assert student.get(f"/terms/{term.id}{path}").status_code == 404, path
    assert pages.press(student, section, "pick").status_code == 404
    assert pages.held(term, cast.ada) == []
    assert term.name not in instructor.get("/teaching").text
    assert instructor.get(f"/teaching/sections/{section.id}").status_code == 404
    assert admin.get(f"/teaching/sections/{section.id}").status_code == 200
    page = admin.get("/admin").text
    assert term.name in page
    assert "see this term" in page


def test_programs_of_students_do_not_see_a_draft(
    app: Flask, term: Term, section: Section, cast: Cast
) -> None:
    put(term, "draft")
    ada, registrar = caller(app, "ada"), caller(app, "max")
    assert ada.get("/semesters").json["data"]["semesters"] == []
    for path in ("/windows", "/sections/available"):
        assert ada.get(path, semester_id=term.id).status_code == 404
        assert registrar.get(path, semester_id=term.id).status_code == 200
    for about in ({"semester_id": term.id}, {}):
        body = {"student_id": cast.ada.id, "section_ids": [section.id], **about}
        sent = ada.post("/register", body)
        assert sent.status_code == 404, sent.text
    assert pages.held(term, cast.ada) == []


def test_no_page_of_a_student_shows_a_draft(
    app: Flask, term: Term, section: Section, cast: Cast
) -> None:
    pages.seat(cast.ada, section)
    drain(term.id)
    student = browser_of(app, "ada")
    seat = receipts.code(term.id, backend().ledger.last_seq(term.id))
    assert student.get(f"/receipts/{seat}").status_code == 200
    [window] = backend().ledger.windows(term.id)
    live = [f"/live/fragments?term={term.id}", f"/live/room?term={term.id}&room={window.id}"]
    assert [student.get(each).status_code for each in live] == [200, 200]
    put(term, "draft")
    values = {"term_id": term.id, "section_id": section.id, "window_id": window.id}
    with app.test_request_context():
        rules = [
            each
            for each in app.url_map.iter_rules()
            if each.endpoint.startswith("student.") and "GET" in (each.methods or ())
        ]
        own = [
            url_for(each.endpoint, **{name: values[name] for name in each.arguments})
            for each in rules
            if each.arguments <= values.keys()
        ]
    assert len(own) > 15
    for address in (*own, *live, f"/receipts/{seat}"):
        assert student.get(address).status_code == 404, address


def test_live_updates_do_not_show_a_draft(term: Term, section: Section, cast: Cast) -> None:
    who = [visitors.read(Account.id == each) for each in (cast.ada.account_id, cast.max.id)]
    student, admin = (each for each in who if each)
    assert visible_sections(student, term.id, [section.id]) == (section.id,)
    put(term, "draft")
    assert visible_sections(student, term.id, [section.id]) == ()
    assert visible_sections(admin, term.id, [section.id]) == (section.id,)


@pytest.mark.parametrize("state", ["draft", "published"])
def test_no_one_is_notified_about_a_draft(
    term: Term, section: Section, cast: Cast, state: str
) -> None:
    put(term, state)
    asked = Adjustment(term.id, cast.ada.id, add=section.id)
    adjustments.adjust(
        asked, why="first", by=cast.max.id, idempotency_key=None, correlation="tests"
    )
    drain(term.id)
    window = builders.a_coming_window(term, minutes=60 * 48)
    drain(term.id)
    with transaction() as session:
        notified = session.scalars(select(Notification.kind)).all()
        soon = datetime.fromtimestamp(window.opens / 1000, UTC) - timedelta(hours=23)
        due = [each.window for each in reminders.due(session, soon)]
    assert (bool(notified), bool(due)) == ((state == "published"),) * 2


def test_plans_do_not_name_a_draft_as_last_time(term: Term, section: Section) -> None:
    later = builders.a_term("Fall 2031", starts_on=date(2031, 8, 25), ends_on=date(2031, 12, 19))
    drain(term.id)
    assert earlier_terms.read(later.id)[section.course_id].term == term.name
    put(term, "draft")
    assert earlier_terms.read(later.id) == {}


def test_published_term_is_there(app: Flask, admin: FlaskClient, term: Term, cast: Cast) -> None:
    put(term, "draft")
    asked = admin.get(f"/admin/terms/{term.id}/publish").text
    assert "students and instructors see it at once" in asked
    assert change(admin, term, "publish").status_code == 303
    assert browser_of(app, "ada").get(f"/terms/{term.id}").status_code == 200
    (entry,) = entries()
    assert (entry.action, entry.account_id, entry.reason) == (
        "term.publish",
        cast.max.id,
        WHY["reason"],
    )
    trail = pages.words(admin.get("/admin/audit").text)
    assert "Term published" in trail
    assert "State: Draft → Published" in trail


def test_term_with_students_or_windows_stays_published(
    admin: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    pages.seat(cast.ada, section)
    drain(term.id)
    for action in ("unpublish", "archive"):
        sent = change(admin, term, action)
        assert sent.status_code == 409
        assert "Windows: " in sent.text
        assert ("Sections with students: CSC-1100" in sent.text) == (action == "unpublish")
    assert state_of(term) == "published"


def test_term_stays_published_until_its_announced_round_is_over(
    admin: FlaskClient, cast: Cast
) -> None:
    term = builders.a_term()
    found = a_round(term, cast.max.id)
    for action in ("unpublish", "archive"):
        sent = change(admin, term, action)
        assert sent.status_code == 409
        assert "Allocation rounds to publish or cancel: First round" in sent.text
    steps.cancel(found.id, found.version, cast.max.id, "tests")
    drain(term.id)
    assert change(admin, term, "archive").status_code == 303


def test_no_round_is_announced_in_an_archived_term(cast: Cast) -> None:
    term = builders.a_term()
    draft = a_draft(term, cast.max.id)
    put(term, "archived")
    with pytest.raises(RoundRefused, match="archived"):
        rounds.announce(draft.id, draft.version, cast.max.id, "tests")


def test_term_that_has_ended_is_not_hidden_from_its_students(
    admin: FlaskClient, cast: Cast
) -> None:
    term = builders.a_term(starts_on=date(2020, 8, 31), ends_on=date(2020, 12, 18))
    section = builders.a_section(builders.a_course(), term)
    window = builders.an_open_window(term)
    pages.seat(cast.ada, section)
    backend().ledger.close_window(term.id, window.id, actor="tests")
    drain(term.id)
    sent = change(admin, term, "unpublish")
    assert sent.status_code == 409
    assert "Sections with students: CSC-1100" in sent.text
    assert change(admin, term, "archive").status_code == 303


def test_nothing_begins_in_an_archived_term(admin: FlaskClient, term: Term, cast: Cast) -> None:
    put(term, "archived")
    wanted = NewWindow("Late", 1, 2, {})
    with pytest.raises(WindowRefused, match="archived"):
        service.schedule(term.id, service.new_id(), wanted, cast.max.id)
    assert admin.get(f"/admin/terms/{term.id}/windows/copy").status_code == 404
    with pytest.raises(ApplicationRefused, match="no_term"):
        applications.start(KINDS["permission"], cast.ada.account_id, term.id)


def test_archived_term_is_history(app: Flask, admin: FlaskClient, cast: Cast) -> None:
    term, other = builders.a_term(), builders.a_term("Spring 2031")
    section = builders.a_section(builders.a_course(), term)
    window = builders.an_open_window(term)
    pages.seat(cast.ada, section)
    backend().ledger.close_window(term.id, window.id, actor="tests")
    drain(term.id)
    assert change(admin, term, "archive").status_code == 303
    student = browser_of(app, "ada")
    home = student.get("/", follow_redirects=True).text
    assert other.name in home
    assert f"/terms/{term.id}" not in home
    assert section.title in student.get(f"/terms/{term.id}/schedule").text
    assert f'href="/admin/terms/{term.id}"' in admin.get("/admin").text
    assert change(admin, term, "reopen").status_code == 303
    assert f"/terms/{term.id}" in student.get("/", follow_redirects=True).text


def test_archived_term_is_offered_only_as_history(
    app: Flask, admin: FlaskClient, cast: Cast
) -> None:
    old, now = builders.a_term("Spring 2031", starts_on=date(2031, 1, 6)), builders.a_term()
    course = builders.a_course()
    for term in (old, now):
        builders.a_section(course, term, instructor=cast.iris)
    put(old, "archived")
    assert admin.get("/admin/sections").location == f"/admin/terms/{now.id}/sections"
    for page in (
        f"/admin/terms/{now.id}/sections",
        f"/admin/terms/{now.id}/rooms",
        f"/admin/students/{cast.ada.id}/overrides/new",
        "/admin/report-subscriptions",
    ):
        text = admin.get(page).text
        assert now.name in text
        assert old.name not in text
    iris = browser_of(app, "iris")
    for visitor, page in (
        (admin, f"/admin/students/{cast.ada.id}"),
        (admin, "/admin/imports"),
        (admin, "/admin/terms/new"),
        (admin, f"/admin/instructors/{cast.iris.id}"),
        (iris, "/teaching"),
    ):
        text = pages.words(visitor.get(page).text)
        assert text.index(now.name) < text.index(f"{old.name} (archived)")
        assert text.count(old.name) == text.count(f"{old.name} (archived)")
    assert f"/admin/terms/{old.id}/sections" in admin.get(f"/admin/terms/{old.id}").text


def test_second_admin_reads_that_it_has_changed(admin: FlaskClient, term: Term) -> None:
    put(term, "archived")
    assert change(admin, term, "publish").status_code == 409
    assert admin.get(f"/admin/terms/{term.id}/publish").status_code == 409
    assert state_of(term) == "archived"


# New terms


def test_new_term_is_a_draft(admin: FlaskClient, cast: Cast) -> None:
    first = submit(admin, "/admin/terms/new", **LATER, source="", **WHY)
    assert first.status_code == 303
    again = submit(admin, "/admin/terms/new", **LATER, source="", **WHY)  # pressed twice
    assert again.headers["Location"] == first.headers["Location"]
    term = made("Fall 2031")
    assert (term.state, term.starts_on, term.ends_on) == (
        "draft",
        date(2031, 8, 25),
        date(2031, 12, 19),
    )
    (entry,) = entries()
    assert (entry.action, entry.account_id) == ("term.create", cast.max.id)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name": " "}, "Give the term a name."),
        ({"name": "Fall 2030"}, "Another term has this name"),
        ({"name": "Fall\u200b2031"}, "visible symbols only"),
        ({"starts_on": "soon"}, "Enter a date such as 2030-08-26."),
        ({"ends_on": "9999-12-01"}, "Enter a date such as 2030-08-26."),
        ({"ends_on": "2031-08-25"}, "The last day must be after the first."),
        ({"source": "99999"}, "Choose one from the list."),
        ({"reason": ""}, "reason"),
    ],
)
def test_wrong_details_are_named(
    admin: FlaskClient, term: Term, fields: dict[str, str], error: str
) -> None:
    form = {**LATER, "source": "", **WHY, **fields}
    sent = submit(admin, "/admin/terms/new", **form)
    assert (sent.status_code, error in sent.text) == (422, True)
    assert "Not a valid" not in sent.text  # an error of WTForms beside ours
    with transaction() as session:
        assert session.scalars(select(Term.id)).all() == [term.id]


def a_full_section(term: Term, cast: Cast) -> None:
    """Create a section with every field, two sections that share seats, and a canceled one."""
    course = builders.a_course()
    whole = builders.a_section(
        course,
        term,
        capacity=7,
        waitlist=3,
        meetings=(Meets("MR"),),
        instructor=cast.iris,
        campus="North",
        method="Online",
        note="Bring a laptop.",
        prerequisites={"course": course.code},
        status="CONFIRMED",
        prior_enrolled=2,
    )
    pool = builders.added(Pool(term_id=term.id, name="Both", capacity=9))
    builders.a_section(course, term, pool_id=pool.id)
    builders.a_section(builders.a_course("MAT-1200"), term, pool_id=pool.id)
    builders.a_section(course, term, status="CANCELED")
    until = datetime(2030, 10, 28, 13, tzinfo=UTC)
    added = builders.added
    added(Reserve(section_id=whole.id, seats=2, cohort={"years": ["Senior"]}, until=until))
    added(Restriction(section_id=whole.id, rule="must_be", kind="major", value="CSC"))


def test_last_day_is_not_before_a_deadline(admin: FlaskClient) -> None:
    days = {"add_deadline": date(2030, 9, 6), "withdraw_deadline": date(2030, 12, 20)}
    term = builders.a_term("Fall 2029", **days)
    edit = f"/admin/terms/{term.id}/edit"
    form = pages.hidden(admin.get(edit).text) | {"name": "Fall 2029", "starts_on": "2030-08-26"}
    late = admin.post(edit, data=form | {"ends_on": "2030-12-19"})
    assert late.status_code == 422
    assert "A deadline of this term is on Dec 20, 2030." in late.text
    assert admin.post(edit, data=form | {"ends_on": "2030-12-20"}).status_code == 303


def test_copy_of_a_term_moves_its_deadlines_by_the_same_weeks(admin: FlaskClient) -> None:
    days = {"add_deadline": date(2030, 9, 6), "withdraw_deadline": date(2030, 12, 20)}
    source = builders.a_term("Fall 2029", **days)
    submit(admin, "/admin/terms/new", **LATER, source=source.id, **WHY)
    copy = made("Fall 2031")
    assert (copy.add_deadline, copy.drop_deadline) == (date(2031, 9, 5), None)
    assert copy.withdraw_deadline == date(2031, 12, 19)
    known = backend().redis.hkeys(f"{prefix(copy.id)}:deadlines")
    assert {b"add_deadline", b"withdraw_deadline"} <= set(known)


def test_copy_of_a_term_has_its_sections_without_students(
    app: Flask, admin: FlaskClient, term: Term, cast: Cast
) -> None:
    a_full_section(term, cast)
    pages.seat(cast.ada, builders.a_section(builders.a_course("PHY-1300"), term))
    sent = submit(admin, "/admin/terms/new", **LATER, source=term.id, **WHY)
    assert sent.status_code == 303
    copy = made("Fall 2031")
    before = [each for each in stored(term) if each.status != "CANCELED"]
    after = stored(copy)
    assert [each.crn for each in after] == [each.crn for each in before]
    for name in FIELDS.keys() - {"meetings", "reserves"}:
        values = [[getattr(each.details, name) for each in several] for several in (before, after)]
        assert values[0] == values[1], name
    assert {each.status for each in after} == {"OPEN"}
    assert {each.prior for each in after} == {0}
    [meeting] = after[0].details.meetings
    assert (meeting.first, meeting.last) == (date(2031, 8, 25), date(2031, 12, 19))
    [reserve] = after[0].details.reserves
    zone = backend().settings.zone
    old = datetime(2030, 10, 28, 13, tzinfo=UTC).astimezone(zone)
    assert reserve.until
    assert reserve.until.astimezone(zone) == old + timedelta(weeks=52)
    pools = [each.pool for each in after if each.pool]
    assert {(pool.name, pool.capacity, len(pool.members)) for pool in pools} == {("Both", 9, 2)}
    assert {pool.id for pool in pools}.isdisjoint(each.pool.id for each in before if each.pool)
    # The ledger knows the copies, and the source is as it was.
    assert change(admin, copy, "publish").status_code == 303
    builders.an_open_window(copy)
    shown = browser_of(app, "ben").get(f"/terms/{copy.id}").text
    assert f'id="section-{after[0].id}"' in shown
    counts = backend().ledger.seats(copy.id)
    assert set(counts) == {each.id for each in after}
    assert (counts[after[0].id].capacity, counts[after[0].id].taken) == (7, 0)
    assert pages.held(copy, cast.ada) == []
    assert len(pages.held(term, cast.ada)) == 1


def test_same_name_with_another_source_is_no_second_press(admin: FlaskClient, term: Term) -> None:
    assert submit(admin, "/admin/terms/new", **LATER, source="", **WHY).status_code == 303
    sent = submit(admin, "/admin/terms/new", **LATER, source=term.id, **WHY)
    assert (sent.status_code, "Another term has this name" in sent.text) == (422, True)


def test_deleted_rooms_and_instructors_are_not_copied(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    room = builders.a_room("Hall 1")
    builders.a_section(
        builders.a_course(), term, meetings=(Meets(room=room.name),), instructor=cast.iris
    )
    with transaction() as session:
        for row in (session.get_one(Room, room.id), session.get_one(Instructor, cast.iris.id)):
            row.deleted_at = datetime.now(UTC)
    submit(admin, "/admin/terms/new", **LATER, source=term.id, **WHY)
    [copy] = stored(made("Fall 2031"))
    assert [each.room for each in copy.details.meetings] == [""]
    assert copy.details.instructors == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("2030-09-03", "2030-10-15"), (date(2031, 9, 2), date(2031, 10, 14))),
        (("2030-08-26", "2030-08-26"), (date(2031, 8, 25), date(2031, 8, 25))),
        (("2030-08-26", "2030-12-20"), (date(2031, 8, 25), date(2031, 12, 12))),
        (("2030-12-10", "2030-12-20"), (date(2031, 12, 9), date(2031, 12, 12))),
        (("2030-12-19", "2030-12-19"), (date(2031, 12, 18), date(2031, 12, 18))),
    ],
    ids=["weeks", "first day", "whole term", "to the end", "after the end"],
)
def test_copied_meetings_stay_as_long_as_they_were(
    admin: FlaskClient, term: Term, before: tuple[str, str], after: tuple[date, date]
) -> None:
    builders.a_section(builders.a_course(), term, meetings=(Meets("T", dates=before),))
    form = {**LATER, "ends_on": "2031-12-12"}
    submit(admin, "/admin/terms/new", **form, source=term.id, **WHY)
    [copy] = stored(made("Fall 2031"))
    assert [(each.first, each.last) for each in copy.details.meetings] == [after]


# Names and dates


def test_edited_details_are_stored_and_audited(admin: FlaskClient, term: Term) -> None:
    address = f"/admin/terms/{term.id}/edit"
    assert submit(admin, address, **LATER).status_code == 303
    assert made("Fall 2031").starts_on == date(2031, 8, 25)
    (entry,) = entries()
    assert entry.before
    assert entry.after
    assert (entry.before["name"], entry.after["name"]) == ("Fall 2030", "Fall 2031")


def test_stale_details_are_refused(admin: FlaskClient, term: Term) -> None:
    address = f"/admin/terms/{term.id}/edit"
    old = pages.hidden(admin.get(address).text)
    assert submit(admin, address, **LATER).status_code == 303
    sent = admin.post(address, data=old | LATER | {"name": "Autumn 2030"})
    assert sent.status_code == 409
    assert made("Fall 2031").id == term.id
    assert admin.post(address, data={**old, **LATER, "was_starts": "x"}).status_code == 400


def test_stale_details_stay_stale_when_the_form_is_shown_again(
    admin: FlaskClient, term: Term
) -> None:
    address = f"/admin/terms/{term.id}/edit"
    old = pages.hidden(admin.get(address).text)
    assert submit(admin, address, **LATER).status_code == 303
    again = admin.post(address, data=old | LATER | {"name": ""})
    assert again.status_code == 422
    mine = pages.hidden(again.text) | LATER | {"name": "Autumn 2030"}
    assert admin.post(address, data=mine).status_code == 409
    assert made("Fall 2031").id == term.id


# Windows


def windows(term: Term) -> list[WindowView]:
    return sorted(backend().ledger.windows(term.id), key=lambda each: each.opens)


def test_copied_windows_keep_weekday_and_time(admin: FlaskClient, cast: Cast) -> None:
    zone = backend().settings.zone
    source = builders.a_term("Fall 2030")
    target = builders.a_term("Spring 2031", starts_on=date(2031, 1, 13), ends_on=date(2031, 5, 9))
    seniors = builders.a_coming_window(source, minutes=60 * 24, cohort={"years": ["Senior"]})
    everyone = builders.a_coming_window(source, minutes=60 * 48)
    canceled = builders.a_coming_window(source, minutes=60 * 72)
    backend().ledger.cancel_window(source.id, canceled.id, actor="tests")
    address = f"/admin/terms/{target.id}/windows/copy?source={source.id}"
    page = admin.get(address).text
    assert "Senior" in page
    assert windows(target) == []
    form = pages.hidden(page) | WHY
    for _press in range(2):
        assert admin.post(address, data=form).status_code == 303
    weeks = timedelta(weeks=20)
    for old, new in zip((seniors, everyone), windows(target), strict=True):
        for before, after in ((old.opens, new.opens), (old.closes, new.closes)):
            local = [datetime.fromtimestamp(each / 1000, zone) for each in (before, after)]
            assert local[1] - local[0] == weeks, "the time on the wall is the same"
        assert new.cohort == old.cohort
    assert "already has windows" in admin.get(address).text
    forged = admin.post(address, data=form | {"plan": form["plan"] + "x"})
    assert forged.status_code == 400
    assert cast


def test_copy_of_a_window_that_was_closed_early_has_its_planned_end(
    admin: FlaskClient, cast: Cast
) -> None:
    source = builders.a_term("Fall 2030")
    target = builders.a_term("Spring 2031", starts_on=date(2031, 1, 13), ends_on=date(2031, 5, 9))
    planned, forgotten = builders.an_open_window(source), builders.an_open_window(source)
    service.close(source.id, planned.id, Author(cast.max.id, "All have registered."))
    backend().ledger.close_window(
        source.id, forgotten.id, actor="tests"
    )  # no entry says until when
    address = f"/admin/terms/{target.id}/windows/copy?source={source.id}"
    page = admin.get(address).text
    said = pages.words(page)
    assert "Selection was closed early. Its copy has the end that was planned." in said
    assert "The copy is as short as the window was." in said
    assert admin.post(address, data=pages.hidden(page) | WHY).status_code == 303
    closed = {each.id: each for each in backend().ledger.windows(source.id)}
    spans = [each.closes - each.opens for each in (planned, closed[forgotten.id])]
    assert sorted(each.closes - each.opens for each in windows(target)) == sorted(spans)


def test_windows_that_changed_meanwhile_are_not_copied(admin: FlaskClient, cast: Cast) -> None:
    source, target = builders.a_term("Fall 2030"), builders.a_term("Spring 2031")
    window = builders.a_coming_window(source, minutes=60 * 24)
    address = f"/admin/terms/{target.id}/windows/copy?source={source.id}"
    form = pages.hidden(admin.get(address).text) | WHY
    opens, closes = window.opens + 60_000, window.closes + 60_000
    backend().ledger.move_window(source.id, window.id, opens=opens, closes=closes, actor="tests")
    assert admin.post(address, data=form).status_code == 409
    assert windows(target) == []
    assert cast


def test_term_without_windows_offers_none(admin: FlaskClient, term: Term) -> None:
    other = builders.a_term("Spring 2031")
    page = admin.get(f"/admin/terms/{other.id}/windows/copy").text
    assert term.name in page
    assert "Choose a term." in admin.get(f"/admin/terms/{other.id}/windows/copy?source=x").text
    alone = admin.get(f"/admin/terms/{term.id}/windows/copy").text
    assert "No other term has windows." in alone
