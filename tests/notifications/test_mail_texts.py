"""/admin/mail-texts: what admins write for mails, and what is then sent."""

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.core.db import transaction
from portal.notifications.mail import compose, send_link
from portal.people import mail_links
from portal.people.models import Account
from tests.audit_trail import entries
from tests.cast import Cast
from tests.notifications.stories import Story, a_letter, outbox
from tests.web.visitors import browser_of

PAGE = "/admin/mail-texts/promoted/en"
OWN = {
    "subject": "Good news: {title}",
    "body": "Dear {name},\n\n{text}\n\n{link}\n\n--\n{institution}",
    "reason": "A friendlier tone.",
}


@pytest.fixture
def admin(app: Flask, story: Story) -> FlaskClient:  # noqa: ARG001
    """Return the browser of Max; everyone has an address."""
    return browser_of(app, "max")


def version(admin: FlaskClient, page: str = PAGE) -> str:
    return admin.get(page).text.split('name="version" value="')[1].split('"')[0]


def send(admin: FlaskClient, button: str = "save", page: str = PAGE, **more: str) -> Any:
    return admin.post(page, data=OWN | {"do": button, "version": version(admin, page)} | more)


def bodies() -> list[str]:
    with transaction() as session:
        mails = [compose(session, each).message for each in outbox()]
    return [str(each.get_content()).replace("\r\n", "\n") for each in mails]


def test_new_mail_has_the_text_and_mail_that_waits_keeps_its_own(
    admin: FlaskClient, story: Story, cast: Cast
) -> None:
    story.hand_over(cast.ada, cast.ben)
    before = bodies()
    assert send(admin).status_code == 303
    story.hand_over(cast.cleo, cast.dan)
    story.drop(cast.ben)
    story.promote()
    story.record()
    old, new = bodies()[0], a_letter().message
    assert old == before[0]
    assert "Good news: You got a seat in CSC 1100" in str(new["Subject"])
    text = str(new.get_content()).replace("\r\n", "\n")
    assert text.startswith("Dear ")
    assert "\n\nA seat opened and you got it." in text
    assert "/mine\n\n-- \n" in text


def test_each_language_has_its_own_text(admin: FlaskClient, story: Story, cast: Cast) -> None:
    send(admin)
    with transaction() as session:
        session.execute(update(Account).values(language="es"))
    story.hand_over(cast.ada, cast.ben)
    assert "Good news" not in str(a_letter().message["Subject"])
    assert bodies()[-1].startswith("Hola")


@pytest.mark.parametrize(
    ("field", "text", "error"),
    [
        ("subject", "{titel}", "There is no {titel}. Use only {name}, {title}, {text},"),
        ("body", "{text} {name.__class__}", "There is no {name.__class__}."),
        ("body", "Dear {name}", "Include {text}: it says what happened."),
        ("subject", "{text}", "The subject is one line"),
        ("subject", "", "Enter a subject."),
        ("body", "x" * 5001 + "{text}", "Enter at most 5000 characters."),
        ("reason", "", "Enter a reason."),
    ],
)
def test_a_text_that_cannot_be_used_is_refused(
    admin: FlaskClient, field: str, text: str, error: str
) -> None:
    answer = send(admin, **{field: text})
    assert answer.status_code == 422
    assert error in unescape(answer.text)
    assert entries("mail.text") == []


def test_codes_need_their_text_and_know_no_link(admin: FlaskClient) -> None:
    answer = send(admin, page="/admin/mail-texts/code/en")
    assert answer.status_code == 422
    assert "There is no {link}. Use only {name}, {title}, {text}, {institution}." in unescape(
        answer.text
    )


def test_a_subject_makes_no_headers_and_values_no_placeholders(
    admin: FlaskClient, story: Story, cast: Cast
) -> None:
    send(admin, subject="Hi {name}\r\nBcc: eve@evil.example")
    with transaction() as session:
        session.execute(update(Account).values(name="{title}\r\nX-Evil: 1"))
    story.hand_over(cast.ada, cast.ben)
    message = a_letter().message
    assert "Bcc" not in message
    assert "X-Evil" not in message
    assert str(message["Subject"]).startswith("Hi {title} X-Evil: 1 Bcc: eve")


def test_preview_has_made_up_data_and_stores_nothing(admin: FlaskClient) -> None:
    page = send(admin, "preview", body="<b>{name}</b>\n\n{text}").text
    assert "&lt;b&gt;Ada Lovelace&lt;/b&gt;" in page
    assert "Good news: Example: " in page
    assert entries("mail.text") == []
    assert outbox() == []


def test_a_test_goes_to_oneself_and_stores_nothing(admin: FlaskClient) -> None:
    assert "A test was sent to max@u.example." in send(admin, "test").text
    message = a_letter().message
    assert str(message["To"]) == "Max <max@u.example>"
    assert str(message["Subject"]).startswith("Good news: Example: ")
    assert entries("mail.text") == []
    with transaction() as session:
        session.execute(update(Account).values(email=""))
    answer = send(admin, "test")
    assert answer.status_code == 422
    assert "Your account has no email address." in answer.text


def test_changes_and_the_way_back_are_audited(admin: FlaskClient, story: Story, cast: Cast) -> None:
    send(admin)
    assert "Good news" in admin.get(PAGE).text
    assert "Changed" in admin.get("/admin/mail-texts").text
    page = f"{PAGE}/standard"
    back = {"reason": "No longer wanted.", "version": version(admin, page)}
    assert [admin.post(page, data=back).status_code for _ in range(2)] == [303, 303]
    story.hand_over(cast.ada, cast.ben)
    assert bodies()[-1].startswith("Hello Ben,")
    first, second = entries("mail.text")
    assert first.before is None
    assert first.after == second.before
    assert first.after
    assert first.after["subject"] == OWN["subject"]
    assert second.after is None
    assert [each.account_id for each in (first, second)] == [cast.max.id] * 2
    assert [each.reason for each in (first, second)] == [OWN["reason"], back["reason"]]


@pytest.mark.usefixtures("story")
def test_own_text_names_the_address_of_a_person_without_an_account(admin: FlaskClient) -> None:
    body = {"body": "Dear {name},\n\n{text}"}
    assert send(admin, page="/admin/mail-texts/link/en", **body).status_code == 303
    send_link("new@u.example", mail_links.SIGN_UP, "en")
    assert bodies()[-1].startswith("Dear new@u.example,")


def test_two_admins_do_not_overwrite_each_other(admin: FlaskClient) -> None:
    seen = version(admin)
    send(admin)
    assert send(admin, version=seen).status_code == 303  # the same form again changes nothing
    answer = send(admin, version=seen, subject="Other: {title}")
    assert answer.status_code == 409
    assert "Someone else has changed this text." in answer.text
    assert OWN["subject"] in answer.text  # theirs, to compare
    assert len(entries("mail.text")) == 1
    newer = answer.text.split('name="version" value="')[1].split('"')[0]
    assert send(admin, version=newer, subject="Other: {title}").status_code == 303
    assert len(entries("mail.text")) == 2


def test_saving_the_standard_text_is_no_change(admin: FlaskClient) -> None:
    page = unescape(admin.get(PAGE).text)
    body = re.search(r"<textarea[^>]*>\s*([^<]*)</textarea>", page)
    assert body
    assert send(admin, subject="{title}", body=body[1]).status_code == 303
    assert entries("mail.text") == []
