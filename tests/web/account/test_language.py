"""POST /language, and the language of pages."""

import re
from decimal import Decimal
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.app import create_app
from portal.backend import Backend
from portal.core import db
from portal.core.db import transaction
from portal.core.i18n import _, in_language
from portal.people import visitors
from portal.people.models import Account
from tests import cast as builders
from tests.cast import Cast
from tests.statements import statements
from tests.web.pages import words
from tests.web.visitors import browser_of

SPANISH = {"Accept-Language": "es-MX,es;q=0.9,en;q=0.5"}


def choose(client: FlaskClient, language: str, **fields: str) -> str | None:
    """Choose a language; return the address that it leads to."""
    answer = client.post("/language", data={"language": language, **fields})
    assert answer.status_code == 303
    return answer.location


def is_spanish(client: FlaskClient, address: str, **headers: str) -> bool:
    """Return whether a page is in Spanish; fail if its parts disagree."""
    answer = client.get(address, headers=headers)
    text = 'html lang="es"' in answer.text
    assert text == ("Contraseña" in answer.text or "Cerrar sesión" in answer.text)
    assert answer.headers["Content-Language"] == ("es" if text else "en")
    return text


def test_page_uses_the_browsers_language(client: FlaskClient) -> None:
    assert is_spanish(client, "/login", **SPANISH)
    assert not is_spanish(client, "/login")


@pytest.mark.parametrize("asked", ["", "*", "tlh", "xx-yy;q=oh", "en-GB,es;q=0.1"])
def test_unsupported_language_gets_english(client: FlaskClient, asked: str) -> None:
    assert not is_spanish(client, "/login", **{"Accept-Language": asked})


def test_choice_before_the_login_overrides_the_browser(client: FlaskClient) -> None:
    choose(client, "en")
    assert not is_spanish(client, "/login", **SPANISH)


def test_choice_before_the_login_lasts_after_it(app: Flask, cast: Cast) -> None:
    client = app.test_client()
    choose(client, "es")
    client.post("/login", data={"username": "max", "password": builders.PASSWORD})
    assert is_spanish(client, "/admin")
    assert cast.max


def test_accounts_choice_applies_in_every_browser(app: Flask, cast: Cast) -> None:
    here, there = browser_of(app, "max"), browser_of(app, "max")
    choose(here, "es")
    assert is_spanish(here, "/admin")
    assert is_spanish(there, "/admin")
    assert cast.max


def test_accounts_choice_overrides_all_others(app: Flask, cast: Cast) -> None:
    choose(browser_of(app, "max"), "es")
    client = app.test_client()
    choose(client, "en")
    client.post("/login", data={"username": "max", "password": builders.PASSWORD})
    assert is_spanish(client, "/admin", **{"Accept-Language": "en"})
    assert cast.max


@pytest.mark.parametrize("address", ["/admin/students?q=a", "/admin/receipts?q=a"])
def test_headings_of_a_list_are_in_the_language_of_each_visit(
    app: Flask, cast: Cast, address: str
) -> None:
    client = browser_of(app, "max")
    for language, shown, hidden in (("en", "Level", "Nivel"), ("es", "Nivel", "Level")) * 2:
        choose(client, language)
        page = client.get(address).text
        assert shown in page, language
        assert hidden not in page, language
    assert cast.ada


def test_language_stays_after_logout(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "max")
    choose(client, "es")
    client.post("/logout")
    assert is_spanish(client, "/login")
    assert cast.max


def test_choice_is_stored_in_the_account(app: Flask, cast: Cast) -> None:
    choose(browser_of(app, "ada"), "es")
    with transaction() as session:
        stored = session.scalar(select(Account.language).where(Account.id == cast.ada.account_id))
    assert stored == "es"


