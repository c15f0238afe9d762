"""Visiting students: they sign up by mail, apply in steps, pay, and become students."""

import re
from datetime import timedelta
from email.message import EmailMessage
from html import unescape
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from portal.applications import documents, reminders, service
from portal.applications.kinds import KINDS
from portal.applications.models import Application
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.notifications.mail import compose
from portal.notifications.models import OutboxEntry
from portal.people.models import Account, Student
from tests import cast as builders
from tests.applications.files import a_pdf
from tests.applications.stories import (
    ANSWERS,
    a_visiting_application,
    charges,
    decider,
    has_seat,
    steps,
    the,
)
from tests.cast import Cast
from tests.protection.captcha.solving import SCRIPT, solved
from tests.statements import looked_up
from tests.web.visitors import browser_of

ADDRESS = "vera@example.org"
PASSWORD = "four unrelated words of mine"


def mails() -> list[EmailMessage]:
    """What the outbox has, in order."""
    with transaction() as session:
        found = session.scalars(select(OutboxEntry).order_by(OutboxEntry.id)).all()
        return [mail.message for each in found if (mail := compose(session, each))]


def link() -> str:
    """The link in the last mail, without the portal's address."""
    text = mails()[-1].get_content()
    found = re.search(r"https?://[^/\s]+(/\S+)", text)
    assert found, text
    return found[1]


def signed_up(client: FlaskClient) -> FlaskClient:
    """Someone whose account has just begun."""
    client.post("/sign-up", data={"email": ADDRESS.title()})
    answer = client.post(link(), data={"name": "Vera Visitor", "fresh": PASSWORD})
    assert answer.status_code == 303
    return client


def test_an_account_begins_with_a_link_in_a_mail(client: FlaskClient, cast: Cast) -> None:
    page = client.post("/sign-up", data={"email": "Vera@Example.org"})
    assert "Check your email" in page.text
    assert mails()[-1]["To"] == ADDRESS
    here = link()
    assert client.get(here).status_code == 200
    weak = client.post(here, data={"name": "Vera Visitor", "fresh": "vera visitor"})
    assert weak.status_code == 422
    answer = client.post(here, data={"name": "Vera Visitor", "fresh": PASSWORD})
    assert answer.status_code == 303
    assert "My applications" in client.get("/").text
    assert client.get(here).status_code == 410
    client.post("/logout")
    answer = client.post("/login", data={"username": ADDRESS, "password": PASSWORD})
    assert answer.status_code == 302
    assert cast.max


def test_the_page_does_not_tell_whether_an_address_has_an_account(
    app: Flask, client: FlaskClient, cast: Cast
) -> None:
    signed_up(client)
    other = app.test_client()
    answer = other.post("/sign-up", data={"email": ADDRESS})
    assert "Check your email" in answer.text
    assert mails()[-1]["Subject"] == "You already have an account"
    sent = len(mails())
    for here in ("/recovery", "/sign-up"):
        assert "Check your email" in other.post(here, data={"email": "a@b.example"}).text
    assert len(mails()) == sent + 1  # only the one to sign up
    assert cast.max


def test_an_address_that_an_account_has_in_capitals_is_known(
    client: FlaskClient, cast: Cast
) -> None:
    capitals = ADDRESS.title()
    builders.an_account(capitals, email=capitals)
    client.post("/sign-up", data={"email": ADDRESS})
    assert mails()[-1]["Subject"] == "You already have an account"
    assert cast.max


@pytest.mark.parametrize("email", ["", "vera", "vera@", "vera@host", "a b@c.example", "@x.example"])
def test_an_address_that_gets_no_mail_is_refused(client: FlaskClient, email: str) -> None:
    assert client.post("/sign-up", data={"email": email}).status_code == 422
    assert mails() == []


def test_mails_to_an_address_are_limited(client: FlaskClient) -> None:
    codes = [client.post("/sign-up", data={"email": ADDRESS}).status_code for _ in range(7)]
    assert codes == [200] * 5 + [429] * 2
    assert len(mails()) == 5


def asked(client: FlaskClient, number: int) -> Any:
    """The answer to a link for another address, from the same network."""
    return client.post("/sign-up", data={"email": f"someone{number}@example.org"})


