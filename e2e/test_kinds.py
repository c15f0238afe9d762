"""Students ask for exceptions of each kind, and see what the approval has changed."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from e2e.applying import SENT, address_of_decision, decide
from e2e.axe import barriers
from e2e.contrast import NARROW
from e2e.courses import a_course
from e2e.person import Meet, Person
from e2e.sizes import too_wide
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.ledger_claims import claim

CARRIED_OUT = "Approved and carried out"


def ask_about_my_class(page: Page, term: Term, kind: str, why: str) -> None:
    """Choose the only class that the student has, and say why."""
    page.goto(f"/terms/{term.id}/applications")
    page.get_by_role("link", name=re.compile(f"Start.*{kind}")).click()
    page.get_by_role("radio").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label(why).fill("I was ill for six weeks.")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_role("link", name="Continue", exact=True).click()


def ask_for_late_drop(page: Page, term: Term, _wanted: Section) -> None:
    ask_about_my_class(page, term, "Late drop", "Why could you not drop it in time?")


def ask_for_withdrawal(page: Page, term: Term, _wanted: Section) -> None:
    ask_about_my_class(page, term, "Withdrawal", "Why do you have to leave the class?")


def ask_for_permission(page: Page, term: Term, wanted: Section) -> None:
    """From the refusal, which leads to the application."""
    page.goto(f"/terms/{term.id}/sections/{wanted.id}/pick")
    page.get_by_role("link", name="Ask for permission").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Prerequisites").check()
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("Why are you ready for this class?").fill("I took it elsewhere.")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_role("link", name="Continue", exact=True).click()


def ask_for_overload(page: Page, term: Term, wanted: Section) -> None:
    """From the refusal, which leads to the application."""
    page.goto(f"/terms/{term.id}/sections/{wanted.id}/pick")
    page.get_by_role("link", name="Ask for more credits").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Why do you need this class this term?").fill("It is my last term.")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("How will you manage the extra work?").fill("I have no job.")
    page.get_by_role("button", name="Save and continue").click()


def has_dropped(person: Person, term: Term, held: Section, _wanted: Section) -> None:
    """The class is gone, and nothing is said of a mark."""
    page = person.page
    person.go(f"/terms/{term.id}/mine")
    expect(page.get_by_text("No classes yet.")).to_be_visible()
    person.go(f"/terms/{term.id}/history")
    person.asks_until(page.get_by_text("Your application was approved").first)
    expect(page.get_by_text("Your record shows it")).to_have_count(0)
    assert not enrolled(term, held)


def has_withdrawn(person: Person, term: Term, held: Section, _wanted: Section) -> None:
    """The class is gone, and the record shows the mark."""
    person.go(f"/terms/{term.id}/mine")
    expect(person.page.get_by_text("No classes yet.")).to_be_visible()
    person.go(f"/terms/{term.id}/history")
    person.asks_until(person.page.get_by_text("Your record shows it as W.").first)
    assert not enrolled(term, held)


def registers(person: Person, term: Term, _held: Section, wanted: Section) -> None:
    """The refusal is gone: the student adds the class."""
    person.go(f"/terms/{term.id}/sections/{wanted.id}/pick")
    button = person.page.get_by_role("button", name="Add class")
    person.asks_until(button)  # each web process learns of a permission within seconds
    button.click()
    person.go(f"/terms/{term.id}?q={wanted.crn}")
    person.has(wanted, "selected")
    assert enrolled(term, wanted)


def enrolled(term: Term, section: Section) -> bool:
    """Whether someone has a seat."""
    return backend().ledger.seats(term.id)[section.id].taken > 0


@dataclass(frozen=True)
class Story:
    """How the student asks, how many people decide, and what has changed for the student."""

    ask: Callable[[Page, Term, Section], None]
    sees: Callable[[Person, Term, Section, Section], None]
    deciders: int = 1
    late: bool = False  # whether the window has ended


STORIES = {
    "late drop": Story(ask_for_late_drop, has_dropped, late=True),
    "withdrawal": Story(ask_for_withdrawal, has_withdrawn, late=True),
    "permission": Story(ask_for_permission, registers),
    "credit overload": Story(ask_for_overload, registers, deciders=2),
}


def begin(term: Term, kind: str) -> tuple[str, Section, Section]:
    """A student with a class, another class to want, and a window that is open or has ended.

    Gives the student's user name and both classes.
    """
    name, overload = f"asks{term.id}", kind == "credit overload"
    student = builders.a_student(name)
    heavy = a_course("HVY", credits=20 if overload else 4)
    needs = {"prerequisites": {"course": "MAT-1010"}} if kind == "permission" else {}
    held = builders.a_section(heavy, term)
    wanted = builders.a_section(a_course("NEW"), term, **needs)
    window = builders.an_open_window(term)
    claim(student, held)
    if STORIES[kind].late:
        backend().ledger.close_window(term.id, window.id, "tests")
    return name, held, wanted


def approve(meet: Meet, term: Term, address: str, deciders: int) -> None:
    """Each decider approves a stage, each another person."""
    builders.an_account(f"deputy{term.id}", is_admin=True)
    for each in ["max", f"deputy{term.id}"][:deciders]:
        decide(meet(each).page, address, "Approve", "It is justified.")


@pytest.mark.parametrize("kind", STORIES)
def test_an_exception_is_asked_for_approved_and_seen(meet: Meet, term: Term, kind: str) -> None:
    story = STORIES[kind]
    name, held, wanted = begin(term, kind)
    person = meet(name, viewport=NARROW)
    page = person.page
    story.ask(page, term, wanted)
    send = page.get_by_role("button", name="Send the application")
    expect(send).to_be_visible()
    assert not too_wide(page)
    send.click()
    expect(page.get_by_text(SENT)).to_be_visible()
    assert not barriers(page)
    approve(meet, term, address_of_decision(page), story.deciders)
    expect(page.get_by_text(CARRIED_OUT)).to_be_visible()
    story.sees(person, term, held, wanted)


def test_a_withdrawal_in_spanish_without_scripts(meet: Meet, term: Term) -> None:
    name, held, _wanted = begin(term, "withdrawal")
    meet(name)  # logs in by English words
    person = meet(name, viewport=NARROW, locale="es-MX", java_script_enabled=False)
    page = person.page
    person.go(f"/terms/{term.id}/applications")
    page.get_by_role("link", name=re.compile("Empezar.*Baja")).click()
    page.get_by_role("radio").check()
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label("¿Por qué tienes que dejar la clase?").fill("Estoy enferma.")
    page.get_by_role("button", name="Guardar y seguir").click()
    page.get_by_role("link", name="Continuar", exact=True).click()
    page.get_by_role("button", name="Enviar la solicitud").click()
    expect(page.get_by_text("Ahora no tienes que hacer nada.")).to_be_visible()
    approve(meet, term, address_of_decision(page), 1)
    person.asks_until(page.get_by_text("Aprobada y aplicada"))
    person.go(f"/terms/{term.id}/history")
    person.asks_until(page.get_by_text("En tu expediente consta como W.").first)
    assert not enrolled(term, held)
