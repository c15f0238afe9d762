"""Holds and clashes are told as they arise, on every page, and to the registrar by name."""

import pytest
from playwright.sync_api import expect

from e2e.contrast import PHONE
from e2e.courses import a_course, name_of
from e2e.mails import subjects_to
from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.people.models import Student
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Meets
from tests.notifications.stories import give_addresses
from tests.recorder.processes import wait_for

WHY = "As agreed with the dean."


@pytest.fixture
def rosa(term: Term) -> Student:
    """A student of this story alone, so that no hold bars anyone else's."""
    student = builders.a_student(f"rosa{term.id}")
    give_addresses()
    builders.an_open_window(term)
    return student


@pytest.fixture
def lab(term: Term) -> Section:
    meetings = (Meets("M", "10:00", "11:00", kind="LAB"),)
    return builders.a_section(a_course("LAB"), term, meetings=meetings)


@pytest.fixture
def both(term: Term, lab: Section) -> tuple[Section, Section]:
    meetings = (Meets("M", "14:00", "15:00"),)
    course = a_course("TLK")
    return lab, builders.a_section(course, term, meetings=meetings)


def test_a_hold_shows_on_the_open_page_in_the_inbox_and_by_mail_and_goes_when_it_is_lifted(
    meet: Meet, portal: Running, term: Term, lab: Section, rosa: Student
) -> None:
    student, boss = meet(f"rosa{term.id}", viewport=PHONE).enter(term), meet("max")
    box = student.page.locator("#attention")
    expect(box).to_be_hidden()
    boss.go(f"/admin/students/{rosa.id}/holds/new")
    boss.page.get_by_label("Kind").fill("Bursar")
    boss.page.get_by_label("Message to the student").fill("a bill is unpaid")
    boss.page.get_by_label("Who can lift it").fill("the bursar, Hall 3, room 12")
    boss.page.get_by_role("button", name="Add hold").click()
    expect(box).to_contain_text("There is a hold on your record: a bill is unpaid.")
    expect(box).to_contain_text("Contact the bursar, Hall 3, room 12")
    expect(student.page.locator("#toasts")).to_contain_text("There is a hold on your record")
    for page in ("/mine", "/plan", "/schedule"):
        student.go(f"/terms/{term.id}{page}")
        expect(box).to_contain_text("a bill is unpaid")
    name = f"rosa{term.id}"
    wait_for(lambda: "There is a hold on your record: Bursar" in subjects_to(portal, name))
    boss.page.get_by_role("link", name="Lift").click()
    boss.page.get_by_label("Reason").fill(WHY)
    boss.page.get_by_role("button", name="Lift hold").click()
    expect(box).to_be_hidden()
    wait_for(lambda: "The hold on your record was lifted: Bursar" in subjects_to(portal, name))
    student.go(f"/terms/{term.id}")
    student.pick(lab)


def test_a_clash_that_the_registrar_makes_is_named_to_both_until_it_is_resolved(
    meet: Meet, portal: Running, term: Term, both: tuple[Section, Section], rosa: Student
) -> None:
    lab, talk = both
    student, boss = meet(f"rosa{term.id}", viewport=PHONE).enter(term), meet("max")
    student.pick(lab)
    student.pick(talk)
    drain(term.id)
    student.go(f"/terms/{term.id}/schedule")
    box = student.page.locator("#attention")
    expect(box).to_be_hidden()

    boss.go(f"/admin/terms/{term.id}/sections/{talk.id}/edit")
    boss.page.locator("[name=meetings_0_starts]").fill("10:30")
    boss.page.locator("[name=meetings_0_ends]").fill("11:30")
    boss.page.get_by_role("button", name="Review").click()
    named = boss.page.locator("[data-clashing]")
    expect(named).to_contain_text(f"Rosa{term.id}")
    expect(named).to_contain_text(f"with {name_of(lab)} (Mon 10:00–11:00 am)")
    boss.page.get_by_label("Reason").fill(WHY)
    boss.page.get_by_role("button", name="Save changes").click()
    expect(named).to_contain_text(f"Rosa{term.id}")

    expect(box).to_contain_text("meet at the same time")
    expect(box).to_contain_text(f"{name_of(lab)} (Mon 10:00–11:00 am)")
    subject = f"{name_of(talk)} has changed and conflicts with {name_of(lab)}"
    wait_for(lambda: subject in subjects_to(portal, f"rosa{term.id}"))
    student.go("/inbox")
    expect(student.page.locator("main")).to_contain_text(subject)

    reader = meet(f"rosa{term.id}", viewport=PHONE, java_script_enabled=False)
    reader.go(f"/terms/{term.id}/mine")
    expect(reader.page.locator("#attention")).to_contain_text("meet at the same time")
    student.enter(term)
    expect(box).to_contain_text("meet at the same time")
    student.ask(talk)
    student.confirm()
    expect(box).to_be_hidden()
    named.get_by_role("link", name=f"Rosa{term.id}").click()
    expect(boss.page).to_have_url(f"{portal.address}/admin/students/{rosa.id}?term={term.id}")
    expect(named).to_have_count(0)