@pytest.mark.usefixtures("cast")
def test_many_mails_from_a_network_need_a_captcha_for_each(guarded: Flask) -> None:
    client = guarded.test_client()
    codes = [asked(client, number).status_code for number in range(20)]
    assert codes == [200] * 20
    page = asked(client, 20)
    assert page.status_code == 429
    assert "data-captcha" in page.text
    payload = solved(client.get("/login/challenge").json).to_base64()
    proof = client.post("/login/challenge", data={"payload": payload}, headers=SCRIPT)
    assert proof.status_code == 204
    assert [asked(client, number).status_code for number in (20, 21)] == [200, 429]
    assert len(mails()) == 21


def test_a_forgotten_password_is_replaced_once(app: Flask, client: FlaskClient) -> None:
    signed_up(client)
    other = app.test_client()
    other.post("/recovery", data={"email": ADDRESS})
    here, fresh = link(), "another four unrelated words"
    assert other.post(here, data={"fresh": fresh}).status_code == 303
    assert "My applications" in other.get("/").text
    assert other.post(here, data={"fresh": PASSWORD}).status_code == 410
    assert client.get("/").status_code == 302  # logged out
    third = app.test_client()
    assert third.post("/login", data={"username": ADDRESS, "password": PASSWORD}).status_code == 422
    assert third.post("/login", data={"username": ADDRESS, "password": fresh}).status_code == 302


@pytest.mark.parametrize("here", ["/sign-up/nonsense", "/recovery/nonsense"])
def test_a_wrong_link_leads_nowhere(client: FlaskClient, here: str) -> None:
    answer = client.post(here, data={"name": "Vera", "fresh": PASSWORD})
    assert answer.status_code == 410
    with transaction() as session:
        assert session.scalar(select(func.count(Account.id))) == 0


@pytest.mark.usefixtures("paying")
def test_the_whole_way_of_a_visiting_student(
    app: Flask, client: FlaskClient, free: Section, cast: Cast
) -> None:
    vera, term = signed_up(client), free.term_id
    here = f"/terms/{term}/applications"
    assert f"{here}/new/visiting" in vera.get("/").text
    assert vera.get(f"/terms/{term}").status_code == 403
    draft = vera.post(f"{here}/new/visiting").location.partition("/steps/")[0]
    for step in KINDS["visiting"].steps:
        answers = {name: ANSWERS["visiting"][name] for name in step.fields}
        answer = vera.post(f"{draft}/steps/{step.name}", data=answers)
        assert answer.status_code == 303, unescape(answer.text)
    assert answer.location == f"{draft}/documents"
    assert vera.get(f"{draft}/review").location == f"{draft}/documents"  # a transcript is required
    file = {"part": "transcript", "file": (BytesIO(a_pdf()), "grades.pdf")}
    assert vera.post(f"{draft}/documents", data=file).status_code == 303
    documents.check_due()
    assert f"{draft}/fee" in vera.get(f"{draft}/documents").text
    assert "$50.00" in vera.get(f"{draft}/fee").text
    checkout = vera.post(f"{draft}/fee").location.removeprefix("http://127.0.0.1:8000")
    assert "$50.00" in vera.get(checkout).text
    back = vera.post(checkout, data={"outcome": "paid"}).location
    assert vera.get(back).location == f"{draft}/fee"
    assert "Paid" in vera.get(f"{draft}/fee").text
    assert vera.get(f"{draft}/review").status_code == 200
    assert vera.post(f"{draft}/review").location == draft
    page = unescape(vera.get(draft).text)
    assert "Fee paid" in page
    assert "Documents checked" in page
    assert "$50.00 (USD)" in vera.get(f"{draft}/receipt").text

    made = int(draft.rsplit("/", 1)[1])
    for _stage in range(2):
        service.approve(made, decider(made, cast.max.id))
    account = the(made).account_id
    assert steps(account) == ["paid", "sent", "forward", "approved"]
    with transaction() as session:
        student = session.scalar(select(Student).where(Student.account_id == account))
    assert student
    assert student.level == "Visiting"
    window = builders.an_open_window(session_term(term))
    assert window
    answer = vera.post(f"/terms/{term}/sections/{free.id}/pick")
    assert answer.status_code in {200, 302, 303}
    assert has_seat(student, free)
    assert "Approved" in vera.get(draft).text
    assert app


def session_term(term: int) -> Any:
    with transaction() as session:
        return session.get_one(builders.Term, term)


