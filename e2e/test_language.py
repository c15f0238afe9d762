"""Everyone reads the portal in their own language, at the same time."""

import re
from typing import Any

from playwright.sync_api import expect

from e2e.contrast import NARROW
from e2e.person import Meet, Person
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import PASSWORD


def choose(person: Person, language: str) -> None:
    """Press the name of a language in the foot of the page."""
    person.page.get_by_role("button", name=language, exact=True).click()
    expect(person.page.locator(".languages-own")).to_have_text(language)


def in_spanish(meet: Meet, username: str, **options: Any) -> Person:
    """Someone whose browser asks for Spanish."""
    return meet(username, locale="es-MX", **options)


def test_a_choice_lasts_over_logout_and_login_and_in_other_browsers(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.a_student("lola")
    lola = meet()
    lola.log_in("lola")
    lola.go(f"/terms/{term.id}?q=course")
    expect(lola.row(section)).to_be_visible()
    choose(lola, "Español")
    expect(lola.page).to_have_url(re.compile(r"\?q=course$"))
    lola.page.get_by_role("button", name="Cerrar sesión").click()
    expect(lola.page.get_by_role("heading", name="Iniciar sesión")).to_be_visible()

    elsewhere = meet()
    elsewhere.go("/login")
    elsewhere.page.get_by_label("Username").fill("lola")
    elsewhere.page.get_by_label("Password").fill(PASSWORD)
    elsewhere.page.get_by_role("button", name="Log in").click()
    expect(elsewhere.page.get_by_role("button", name="Cerrar sesión")).to_be_visible()


def test_two_people_see_the_same_seats_go_each_in_their_own_language(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = in_spanish(meet, "ada").enter(term), meet("ben").enter(term)
    expect(ada.page.locator("html")).to_have_attribute("lang", "es")
    expect(ada.seats(section)).to_contain_text("20 de 20 libres")
    ben.pick(section)
    expect(ada.seats(section)).to_contain_text("19 de 20 libres")
    ada.pick(section)
    expect(ben.seats(section)).to_contain_text("18 of 20 open")
    expect(ada.page.locator("#toasts")).to_contain_text("Añadiste")
    expect(ben.page.locator("#toasts")).to_contain_text("You added")


def test_live_updates_come_in_the_language_of_the_page(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = in_spanish(meet, "ada").enter(term), meet("ben").enter(term)
    ben.pick(last_seat)
    ada.pick(last_seat)
    ada.has(last_seat, "waiting")
    ben.cell(last_seat).get_by_role("link", name="Drop").click()
    ben.confirm()
    ada.has(last_seat, "selected")
    expect(ada.page.locator("#toasts")).to_contain_text("Conseguiste plaza en")
    expect(ada.mine).to_contain_text("Mis clases")


def test_the_countdown_and_the_opening_speak_the_language(
    meet: Meet, term: Term, section: Section
) -> None:
    ada = in_spanish(meet, "ada")
    window = builders.a_coming_window(term, minutes=10)
    ada.enter(term)
    answer = ada.page.locator("#banner [data-answer]")
    expect(answer).to_have_text(re.compile(r"^Empieza en \d+ minutos$"))
    expect(ada.page.locator("[data-offset]")).to_contain_text("Tu reloj")
    builders.open_soon(term, window)
    title = ada.page.locator("#banner .banner-title")
    expect(title).to_have_text("Añade tus clases")
    expect(ada.cell(section).get_by_text("Añadir")).to_be_visible()
    expect(answer).to_have_text(re.compile(r"^Termina en (59|60) minutos$"))


def test_without_scripts_the_choice_is_a_form(meet: Meet) -> None:
    someone = meet(java_script_enabled=False)
    someone.go("/login")
    choose(someone, "Español")
    expect(someone.page.get_by_role("heading", name="Iniciar sesión")).to_be_visible()
    expect(someone.page.locator("html")).to_have_attribute("lang", "es")


def test_long_words_leave_a_small_phone_its_width(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = in_spanish(meet, "ada", viewport=NARROW)
    for part in ("", "/mine"):
        ada.go(f"/terms/{term.id}{part}")
        assert ada.page.evaluate("document.documentElement.scrollWidth") <= 320
    tab = ada.page.get_by_role("navigation", name="Principal").get_by_role("link", name="Horario")
    tab.scroll_into_view_if_needed()
    expect(tab).to_be_in_viewport()
    assert section.id
