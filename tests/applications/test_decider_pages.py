"""GET and POST /admin/applications, without JavaScript."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from portal.applications import service
from portal.applications.kinds import KINDS
from portal.applications.models import Application
from portal.applications.service import ApplicationRefused
from portal.catalog import term_catalog
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Account, Permission
from tests import cast as builders
from tests.applications.stories import (
    a_visiting_application,
    an_application,
    decider,
    has_seat,
    history,
    require,
    set_answer,
    steps,
    the,
)
from tests.cast import Cast
from tests.notifications.stories import notices, set_section
from tests.runtime.cluster.replicated_ledger import until
from tests.statements import waits_for_a_lock
from tests.web.pages import words
from tests.web.visitors import browser_of

HERE = "/admin/applications"


def press(admin: FlaskClient, application: int, decision: str, **more: object) -> TestResponse:
    """Send the form of a page that was opened just now."""
    sent = {"decision": decision, "note": "Fine.", "version": the(application).version, **more}
    return admin.post(f"{HERE}/{application}", data=sent)


def test_the_queue_shows_what_waits_longest_first(
    admin: FlaskClient, held: Section, free: Section, cast: Cast
) -> None:
    first = an_application("withdrawal", cast.ada, held)
    second = an_application("late_add", cast.ben, free)
    page = unescape(admin.get(HERE).text)
    assert page.index(f"application-{first}") < page.index(f"application-{second}")
    assert "Ada" in page
    assert "Withdrawal" in page


def test_drafts_are_nobodys_business(admin: FlaskClient, free: Section, cast: Cast) -> None:
    made = an_application("late_add", cast.ada, free)
    draft = service.start(service.KINDS["permission"], cast.ada.account_id, free.term_id, free.id)
    page = admin.get(f"{HERE}?state=").text
    assert f"application-{made}" in page
    assert f"application-{draft}" not in page
    assert admin.get(f"{HERE}/{draft}").status_code == 404
    assert press(admin, draft, "decline").status_code == 404


@pytest.mark.parametrize(
    ("query", "finds"),
    [
        ("", "ab"),
        ("?kind=credit_overload", "a"),
        ("?kind=late_add", "b"),
        ("?q=ben", "b"),
        ("?q=nobody", ""),
        ("?state=declined", "c"),
        ("?state=", "abc"),
        ("?term=1000000", ""),
        ("?stage=department", "a"),
        ("?stage=registrar", "b"),
        ("?ready=yes", "ab"),
        ("?ready=documents", ""),
        ("?stage=x&ready=y", "ab"),
        ("?term=x&kind=y&page=0", "ab"),
        ("?page=2", ""),
        ("?q=%00%25", ""),
    ],
)
def test_filters(admin: FlaskClient, free: Section, cast: Cast, query: str, finds: str) -> None:
    made = {
        "a": an_application("credit_overload", cast.ada, free),
        "b": an_application("late_add", cast.ben, free),
        "c": an_application("permission", cast.ben, free),
    }
    service.decline(made["c"], decider(made["c"], cast.max.id))
    page = admin.get(f"{HERE}{query}").text
    assert {name for name, each in made.items() if f"application-{each}" in page} == set(finds)


def test_approval_gives_the_seat(admin: FlaskClient, free: Section, cast: Cast) -> None:
    made = an_application("late_add", cast.ada, free)
    page = unescape(admin.get(f"{HERE}/{made}").text)
    assert "I need it to graduate." in page
    assert "The student gets a seat in the section at once." in page
    answer = press(admin, made, "approve")
    assert answer.location == HERE
    assert "Approved: Late add, MAT 1-02." in unescape(admin.get(HERE).text)
    assert has_seat(cast.ada, free)


def test_a_permission_is_approved_in_part(
    app: Flask, admin: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("permission", cast.ada, free)
    assert 'name="waives"' not in admin.get(f"{HERE}/{made}").text  # one rule: all or nothing
    set_answer(made, waives=["prerequisite", "time_conflict"])
    require(free)
    page = admin.get(f"{HERE}/{made}").text
    assert 'value="prerequisite" checked' in page
    assert 'value="time_conflict" checked' in page
    assert "To approve in part, clear the rules that still apply." in unescape(page)
    none = press(admin, made, "approve")
    assert none.status_code == 422
    assert "Choose at least one rule." in none.text
    unknown = press(admin, made, "approve", waives=["prerequisite", "hold"])
    assert unknown.status_code == 422
    assert press(admin, made, "decline", note="").status_code == 422  # for its reason alone
    assert press(admin, made, "approve", waives=["prerequisite"]).status_code == 303
    ada = browser_of(app, "ada")
    for client, address in (
        (admin, f"{HERE}/{made}"),
        (ada, f"/terms/{free.term_id}/applications/{made}"),
    ):
        assert "In part: Prerequisites" in unescape(client.get(address).text)


def test_a_section_that_is_offered_again_during_a_decision_lifts_no_rule_that_was_left_out(
    admin: FlaskClient, free: Section, cast: Cast
) -> None:
    """A page that finds an approval useless must not make it one of the whole application."""
    made = an_application("permission", cast.ada, free)
    set_answer(made, waives=["prerequisite", "time_conflict"])
    require(free)
    set_section(free, status="CANCELED")
    with transaction() as session, ThreadPoolExecutor(1) as pool:
        session.get_one(Application, made, with_for_update=True)
        sent = pool.submit(press, admin, made, "approve", waives=["prerequisite"])
        until(lambda: sent.done() or waits_for_a_lock())
        set_section(free, status="OPEN")
        term_catalog.expire(free.term_id)
        session.rollback()
        answer = sent.result()
    assert answer.status_code == 303
    with transaction() as session:
        (given,) = session.scalars(select(Permission))
    assert given.waives == ["prerequisite"]


def test_two_deciders_at_once_lift_the_rules_of_one_of_them(
    app: Flask, admin: FlaskClient, free: Section, cast: Cast
) -> None:
    builders.an_account("maud", is_admin=True)
    made = an_application("permission", cast.ada, free)
    set_answer(made, waives=["prerequisite", "time_conflict"])
    require(free)
    browsers = {"prerequisite": admin, "time_conflict": browser_of(app, "maud")}

    def approve(rule: str) -> int:
        return press(browsers[rule], made, "approve", waives=[rule]).status_code

    with ThreadPoolExecutor(2) as pool:
        said = dict(zip(browsers, pool.map(approve, browsers), strict=True))
    assert sorted(said.values()) == [303, 409]
    with transaction() as session:
        (given,) = session.scalars(select(Permission))
    assert said[given.waives[0]] == 303
    assert len(given.waives) == 1


def test_what_the_ledger_refuses_must_be_ticked(
    admin: FlaskClient, held: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ben, held)
    page = unescape(admin.get(f"{HERE}/{made}").text)
    assert 'name="over" value="full"' in page
    assert "window_ended" not in page
    answer = press(admin, made, "approve")
    assert answer.status_code == 409
    assert "It could not be carried out." in unescape(answer.text)
    assert the(made).state == "review"
    assert steps(cast.ben.account_id) == ["sent"]
    assert press(admin, made, "approve", over="full").status_code == 303
    assert has_seat(cast.ben, held)


def test_what_the_ledger_refuses_at_the_second_stage_comes_back_to_it(  # noqa: PLR0917  fixtures
    app: Flask,
    admin: FlaskClient,
    held: Section,
    cast: Cast,
    mia: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two_stages = replace(KINDS["late_add"], stages=("department", "registrar"))
    monkeypatch.setitem(KINDS, "late_add", two_stages)
    made = an_application("late_add", cast.ben, held)
    over = 'name="over" value="full"'
    assert over not in admin.get(f"{HERE}/{made}").text  # the first stage only forwards it
    assert press(admin, made, "approve").location == HERE
    assert over in admin.get(f"{HERE}/{made}").text
    other = browser_of(app, mia.username)
    answer = press(other, made, "approve")
    assert answer.status_code == 409
    assert "It could not be carried out." in unescape(answer.text)
    assert (the(made).state, the(made).stage) == ("review", 1)
    assert press(other, made, "approve", over="full").location == HERE
    assert has_seat(cast.ben, held)


@pytest.mark.parametrize(("decision", "state"), [("decline", "declined"), ("more", "more")])
def test_the_other_decisions(
    admin: FlaskClient, free: Section, cast: Cast, decision: str, state: str
) -> None:
    made = an_application("late_add", cast.ada, free)
    assert press(admin, made, decision).status_code == 303
    assert the(made).state == state
    assert steps(cast.ada.account_id) == ["sent", state]
    assert notices()[-1].data["note"] == "Fine."


@pytest.mark.parametrize("decision", ["approve", "decline", "more"])
def test_each_decision_needs_a_reason(
    admin: FlaskClient, free: Section, cast: Cast, decision: str
) -> None:
    made = an_application("late_add", cast.ada, free)
    answer = press(admin, made, decision, note=" ")
    assert answer.status_code == 422
    assert "Give a reason." in answer.text
    assert history(made) == ["submit"]


def test_two_people_decide_on_more_credits(
    app: Flask, admin: FlaskClient, free: Section, cast: Cast, mia: Account
) -> None:
    made = an_application("credit_overload", cast.ada, free)
    assert "Department" in admin.get(f"{HERE}/{made}").text
    assert press(admin, made, "approve").status_code == 303
    assert "The registrar decides next." in unescape(admin.get(HERE).text)
    answer = press(admin, made, "approve")
    assert answer.status_code == 409
    assert "Someone else must decide the second stage." in unescape(answer.text)
    assert press(browser_of(app, mia.username), made, "approve").status_code == 303
    assert the(made).state == "approved"


def test_a_pointless_application_says_so_before_the_decision(
    admin: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ada, free)
    set_section(free, status="CANCELED")
    for page in (admin.get(HERE).text, admin.get(f"{HERE}/{made}").text):
        assert "The section has been canceled." in page
    assert 'value="approve"' not in admin.get(f"{HERE}/{made}").text
    assert press(admin, made, "approve").status_code == 409
    assert press(admin, made, "decline").status_code == 303


def test_a_page_that_is_out_of_date_decides_nothing(
    admin: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ada, free)
    answer = press(admin, made, "approve", version="1")
    assert answer.status_code == 409
    assert "has changed since you opened this page" in unescape(answer.text)
    service.withdraw(made, cast.ada.account_id)
    assert press(admin, made, "approve").status_code == 409
    with pytest.raises(ApplicationRefused):
        service.approve(made, decider(made, cast.max.id))
    assert the(made).state == "withdrawn"


def test_a_second_press_reads_that_it_is_decided(
    admin: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ada, free)
    version = the(made).version
    assert press(admin, made, "approve", version=version).status_code == 303
    answer = press(admin, made, "approve", version=version)
    assert answer.status_code == 409
    assert "This application has already been decided." in answer.text


def test_figures_on_waiting_times(admin: FlaskClient, free: Section, cast: Cast) -> None:
    assert "None decided" in admin.get(HERE).text
    made = an_application("late_add", cast.ada, free)
    an_application("permission", cast.ada, free)
    press(admin, made, "decline")
    page = unescape(admin.get(HERE).text)
    assert "Median 0 min, 90th percentile 0 min (1 decided)" in page


def test_figures_on_waiting_times_of_each_kind(
    admin: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ada, free)
    assert 'id="by-kind"' not in admin.get(HERE).text  # one kind: the same figures
    an_application("permission", cast.ada, free)
    an_application("permission", cast.ben, free)
    press(admin, made, "decline")
    table = unescape(admin.get(HERE).text).partition('id="by-kind"')[2].partition("</table>")[0]
    rows = [words(row).split() for row in table.split("<tr>")[2:]]
    assert rows[0] == ["Late", "add", "0", "–", "0", "min", "0", "min", "1"]
    assert rows[1][-6:] == ["2", "0", "min", "–", "–", "0"]


@pytest.mark.parametrize("name", ["ada", "ben", "iris"])
def test_admins_alone_decide(app: Flask, free: Section, cast: Cast, name: str) -> None:
    made = an_application("late_add", cast.ada, free)
    browser = browser_of(app, name)
    for answer in (
        browser.get(HERE),
        browser.get(f"{HERE}/{made}"),
        browser.get(f"{HERE}/all.csv"),
        press(browser, made, "approve"),
    ):
        assert answer.status_code == 403
    assert the(made).state == "review"


def test_nonsense_is_refused(admin: FlaskClient, free: Section, cast: Cast) -> None:
    made = an_application("late_add", cast.ada, free)
    assert press(admin, made, "eat").status_code == 400
    assert press(admin, made, "decline", version="x").status_code == 400
    for number in ("999999", "99999999999999"):
        assert admin.get(f"{HERE}/{number}").status_code == 404


@pytest.mark.usefixtures("paying")
def test_an_unpaid_application_can_be_found(
    admin: FlaskClient, free: Section, vera: Account
) -> None:
    made = a_visiting_application(vera, free.term_id, paid=False)
    assert f"application-{made}" in admin.get(f"{HERE}?ready=fee").text
    assert f"application-{made}" not in admin.get(f"{HERE}?ready=yes").text
    page = admin.get(f"{HERE}/{made}").text
    assert "vera@example.org" in page
    assert "Not paid yet" in page
    assert press(admin, made, "approve").status_code == 409
