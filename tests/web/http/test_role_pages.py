"""Each role sees the pages of its rights, and on them nothing that its rights do not open."""

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException

from portal.catalog.models import Term
from portal.people import visitors
from portal.people.models import Account
from portal.people.roles import OWN, ROLES, SEES, Right
from portal.people.visitors import Visitor
from portal.recorder.recorder import drain
from portal.web.http.access import opens, rule_of
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.sections.forms import change
from tests.web.admin.students.forms import look, press
from tests.web.all_pages import a_story, pages_of
from tests.web.http.all_routes import routes
from tests.web.http.route_rules import PEOPLE, a_staff
from tests.web.pages import words
from tests.web.visitors import browser_of

ASKS = {"href": "GET", "hx-get": "GET", "hx-post": "POST"}
Offer = tuple[str, str]  # method and address


class Offers(HTMLParser):
    """Collects the links and forms of a page."""

    def __init__(self, here: str) -> None:
        super().__init__()
        self.here = here
        self.found: set[Offer] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where the tag leads."""
        given = dict(attrs)
        if tag == "form":
            target = given.get("action") or self.here
            self.found.add(((given.get("method") or "get").upper(), target))
        self.found |= {(ASKS[name], value or "") for name, value in attrs if name in ASKS}


def test_each_right_has_a_text_and_an_owner() -> None:
    assert all(str(right.text) for right in Right)
    assert frozenset().union(*(role.rights for role in ROLES.values())) == set(Right)


def test_rights_to_see_change_nothing(app: Flask) -> None:
    """So an auditor, who has them all, can send no form but those about reports of their own."""
    changing = [
        name
        for name, method, route in routes(app)
        if method != "GET" and rule_of(app.view_functions[route.endpoint]) & SEES
    ]
    assert changing == []
    assert ROLES["auditor"].rights == SEES | {Right.SUBSCRIBE}


def test_admin_has_every_right_but_those_about_oneself() -> None:
    assert ROLES["admin"].rights == set(Right) - OWN


@pytest.fixture
def staff(app: Flask, cast: Cast) -> list[str]:  # noqa: ARG001
    return a_staff()


def test_pages_offer_only_what_the_rights_of_the_reader_open(
    app: Flask, cast: Cast, staff: list[str]
) -> None:
    story, wrong = a_story(app, cast), set()
    for username in staff:
        who, client = visitors.read(Account.username == username), browser_of(app, username)
        assert who
        opened = 0
        for address in sorted(set(pages_of(app, story, username))):
            view = _view(app, "GET", address)
            if view is None or not address.startswith(("/admin", "/teaching", "/account")):
                continue
            answer = client.get(address)
            if answer.status_code != 200 or answer.mimetype != "text/html":
                continue
            opened += 1
            wrong |= {
                f"{username}: {address} offers {method} {target}"
                for method, target in offers(address, answer.text)
                if not _may(app, who, method, target)
            }
        assert opened > 10
    assert not wrong, "\n".join(sorted(wrong))


def test_refusal_names_the_role_and_what_it_does_not_allow(
    app: Flask, cast: Cast, staff: list[str]
) -> None:
    assert staff
    helen = browser_of(app, "helen")
    answer = helen.post(f"/admin/students/{cast.ada.id}/holds/new", data={"kind": "Bursar"})
    assert answer.status_code == 403
    said = words(answer.text)
    assert "Your role does not allow this" in said
    assert "Your role (Help desk) does not let you place and lift holds." in said
    assert "see the audit trail" in words(helen.get("/admin/audit").text)


def test_account_page_says_what_the_role_allows(app: Flask, staff: list[str]) -> None:
    assert staff
    shown = words(browser_of(app, "helen").get("/account").text)
    assert "Help desk" in shown
    assert str(Right.SEE_RECEIPTS.text) in shown
    assert str(Right.SEE_AUDIT_TRAIL.text) not in shown


@pytest.mark.parametrize("username", [name for name, role in PEOPLE.items() if role in ROLES])
def test_tabs_lead_where_the_rights_lead(
    app: Flask, cast: Cast, staff: list[str], username: str
) -> None:
    assert cast, staff
    client = browser_of(app, username)
    shown = offers("/", client.get("/account").text)
    for method, target in shown:
        if method == "GET" and target.startswith("/admin"):
            assert client.get(target, follow_redirects=True).status_code == 200, target
    leads = {target for _, target in shown}
    role = ROLES[PEOPLE[username]].rights
    assert ("/admin/audit" in leads) == (Right.SEE_AUDIT_TRAIL in role)
    assert ("/admin/students" in leads) == bool({Right.SEE_STUDENTS, Right.ADVISE} & role)
    assert ("/teaching" in leads) == (Right.TEACH in role)


def test_help_desk_reads_no_reasons_about_students(
    app: Flask, cast: Cast, staff: list[str], term: Term
) -> None:
    """They may name an illness; neither does a scheduler, of students."""
    section = builders.a_section(builders.a_course("CSC-1100"), term)
    builders.an_open_window(term)
    boss = browser_of(app, "max")
    press(boss, look(boss, cast.ada, section), reason="She was ill.")
    change(boss, section, capacity=7, reason="The teacher is ill.")
    drain(term.id)
    here = f"/admin/terms/{term.id}/sections/{section.id}"
    said = {
        username: [
            reason
            for place, reason in (
                (f"{here}/results?show=history", "She was ill."),
                (here, "The teacher is ill."),
            )
            if reason in words(browser_of(app, username).get(place).text)
        ]
        for username in ("max", "audrey", "helen", "sam")
    }
    everything = ["She was ill.", "The teacher is ill."]
    assert staff
    assert said == {
        "max": everything,
        "audrey": everything,
        "helen": [],
        "sam": ["The teacher is ill."],
    }


def test_auditor_reads_how_long_documents_are_kept(app: Flask, staff: list[str]) -> None:
    assert staff
    shown = words(browser_of(app, "audrey").get("/admin/applications").text)
    assert "How long documents are kept" in shown
    assert re.search(r"Late add \d+ days", shown)


def test_auditor_reads_the_rules_of_a_term(app: Flask, staff: list[str], term: Term) -> None:
    assert staff
    builders.set_rules(term, bands=[{"years": ["Senior"]}])
    audrey = browser_of(app, "audrey")
    [link] = re.findall(rf'href="(/admin/terms/{term.id})"', audrey.get("/admin").text)
    shown = words(audrey.get(link).text)
    for text in ("Credit limit", "Drops per day", "Waitlist groups", "1. students of class year"):
        assert text in shown


def test_staff_start_at_the_windows(app: Flask, staff: list[str]) -> None:
    for username in staff:
        assert browser_of(app, username).get("/").location == "/admin"


def test_operations_page_of_a_reader_updates_without_buttons(app: Flask, staff: list[str]) -> None:
    assert staff
    audrey, max_ = _panels(browser_of(app, "audrey")), _panels(browser_of(app, "max"))
    assert 'id="ops-flags"' in audrey
    assert "/admin/operations/flags/" in max_
    assert "/admin/operations/flags/" not in audrey
    assert browser_of(app, "helen").get("/live/fragments?operations=1").status_code == 403


def _panels(client: FlaskClient) -> str:
    return client.get("/live/fragments?operations=1").text


def offers(here: str, html: str) -> set[Offer]:
    parser = Offers(here)
    parser.feed(html)
    return parser.found


def _may(app: Flask, who: Visitor, method: str, target: str) -> bool:
    view = _view(app, method, target)
    return view is None or opens(app.view_functions[view], who)


def _view(app: Flask, method: str, target: str) -> str | None:
    """Return the endpoint of an address of ours, None for any other."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc or not parts.path.startswith("/"):
        return None
    try:
        return str(app.url_map.bind("localhost").match(parts.path, method)[0])
    except HTTPException:
        return None
