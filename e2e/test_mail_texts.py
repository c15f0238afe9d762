"""Max writes the text of a mail, looks at it, tries it, and Omar gets it in his mailbox."""

from email.message import EmailMessage

import pytest
from playwright.sync_api import expect

from e2e.mails import mails_to, read
from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.notifications.models import MailText
from tests import cast as builders
from tests.notifications.stories import give_addresses
from tests.recorder.processes import wait_for

PAGE = "/admin/mail-texts/promoted/en"


@pytest.fixture(autouse=True)
def standard_again() -> None:
    yield
    with transaction() as session:
        session.query(MailText).delete()


def newest(portal: Running, username: str, before: int) -> EmailMessage:
    """Wait for one more mail to someone."""
    wait_for(lambda: len(mails_to(portal, username)) > before, seconds=60)
    file = max(mails_to(portal, username), key=lambda it: it.stat().st_mtime_ns)
    return read(file)


def test_a_text_is_written_tried_and_sent(
    meet: Meet, portal: Running, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    builders.a_student("olga")
    give_addresses()
    boss = meet("max").page
    boss.goto(PAGE)
    boss.get_by_label("Subject").fill("Good news: {titel}")
    boss.get_by_role("button", name="Preview").click()
    expect(boss.get_by_label("Subject")).to_have_attribute("aria-invalid", "true")
    boss.get_by_label("Subject").fill("Good news: {title}")
    boss.get_by_role("button", name="Preview").click()
    expect(boss.get_by_role("region", name="Preview with made-up data")).to_contain_text(
        "Good news: "
    )
    before = len(mails_to(portal, "max"))
    boss.get_by_role("button", name="Send a test to me").click()
    expect(boss.get_by_text("Nothing is saved yet")).to_be_visible()
    assert "Good news: " in newest(portal, "max", before)["Subject"]
    boss.get_by_label("Reason").fill("A friendlier tone")
    boss.get_by_role("button", name="Save text").click()
    expect(boss.get_by_text("Text saved.")).to_be_visible()

    ada, olga = meet("ada").enter(term), meet("olga").enter(term)
    ada.pick(last_seat)
    olga.pick(last_seat)
    ada.ask(last_seat)
    ada.confirm()
    assert newest(portal, "olga", 0)["Subject"].startswith("Good news: ")
