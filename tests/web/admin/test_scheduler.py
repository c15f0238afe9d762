"""A scheduler sees and changes the sections of their departments, and no others."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.catalog import sections
from portal.catalog.models import Room, Section, Term
from portal.catalog.requisites import shown
from portal.catalog.sections import NotPossible, SeenSection
from portal.catalog.views import MeetingView
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.people import visitors
from portal.people.models import Account, Student
from portal.people.privacy import set_private
from portal.people.roles import Right
from portal.recorder.recorder import drain
from portal.web.http.access import rule_of
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.admin.sections.forms import change, details, errors, send, stored
from tests.web.all_pages import a_story, pages
from tests.web.http.all_routes import a_values, address, routes
from tests.web.http.test_role_pages import offers
from tests.web.pages import press, words
from tests.web.visitors import browser_of


@pytest.fixture
def own(term: Term) -> Section:
    return builders.a_section(builders.a_course("CSC-1100"), term, number="01")


@pytest.fixture
def other(term: Term) -> Section:
    history = builders.a_department("HIS")
    course = builders.a_course("HIS-2000", department_id=history.id)
    return builders.a_section(course, term, number="07")


@pytest.fixture
def sam(app: Flask, cast: Cast, own: Section, other: Section) -> FlaskClient:
    assert cast, (own, other)
    builders.an_account("sam", schedules_for=[builders.a_department().id])
    return browser_of(app, "sam")


def test_lists_have_only_own_sections(
    app: Flask, sam: FlaskClient, term: Term, own: Section, other: Section
) -> None:
    listed = sam.get(f"/admin/terms/{term.id}/sections").text
    assert f"/sections/{own.id}" in listed
    assert f"/sections/{other.id}" not in listed
    under = sam.get(f"/admin/terms/{term.id}/underfilled?fewer=99").text
    assert f'value="{own.id}"' in under
    assert f'value="{other.id}"' not in under
    everyones = browser_of(app, "max").get(f"/admin/terms/{term.id}/sections").text
    assert f"/sections/{other.id}" in everyones


def test_search_finds_no_course_that_is_refused(
    app: Flask, sam: FlaskClient, own: Section, other: Section
) -> None:
    for text in ("HIS", "CSC"):
        found = sam.get(f"/admin/search?q={text}").text
        assert "/admin/catalog/" not in found
        assert f"/sections/{other.id}" not in found
    assert f"/sections/{own.id}" in found
    assert "HIS 2000" in words(browser_of(app, "max").get("/admin/search?q=HIS").text)


def test_new_section_is_only_for_own_courses(
    sam: FlaskClient, term: Term, own: Section, other: Section
) -> None:
    new = f"/admin/terms/{term.id}/sections/new"
    offered = sam.get(f"{new}?q=course").text
    assert f"course={own.course_id}" in offered
    assert f"course={other.course_id}" not in offered
    assert sam.get(f"{new}?course={own.course_id}").status_code == 200
    assert sam.get(f"{new}?course={other.course_id}").status_code == 403
    assert sam.post(new, data={"course": other.course_id}).status_code == 403


def test_own_section_is_changed_in_their_name(sam: FlaskClient, term: Term, own: Section) -> None:
    change = f"/admin/terms/{term.id}/sections/{own.id}/confirm"
    assert sam.get(change).status_code == 200
    answer = sam.post(change, data={"version": own.version, "reason": "enough"})
    assert answer.status_code == 303
    with transaction() as session:
        entry = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
        mine = session.scalars(select(Account.id).where(Account.username == "sam")).one()
    assert entry
    assert (entry.action, entry.account_id) == ("section.confirm", mine)


def test_every_view_refuses_sections_of_other_departments(app: Flask, cast: Cast) -> None:
    """Each route that a scheduler may use and that names a section, also one added later."""
    values = a_values(app, cast)
    builders.an_account("sam", schedules_for=[builders.a_department("HIS").id])
    sam, asked = browser_of(app, "sam"), 0
    for name, method, route in routes(app):
        rule = rule_of(app.view_functions[route.endpoint])
        if Right.SCHEDULE in rule and "section_id" in route.arguments:
            asked += 1
            assert sam.open(address(route, values), method=method).status_code == 403, name
    assert asked > 10


def test_several_sections_are_canceled_only_if_all_are_own(
    sam: FlaskClient, term: Term, own: Section, other: Section
) -> None:
    form = {"section": [own.id, other.id], "confirmed": "yes", "reason": "too few"}
    assert sam.post(f"/admin/terms/{term.id}/underfilled", data=form).status_code == 403
    with transaction() as session:
        assert session.get_one(Section, own.id).status == "OPEN"


def test_seats_are_shared_only_among_own_sections(
    sam: FlaskClient, term: Term, own: Section, other: Section
) -> None:
    share = f"/admin/terms/{term.id}/sections/{own.id}/share"
    form = {"capacity": 9, "name": "Both", "section": [own.crn, other.crn], "version": "0-0"}
    page = sam.post(share, data=form, follow_redirects=True).text
    assert "HIS 2000-07 belongs to another department." in page
    with transaction() as session:
        assert session.get_one(Section, own.id).pool_id is None


def test_deleted_sections_of_others_are_not_listed(
    sam: FlaskClient, term: Term, other: Section
) -> None:
    with transaction() as session:
        gone = session.get_one(Section, other.id)
        gone.deleted_at = datetime.now(UTC)
    assert "HIS" not in sam.get(f"/admin/terms/{term.id}/sections/deleted").text


def test_right_ends_with_the_department(app: Flask, sam: FlaskClient, own: Section) -> None:
    roster = f"/teaching/sections/{own.id}"
    assert sam.get(roster).status_code == 200
    account = visitors.read(Account.username == "sam")
    assert account
    form = {"seen_department": list(account.departments), "reason": "left"}
    assert browser_of(app, "max").post(f"/admin/staff/{account.id}", data=form).status_code == 303
    assert sam.get(roster).location.startswith("/login")
    assert browser_of(app, "sam").get(roster).status_code == 403


def test_scheduler_is_named_with_the_department(app: Flask, sam: FlaskClient) -> None:
    assert sam
    page = browser_of(app, "max").get("/admin/staff").text
    assert "Department scheduler: Department of SCI" in page


def test_what_private_students_withhold_is_in_no_list(
    app: Flask, sam: FlaskClient, cast: Cast, term: Term, own: Section
) -> None:
    builders.an_open_window(term)
    press(browser_of(app, "ada"), own, "pick")
    drain(term.id)
    set_private(cast.ada.id, cast.max.id, private=True)
    with transaction() as session:
        session.get_one(Student, cast.ada.id).year = "Wizard"
    here, roster = f"/admin/terms/{term.id}/sections/{own.id}", f"/teaching/sections/{own.id}"
    for place in (f"{here}/results", roster, f"{roster}/roster.csv"):
        page = sam.get(place)
        assert page.status_code == 200, place
        assert "Ada" in page.text
        assert "Wizard" not in page.text, place
    assert sam.get(f"{here}/roster.csv").status_code == 403
    assert "Wizard" in browser_of(app, "max").get(f"{here}/results").text


def test_rooms_do_not_name_sections_of_other_departments(
    sam: FlaskClient, term: Term, own: Section, other: Section
) -> None:
    assert own, other
    course = builders.a_course("HIS-3000", department_id=builders.a_department("HIS").id)
    times = (Meets("M", "10:00", "11:00", room="Hall 1"),)
    builders.a_section(course, term, meetings=times, title="A secret plan", status="NEW")
    builders.a_section(builders.a_course("MAT-1"), term, meetings=times, title="Algebra")
    room = builders.a_room("Hall 1").id
    page = words(sam.get(f"/admin/terms/{term.id}/rooms/{room}").text)
    assert "Algebra" in page
    assert page.count("A section of another department") == 2
    assert "secret" not in page
    assert "HIS" not in page


@pytest.mark.parametrize("room", ["Hall 9", "Old Hall"])
def test_typed_room_must_be_in_the_catalog(
    app: Flask, sam: FlaskClient, own: Section, room: str
) -> None:
    """Rooms are everyone's: a scheduler neither creates nor restores one."""
    builders.a_room("Hall 1")
    with transaction() as session:
        session.add(Room(name="Old Hall", deleted_at=datetime.now(UTC)))
    assert "The catalog has no such room." in errors(send(sam, own, meetings_0_room=room))
    assert change(sam, own, meetings_0_room=room).status_code == 422
    assert change(sam, own, meetings_0_room="Hall 1").status_code == 303
    assert change(browser_of(app, "max"), own, meetings_0_room=room).status_code == 303
    assert change(sam, own, capacity=7).status_code == 303  # in the room that it has


