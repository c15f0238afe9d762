"""The tab that is marked is the one whose page this is, or whose part."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.web.visitors import browser_of

MARKED = re.compile(r'<a href="[^"]*" aria-current="(\w+)">([^<]*)')

TABS = {
    "/admin": ("page", "Windows"),
    "/admin/terms/{term}/windows/new": ("true", "Windows"),
    "/admin/terms/{term}/windows/{window}/room": ("true", "Windows"),
    "/admin/terms/{term}/windows/{window}/room/admit": ("true", "Windows"),
    "/admin/terms/{term}/windows/{window}/report": ("true", "Windows"),
    "/admin/terms/{term}/rules": ("true", "Windows"),
    "/admin/terms/{term}/edit": ("true", "Windows"),
    "/admin/terms/{term}/rounds": ("true", "Windows"),
    "/admin/terms/{term}/sections": ("page", "Sections"),
    "/admin/terms/{term}/sections/new": ("true", "Sections"),
    "/admin/terms/{term}/sections/deleted": ("true", "Sections"),
    "/admin/terms/{term}/sections/{section}": ("true", "Sections"),
    "/admin/terms/{term}/sections/{section}/edit": ("true", "Sections"),
    "/admin/terms/{term}/sections/{section}/cancel": ("true", "Sections"),
    "/admin/terms/{term}/sections/{section}/results": ("true", "Sections"),
    "/admin/terms/{term}/sections/{section}/share": ("true", "Sections"),
    "/admin/terms/{term}/sections/several": ("true", "Sections"),
    "/admin/terms/{term}/rooms": ("true", "Sections"),
    "/admin/terms/{term}/adjust": ("true", "Sections"),
    "/admin/terms/{term}/underfilled": ("true", "Sections"),
    "/teaching/sections/{section}": ("true", "Sections"),
    "/admin/requests": ("page", "Requests"),
    "/admin/imports": ("page", "Imports"),
    "/admin/students": ("page", "Students"),
    "/admin/students/{student}": ("true", "Students"),
    "/admin/students/{student}/holds/new": ("true", "Students"),
    "/admin/instructors": ("page", "Instructors"),
    "/admin/staff": ("page", "Staff"),
    "/admin/staff/{account}": ("true", "Staff"),
    "/admin/accounts": ("page", "Accounts"),
    "/admin/accounts/{account}": ("true", "Accounts"),
    "/admin/receipts": ("page", "Receipts"),
    "/admin/audit": ("page", "Audit trail"),
    "/admin/operations": ("page", "Operations"),
    "/admin/operations/flags/mail": ("true", "Operations"),
    "/admin/operations/audits/{term}": ("true", "Operations"),
    "/admin/webhooks": ("true", "Operations"),
    "/inbox": ("page", "Inbox"),
}


@pytest.fixture
def section(term: Term) -> Section:
    return builders.a_section(builders.a_course(), term)


def test_each_admin_page_marks_its_tab(
    admin: FlaskClient, term: Term, section: Section, cast: builders.Cast
) -> None:
    known = {"term": term.id, "section": section.id, "student": cast.ada.id, "window": 1}
    known["account"] = cast.ada.account_id
    found = {}
    for address in TABS:
        page = admin.get(address.format(**known), follow_redirects=True).text
        found[address] = [(how, label.strip()) for how, label in MARKED.findall(page)]
    assert found == {address: [tab] for address, tab in TABS.items()}


def test_every_module_of_pages_about_a_term_has_a_tab_in_the_table(app: Flask) -> None:
    known = dict.fromkeys(("term", "section", "student", "window", "account"), 1)
    site = app.url_map.bind("localhost")
    with_tab = {_module(site.match(address.format(**known))[0]) for address in TABS}
    pages = {
        _module(route.endpoint)
        for route in app.url_map.iter_rules()
        if route.rule.startswith("/admin/terms/")
    }
    missing = pages - with_tab - {"admin.exports"}  # downloads
    assert not missing, f"Add an address of each module and its tab to TABS: {missing}"


def _module(endpoint: str) -> str:
    return endpoint.rpartition(".")[0]


def test_sections_tab_leads_to_the_latest_term(admin: FlaskClient, term: Term) -> None:
    assert 'href="/admin/sections"' in admin.get("/admin").text
    assert admin.get("/admin/sections").location == f"/admin/terms/{term.id}/sections"


def test_sections_tab_leads_to_the_windows_without_a_term(app: Flask, cast: builders.Cast) -> None:
    assert cast
    assert browser_of(app, "max").get("/admin/sections").location == "/admin"


STUDENT_TABS = ("Sections", "My plan", "My classes", "Schedule", "Inbox")
OF_NO_TERM = (
    "/inbox",
    "/inbox/settings",
    "/account",
    "/account/password",
    "/?all",
    "/captcha",
    "/no",
)


@pytest.mark.parametrize("address", [*OF_NO_TERM, "/terms/{term}/nothing", "/admin"])
def test_student_has_all_tabs_on_every_page(
    app: Flask, term: Term, section: Section, address: str
) -> None:
    other = builders.a_term("Fall 2031")
    builders.a_section(builders.a_course("MAT-1"), other)
    assert section
    ada = browser_of(app, "ada")
    for last in (other, term):
        here = {"Accept": "text/html"}
        assert ada.get(f"/terms/{last.id}/mine", headers=here).status_code == 200
        page = ada.get(address.format(term=last.id)).text
        nav = page.partition('<nav class="topbar-nav"')[2].partition("</nav>")[0]
        assert [each for each in STUDENT_TABS if each not in nav] == []
        assert f'href="/terms/{last.id}/plan"' in nav


@pytest.mark.parametrize("address", ["/", "/inbox", "/account", "/no"])
def test_someone_without_a_role_finds_the_applications_on_every_page(
    app: Flask, cast: builders.Cast, address: str
) -> None:
    assert cast
    builders.an_account("vicky")
    page = browser_of(app, "vicky").get(address).text
    nav = page.partition('<nav class="topbar-nav"')[2].partition("</nav>")[0]
    current = ' aria-current="page"' if address == "/" else ""
    assert f'<a href="/"{current}>Applications</a>' in nav


def test_queue_page_keeps_the_tabs(guarded: Flask, section: Section) -> None:
    ada = browser_of(guarded, "ada")
    page = ada.post(f"/terms/{section.term_id}/sections/{section.id}/pick").text
    assert "It is not your turn yet" in page
    assert f'href="/terms/{section.term_id}/mine"' in page


def test_student_without_a_last_term_gets_the_open_one(app: Flask, term: Term) -> None:
    builders.a_term("Spring 2030")
    page = browser_of(app, "ada").get("/inbox").text
    assert f'href="/terms/{term.id}/plan"' in page


def test_anonymous_visitors_have_no_tabs(client: FlaskClient, term: Term) -> None:
    for address in ("/login", "/no", f"/terms/{term.id}/windows/1/order"):
        assert "topbar-nav" not in client.get(address).text