def test_a_draft_goes_on_at_another_device(
    app: Flask, client: FlaskClient, free: Section, vera: Account
) -> None:
    here = f"/terms/{free.term_id}/applications"
    first, second = browser_of(app, "vera"), browser_of(app, "vera")
    draft = first.post(f"{here}/new/visiting").location.partition("/steps/")[0]
    answers = {name: ANSWERS["visiting"][name] for name in KINDS["visiting"].steps[0].fields}
    first.post(f"{draft}/steps/person", data=answers)
    assert draft in second.get("/").text
    assert "Other University" in second.get(f"{draft}/steps/person").text
    assert second.post(f"{here}/new/visiting").location.startswith(draft)
    assert client
    assert vera


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("courses", "XYZ 999"),
        ("courses", "MAT 1\n" * 7),
        ("courses", ""),
        ("truth", ""),
    ],
)
def test_wrong_answers_are_named(
    app: Flask, free: Section, vera: Account, field: str, value: str
) -> None:
    browser, here = browser_of(app, vera.username), f"/terms/{free.term_id}/applications"
    draft = browser.post(f"{here}/new/visiting").location.partition("/steps/")[0]
    answers = {"courses": "MAT 1", "why": "Yes.", "truth": "yes"} | {field: value}
    assert browser.post(f"{draft}/steps/courses", data=answers).status_code == 422


def test_only_the_kinds_of_a_role_can_be_started(
    app: Flask, ada: FlaskClient, free: Section, vera: Account
) -> None:
    here = f"/terms/{free.term_id}/applications/new"
    assert ada.post(f"{here}/visiting").status_code == 404
    browser = browser_of(app, vera.username)
    assert browser.post(f"{here}/late_add", data={"section": free.crn}).status_code == 404


@pytest.mark.usefixtures("paying")
def test_an_application_is_only_decided_once_the_fee_is_paid(
    free: Section, vera: Account, cast: Cast
) -> None:
    made = a_visiting_application(vera, free.term_id, paid=False)
    with pytest.raises(service.ApplicationRefused, match="unpaid"):
        service.approve(made, decider(made, cast.max.id))
    assert charges(made) == []


def test_two_stages_need_two_people_unless_there_is_one_admin(
    free: Section, vera: Account, cast: Cast
) -> None:
    made = a_visiting_application(vera, free.term_id)
    mia = builders.an_account("mia", is_admin=True)
    service.approve(made, decider(made, cast.max.id))
    with pytest.raises(service.ApplicationRefused, match="same_person"):
        service.approve(made, decider(made, cast.max.id))
    with transaction() as session:
        session.get_one(Account, mia.id).is_admin = False
    assert service.approve(made, decider(made, cast.max.id)).state == "approved"


def test_someone_who_is_a_student_already_is_not_admitted_again(
    free: Section, vera: Account, cast: Cast
) -> None:
    made = a_visiting_application(vera, free.term_id)
    builders.added(Student(account_id=vera.id, number="N1"))
    with transaction() as session:
        assert service.pointless(session.get_one(Application, made)) == "is_student"
    with pytest.raises(service.ApplicationRefused, match="is_student"):
        service.approve(made, decider(made, cast.max.id))


def test_a_draft_is_reminded_of_its_last_day_once(
    vera: Account, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    term = builders.a_term()
    drafts = service.start(KINDS["visiting"], vera.id, term.id)
    last = service.last_day(KINDS["visiting"], term.id)
    for days, told in ((4, 0), (3, 1), (0, 1)):
        monkeypatch.setattr(reminders, "today", lambda days=days: last - timedelta(days))
        assert bool(list(looked_up(reminders.due_jobs, []))) == (days == 3)
        reminders.remind_due()
        assert steps(vera.id).count("due") == told
    assert "last day" in mails()[-1].get_content()
    assert drafts
    assert cast.max


@pytest.mark.usefixtures("paying")
def test_each_step_is_in_the_inbox_and_a_toast(
    app: Flask, free: Section, vera: Account, cast: Cast
) -> None:
    made = a_visiting_application(vera, free.term_id)
    service.ask_more(made, decider(made, cast.max.id))
    browser = browser_of(app, "vera")
    page = browser.get("/inbox/count?after=0")
    assert page.status_code == 200
    assert "We need more information" in page.text
    assert "$50.00" in browser.get("/inbox").text
    assert "There is a new application" in browser_of(app, "max").get("/inbox/count?after=0").text