def test_room_that_goes_meanwhile_is_not_restored(own: Section, cast: Cast) -> None:
    wanted = replace(details(own), meetings=(MeetingView("", "Hall 9", clashes=True),))
    seen = SeenSection(own.term_id, own.id, stored(own).version)
    with pytest.raises(NotPossible, match="room_unknown"):
        sections.edit_sections([(seen, wanted)], cast.max.id, new_rooms=False)


def test_search_finds_own_sections_and_rooms_but_no_students(
    sam: FlaskClient, cast: Cast, own: Section, other: Section
) -> None:
    def found(text: str) -> str:
        return words(sam.get("/admin/search", query_string={"q": text}, follow_redirects=True).text)

    builders.a_room("Hall 1")
    assert "CSC 1100-01" in found(own.crn)
    assert "HIS" not in found(other.crn)
    assert "Hall 1" in found("hall")
    assert "Nothing matches." in found(cast.ada.number)
    assert 'action="/admin/search"' in sam.get("/admin").text


def test_pages_neither_show_nor_link_sections_of_other_departments(app: Flask, cast: Cast) -> None:
    """Each page that the scheduler of another department can open, and each link on it."""
    story = a_story(app, cast)
    with transaction() as session:
        found = session.scalars(select(Section).where(Section.id.in_(story["section_id"]))).all()
        theirs = {f"{shown(each.course.code)}-{each.number}" for each in found}
    builders.an_account("sam", schedules_for=[builders.a_department("HIS").id])
    sam, wrong, opened = browser_of(app, "sam"), set(), 0
    for place in sorted({each for each in pages(app, story) if each.startswith("/admin")}):
        page = sam.get(place)
        if page.status_code != 200 or page.mimetype != "text/html":
            continue
        opened += 1
        wrong |= {f"{place} shows {each}" for each in theirs if each in words(page.text)}
        for method, target in offers(place, page.text):
            follows = method == "GET" and target.startswith("/admin")
            if follows and sam.get(target).status_code == 403:
                wrong.add(f"{place} offers {target}")
    assert opened > 3
    assert not wrong, "\n".join(sorted(wrong))


def test_staff_who_teach_ask_only_about_their_own_classes(
    app: Flask, cast: Cast, own: Section
) -> None:
    with transaction() as session:
        session.get_one(Account, cast.iris.account_id).staff_roles = ["help_desk"]
    iris = browser_of(app, "iris")
    assert iris.get(f"/teaching/sections/{own.id}").status_code == 200
    for kind in ("seats", "override"):
        assert iris.get(f"/teaching/sections/{own.id}/requests/{kind}").status_code == 403
