"""Accounts are created and edited on pages; a student's name and address stay with the record."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.catalog.models import Department, Instructor
from portal.catalog.record_details import RecordChange, Taken
from portal.core.db import ChangedMeanwhile, transaction
from portal.notifications.mail import compose
from portal.notifications.models import OutboxEntry
from portal.people import account_editing, roles, visitors
from portal.people.account_editing import AccountDetails
from portal.people.models import Account
from portal.people.roles import Right
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.admin.records import confirmed, edited, with_reason
from tests.web.admin.sections.forms import inputs
from tests.web.admin.test_accounts import NEW as PASSWORD
from tests.web.admin.test_accounts import entry, link, links, log_in, of
from tests.web.pages import send, words
from tests.web.visitors import browser_of

NEW = "/admin/accounts/new"
FORM = {"username": "nora", "name": "Nora Novak", "email": "nora@example.org"}


def named(username: str) -> Account | None:
    with transaction() as session:
        return session.scalar(select(Account).where(Account.username == username))


def test_a_colleague_gets_an_account_and_chooses_the_password_by_mail(
    app: Flask, admin: FlaskClient, cast: Cast
) -> None:
    assert f'href="{NEW}"' in admin.get("/admin/accounts").text
    shown = send(admin, NEW, FORM)
    said = words(shown.text)
    assert "A link to choose a password goes to nora@example.org." in said
    assert "The account has no role for staff." in said
    form = with_reason(shown.text)
    one, other = (admin.post(NEW, data=form) for _ in range(2))
    assert one.status_code == 303
    assert one.location == other.location
    account = named("nora")
    assert account
    assert (account.password_hash, account.is_admin, account.staff_roles) == ("", False, [])
    found = entry("account.make")
    assert (found.account_id, found.after) == (cast.max.id, FORM)
    assert "Account created" in words(admin.get(of(account.id)).text)
    [mail] = links()
    assert mail["To"] == "Nora Novak <nora@example.org>"
    text = words(mail.get_content())
    assert mail["Subject"] == "Your account for course registration: set your first password"
    assert "The registrar’s office (Max) has set up an account for you in Fairseat" in text
    assert "You have no role yet. The office gives you one later. Your username is nora." in text
    assert "If you did not ask" not in text
    assert "Roles No role yet" in words(admin.get(of(account.id)).text)
    assert log_in(app.test_client(), "nora", "") == 422
    with transaction() as session:
        session.execute(
            update(Account).where(Account.id == account.id).values(staff_roles=["adviser"])
        )
    visitors.forget(account.id)
    admin.post(of(account.id, "/recovery"), data={"reason": "She has lost it."})
    assert "Your role: Adviser." in words(links()[-1].get_content())
    nora = app.test_client()
    assert "Set your first password" in nora.get(link()).text
    assert nora.post(link(), data={"fresh": PASSWORD}).status_code == 303
    assert log_in(app.test_client(), "nora", PASSWORD) == 302
    assert nora.get("/admin/accounts").status_code == 403


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"username": ""}, "Enter a username"),
        (
            {"username": "Nora Novak"},
            "A username has no spaces. Use dots instead, such as nora.novak.",
        ),
        ({"username": "ADA"}, "Another account has this username"),
        ({"username": "no\u200bra"}, "Use letters, digits and visible symbols only."),
        ({"username": "n" * 65}, "Username: enter at most 64 characters."),
        ({"name": ""}, "Enter a name"),
        ({"email": ""}, "Enter an email address such as"),
        ({"email": "nora"}, "Enter an email address such as"),
        ({"email": "IRIS@example.org"}, "Another account has this email address."),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    admin: FlaskClient, changes: Mapping[str, str], why: str
) -> None:
    with transaction() as session:
        iris = update(Account).where(Account.username == "iris")
        session.execute(iris.values(email="iris@example.org"))
    shown = send(admin, NEW, {**FORM, **changes})
    assert shown.status_code == 422
    assert why in words(shown.text)
    assert named("nora") is None
    assert links() == []


def test_name_and_address_are_edited_and_the_old_address_gets_a_mail(
    app: Flask, admin: FlaskClient
) -> None:
    nils = builders.an_account("nils", email="old@example.org")
    admin.post(of(nils.id, "/recovery"), data={"reason": "He has called."})
    old_link = link()
    open_page = browser_of(app, "nils")
    answer = edited(admin, of(nils.id), name="Nils Holm", email="new@example.org")
    assert answer.status_code == 303
    assert "Nils Holm" in open_page.get("/account").text
    found = entry("account.edit")
    assert found.before == {"name": "Nils", "email": "old@example.org"}
    assert found.after == {"name": "Nils Holm", "email": "new@example.org"}
    assert "Email: old@example.org → new@example.org" in words(admin.get(of(nils.id)).text)
    assert app.test_client().get(old_link).status_code == 410
    with transaction() as session:
        rows = session.scalars(select(OutboxEntry).where(OutboxEntry.kind == "alert"))
        told = [each.message["To"] for mail in rows if (each := compose(session, mail))]
    assert [each for each in told if "old@example.org" in each]


def test_stale_edit_is_refused_and_both_are_shown(app: Flask, admin: FlaskClient) -> None:
    nils = builders.an_account("nils", email="nils@example.org")
    builders.an_account("mona", is_admin=True)
    mine = inputs(admin.get(of(nils.id, "/edit")).text)
    mine["name"] = "Nils Holm"
    assert edited(browser_of(app, "mona"), of(nils.id), name="Nils Dahl").status_code == 303
    shown = send(admin, of(nils.id, "/edit"), mine)
    assert shown.status_code == 409
    assert "Someone else has changed this record" in words(shown.text)
    assert "Name Nils Dahl Nils Holm" in words(shown.text)
    assert confirmed(admin, of(nils.id, "/edit"), inputs(shown.text)).status_code == 303
    found = named("nils")
    assert found
    assert found.name == "Nils Holm"
    assert edited(admin, of(nils.id)).status_code == 422


def test_student_record_owns_the_name_and_the_instructor_keeps_another(
    admin: FlaskClient, cast: Cast
) -> None:
    answer = admin.get(of(cast.ada.account_id, "/edit"))
    assert answer.location == f"/admin/students/{cast.ada.id}/edit"
    assert admin.post(of(cast.ada.account_id, "/edit"), data=FORM).location == answer.location
    iris = cast.iris.account_id
    form = inputs(admin.get(of(iris, "/edit")).text)
    form["name"], form["email"] = "Iris M.", "iris@example.org"
    said = words(send(admin, of(iris, "/edit"), form).text)
    assert "Students still see Iris. To change that name," in said
    assert confirmed(admin, of(iris, "/edit"), form).status_code == 303
    assert "<h1><bdi>Iris</bdi></h1>" in admin.get(f"/admin/instructors/{cast.iris.id}").text


def test_address_of_someone_with_more_rights_does_not_change(
    app: Flask, admin: FlaskClient, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    mona = builders.an_account("mona", is_admin=True, email="mona@example.org")
    for account in (mona.id, cast.max.id):
        refused = edited(admin, of(account), email="mine@example.org", name="M.")
        assert "Its address can’t be changed here" in words(refused.text)
    assert edited(admin, of(mona.id), name="Mona Lund").status_code == 303
    anna = builders.an_account("anna", staff_roles=["auditor"], email="anna@example.org")
    builders.an_account("helen", staff_roles=["help_desk"])
    desk = roles.ROLES["help_desk"]
    more = roles.Role(desk.label, desk.rights | {Right.CHANGE_ACCOUNTS}, given=True)
    monkeypatch.setitem(roles.ROLES, "help_desk", more)
    helen = browser_of(app, "helen")
    refused = edited(helen, of(anna.id), email="helen@example.org")
    assert "Its address can’t be changed here" in words(refused.text)
    visitor = visitors.read(Account.username == "helen")
    assert visitor
    wanted = AccountDetails(name="Anna", email="helen@example.org")
    before = AccountDetails(name="Anna", email="anna@example.org").mark
    change = RecordChange(wanted, visitor.id, "", before)
    with pytest.raises(ChangedMeanwhile), transaction() as session:
        account_editing.edit(session, anna.id, change, visitor)


def test_address_of_someone_who_decides_applications_does_not_change(
    admin: FlaskClient, cast: Cast
) -> None:
    with transaction() as session:
        iris = session.get_one(Instructor, cast.iris.id)
        department = Department(code="SCI", name="Science")
        session.add(department)
        session.flush()
        iris.department_id = iris.decides_for_id = department.id
        account = iris.account_id
    assert account
    refused = edited(admin, of(account), email="mine@example.org")
    assert "Its address can’t be changed here" in words(refused.text)


def test_address_that_is_the_username_stays(admin: FlaskClient) -> None:
    name = "vera@example.org"
    vera = builders.an_account(name, email=name)
    refused = edited(admin, of(vera.id), email="other@example.org")
    assert "The owner logs in with this address, so it must stay." in words(refused.text)
    assert edited(admin, of(vera.id), name="Vera Vik").status_code == 303


def test_two_admins_at_once_create_one_account(app: Flask, cast: Cast) -> None:
    mona = builders.an_account("mona", is_admin=True)
    names = [("nora", cast.max.id), ("Nora", mona.id), ("other", mona.id)]

    def create(name: str, by: int) -> str:
        wanted = AccountDetails(name="Nora", email=f"{'NORA' if by == mona.id else 'nora'}@x.org")
        with app.app_context():
            try:
                with transaction() as session:
                    account_editing.create(session, name, RecordChange(wanted, by, ""))
            except Taken:
                return "taken"
        return "created"

    with ThreadPoolExecutor(3) as pool:
        said = list(pool.map(lambda each: create(*each), names))
    assert said.count("created") == 1
    assert len(entries("account.make")) == 1


def test_help_desk_sees_no_forms(app: Flask, cast: Cast) -> None:
    builders.an_account("helen", staff_roles=["help_desk"])
    helen = browser_of(app, "helen")
    assert NEW not in helen.get("/admin/accounts").text
    assert "/edit" not in helen.get(of(cast.max.id)).text
    assert helen.get(NEW).status_code == 403
    assert helen.post(of(cast.max.id, "/edit"), data=FORM).status_code == 403
