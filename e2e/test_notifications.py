"""Nora and Omar are told what happens to them: on the page at once, in the inbox, by mail."""

import pytest
from playwright.sync_api import expect

from e2e.mails import mails_to, read
from e2e.person import Meet, Person, second_tab
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.notifications.stories import give_addresses, notices, outbox, set_section
from tests.recorder.processes import wait_for


@pytest.fixture(scope="module", autouse=True)
def newcomers(portal: Running) -> None:  # noqa: ARG001
    """Nobody has told them anything yet."""
    for name in ("nora", "omar", "pia", "quinn"):
        builders.a_student(name)
    give_addresses()


@pytest.fixture
def open_term(term: Term) -> Term:
    builders.an_open_window(term)
    return term


def counts(person: Person, unread: int) -> None:
    """See so many unread notices beside the link."""
    expect(person.page.locator("#inbox-count")).to_have_text(
        f"{unread}{unread} unread" if unread else ""
    )


def test_a_freed_seat_is_notified_in_every_way(
    meet: Meet, portal: Running, open_term: Term, last_seat: Section
) -> None:
    nora, omar = meet("nora").enter(open_term), meet("omar").enter(open_term)
    nora.pick(last_seat)
    omar.pick(last_seat)
    counts(omar, 0)
    nora.ask(last_seat)
    nora.confirm()

    expect(omar.page.locator("#toasts")).to_contain_text("You got a seat")
    counts(omar, 1)
    wait_for(lambda: mails_to(portal, "omar"))
    (file,) = mails_to(portal, "omar")
    assert "You got a seat" in read(file)["Subject"]

    omar.page.get_by_role("link", name="Inbox").click()
    item = omar.page.locator(".inbox-item")
    expect(item).to_contain_text("New")
    item.get_by_role("button", name="Mark as read").press("Enter")
    expect(item).not_to_contain_text("New")
    counts(omar, 0)
    expect(item.get_by_role("link")).to_be_focused()
    counts(nora, 0)


def test_who_wants_no_mail_gets_none_and_is_notified_all_the_same(
    meet: Meet, open_term: Term, last_seat: Section
) -> None:
    nora, pia = meet("nora").enter(open_term), meet("pia")
    pia.go("/inbox/settings")
    pia.page.get_by_label("You get a seat from a waitlist").uncheck()
    pia.page.get_by_role("button", name="Save").click()
    expect(pia.page.locator("#toasts")).to_contain_text("saved")
    pia.page.reload()
    expect(pia.page.get_by_label("You get a seat from a waitlist")).not_to_be_checked()

    pia.enter(open_term)
    nora.pick(last_seat)
    pia.pick(last_seat)
    nora.ask(last_seat)
    nora.confirm()
    counts(pia, 1)
    hers = [notice.id for notice in notices() if notice.kind == "promoted"][-1]
    assert hers not in [mail.notification_id for mail in outbox()]


def test_a_canceled_section_is_notified_at_once_with_a_next_step(
    meet: Meet, open_term: Term, section: Section
) -> None:
    nora = meet("nora").enter(open_term)
    nora.pick(section)
    elsewhere = second_tab(nora).enter(open_term)
    set_section(section, status="CANCELED")
    for window in (nora, elsewhere):
        expect(window.page.locator("#toasts")).to_contain_text("has been canceled")
        counts(window, 1)
    nora.page.locator("#toasts").get_by_role("link", name="Find another section").click()
    expect(nora.page.locator("#q")).not_to_have_value("")
    for window in (nora, elsewhere):
        counts(window, 0)


def test_the_inbox_works_without_scripts(meet: Meet, open_term: Term, section: Section) -> None:
    meet("quinn").enter(open_term).pick(section)
    set_section(section, status="CANCELED")
    quinn = meet("quinn", java_script_enabled=False)
    quinn.go("/inbox")
    quinn.asks_until(quinn.page.locator(".inbox-item"))
    counts(quinn, 1)
    quinn.page.get_by_role("button", name="Mark all as read").click()
    counts(quinn, 0)
    expect(quinn.page.locator(".inbox-item")).not_to_contain_text("New")