def test_choice_returns_to_the_page_with_its_search(app: Flask, cast: Cast) -> None:
    term = builders.a_term()
    client = browser_of(app, "max")
    here = f"/admin/terms/{term.id}/sections?q=calculus&page=2"
    stored = re.search(r'name="next" value="([^"]*)"', client.get(here).text)
    assert stored
    assert choose(client, "es", next=unescape(stored[1])) == here
    assert cast.max


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/\\evil", ""])
def test_choice_never_leads_to_another_site(client: FlaskClient, elsewhere: str) -> None:
    assert choose(client, "es", next=elsewhere) == "/"


@pytest.mark.parametrize("language", ["", "fr", "../../etc", "ES"])
def test_unsupported_language_is_refused(client: FlaskClient, language: str) -> None:
    assert client.post("/language", data={"language": language}).status_code == 400


def test_choice_needs_a_form_token(backend: Backend) -> None:
    client = create_app(backend.settings).test_client()
    assert client.post("/language", data={"language": "es"}).status_code == 400


def test_each_language_is_named_in_itself(client: FlaskClient) -> None:
    page = client.get("/login").text
    assert '<span class="languages-own" lang="en" aria-current="true">English</span>' in page
    assert 'name="language" value="es" lang="es">Español</button>' in page


def test_page_has_a_vary_header(client: FlaskClient) -> None:
    vary = client.get("/login").headers["Vary"]
    assert {"Cookie", "Accept-Language"} <= {each.strip() for each in vary.split(",")}
    assert "Content-Language" not in client.get("/clock").headers


def test_error_is_in_the_readers_language(client: FlaskClient) -> None:
    assert "Esta página no existe" in client.get("/nowhere", headers=SPANISH).text


def test_language_needs_no_query(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "max")
    choose(client, "es")
    client.get("/nowhere")
    with statements() as sent:
        page = client.get("/nowhere")
    assert "Cerrar sesión" in page.text
    assert [each for each in sent if "people_changes" not in each] == []
    assert cast.max


def test_browsers_choice_applies_while_postgresql_is_down(
    app: Flask, cast: Cast, backend: Backend
) -> None:
    client = browser_of(app, "ada")
    choose(client, "es")
    visitors.forget(cast.ada.account_id)
    db.connect("postgresql://nobody@127.0.0.1:1/nothing").dispose()
    try:
        page = client.get("/nowhere")
    finally:
        db.connect(backend.settings.database_url)
    assert "Esta página no existe" in page.text


def test_times_numbers_and_days_follow_the_language(app: Flask, cast: Cast) -> None:
    term = builders.a_term()
    course = builders.a_course(credits_min=1, credits_max=Decimal("1.5"))
    meets = builders.Meets("MRS", "14:05", "15:50")
    builders.a_section(course, term, meetings=(meets,))
    client = browser_of(app, "ada")
    english = words(client.get(f"/terms/{term.id}").text)
    assert "Mon Thu Sat" in english
    assert "2:05–3:50 pm" in english
    assert "1–1.5 credits" in english
    spanish = words(client.get(f"/terms/{term.id}", headers=SPANISH).text)
    assert "lun jue sáb" in spanish
    assert "14:05–15:50" in spanish
    assert "1–1,5 créditos" in spanish
    assert cast.ada


def test_search_for_days_and_times_works_in_every_language(app: Flask, cast: Cast) -> None:
    term = builders.a_term()
    builders.a_section(builders.a_course("CSC-1"), term, meetings=(builders.Meets("M"),))
    builders.a_section(builders.a_course("MAT-2"), term, meetings=(builders.Meets("T"),))
    page = browser_of(app, "ada").get(f"/terms/{term.id}?days=Mon&from=08:00", headers=SPANISH)
    assert "1 grupo" in words(page.text)
    assert 'name="days" value="Mon" checked>lun<' in page.text
    assert cast.ada


def test_texts_outside_a_page_use_the_requested_language() -> None:
    assert _("Password") == "Password"
    with in_language("es"):
        assert _("Password") == "Contraseña"
    with in_language(""):
        assert _("Password") == "Password"
