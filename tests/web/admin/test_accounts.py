"""Accounts are deactivated and activated, unlocked, and get links for new passwords."""

import re
from email.message import EmailMessage

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.notifications.mail import compose
from portal.notifications.models import OutboxEntry
from portal.people import accounts, tokens, visitors
from portal.people.accounts import AccountRefusedError
from portal.people.models import Account
from portal.people.tokens import TokenRequest
from tests import cast as builders
from tests.audit_trail import entry
from tests.cast import PASSWORD, Cast
from tests.web.pages import words
from tests.web.visitors import browser_of

REASON = {"reason": "She has called and proved who she is."}
NEW = "four unrelated words of mine"


def of(person: int, act: str = "") -> str:
    return f"/admin/accounts/{person}{act}"


def with_mail(account: int, address: str = "ada@example.org") -> None:
    with transaction() as session:
        session.execute(update(Account).where(Account.id == account).values(email=address))


def links() -> list[EmailMessage]:
    """Return the mails with links in the outbox, in order."""
    with transaction() as session:
        found = select(OutboxEntry).where(OutboxEntry.kind == "link").order_by(OutboxEntry.id)
        mails = (compose(session, each) for each in session.scalars(found))
        return [each.message for each in mails if each]


def link() -> str:
    """Return the address of the last link, without the portal's address."""
    found = re.search(r"https?://[^/\s]+(/recovery/\S+)", links()[-1].get_content())
    assert found
    return found[1]


def log_in(client: FlaskClient, username: str, password: str) -> int:
    return client.post("/login", data={"username": username, "password": password}).status_code


def test_deactivated_account_is_out_at_once_and_can_come_back(
    app: Flask, admin: FlaskClient, term: Term, cast: Cast
) -> None:
    assert term
    ada, token = browser_of(app, "ada"), tokens.create_for("ada", TokenRequest("a script"))
    bearer = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/api/v1/semesters", headers=bearer).status_code == 200
    page = admin.get(of(cast.ada.account_id, "/deactivate")).text
    assert "Its sessions and access tokens end at once." in page
    assert admin.post(of(cast.ada.account_id, "/deactivate"), data={}).status_code == 422
    for _ in range(2):
        done = admin.post(of(cast.ada.account_id, "/deactivate"), data=REASON)
        assert done.status_code == 303
    assert ada.get("/").location.startswith("/login")
    assert app.test_client().get("/api/v1/semesters", headers=bearer).status_code == 401
    assert log_in(app.test_client(), "ada", PASSWORD) == 422
    assert visitors.read(Account.username == "ada") is None
    found = entry("account.deactivate")
    assert (found.account_id, found.reason) == (cast.max.id, REASON["reason"])
    shown = words(admin.get(of(cast.ada.account_id)).text)
    assert "Deactivated" in shown
    assert "Account deactivated" in shown
    assert admin.get(f"/admin/students/{cast.ada.id}").status_code == 200
    assert admin.post(of(cast.ada.account_id, "/activate"), data=REASON).status_code == 303
    assert log_in(app.test_client(), "ada", PASSWORD) == 302
    entry("account.activate")
    assert tokens.live_tokens(cast.ada.account_id) == []


def test_admins_and_oneself_are_not_deactivated(admin: FlaskClient, cast: Cast) -> None:
    mona = builders.an_account("mona", is_admin=True)
    for account, why in ((cast.max.id, "your own account"), (mona.id, "registrar’s office")):
        assert why in admin.get(of(account, "/deactivate")).text
        assert admin.post(of(account, "/deactivate"), data=REASON).status_code == 409
        assert "/deactivate" not in admin.get(of(account)).text
        with pytest.raises(AccountRefusedError):
            accounts.set_active(account, cast.max.id, "", active=False)


def test_registrar_sends_a_link_and_never_sees_it(
    app: Flask, admin: FlaskClient, cast: Cast
) -> None:
    account = cast.ada.account_id
    assert "no email address" in admin.get(of(account, "/recovery")).text
    assert admin.post(of(account, "/recovery"), data=REASON).status_code == 409
    with_mail(account)
    ada = browser_of(app, "ada")
    answer = admin.post(of(account, "/recovery"), data=REASON)
    assert answer.status_code == 303
    [mail] = links()
    assert mail["To"] == "Ada <ada@example.org>"
    assert "Your username is ada." in mail.get_content()
    here = link()
    assert here not in admin.get(answer.location).text
    assert entry("account.recovery").reason == REASON["reason"]
    assert ada.get("/account").status_code == 200
    phone = app.test_client()
    assert phone.get(here).status_code == 200
    assert phone.post(here, data={"fresh": "short"}).status_code == 422
    assert phone.post(here, data={"fresh": NEW}).status_code == 303
    assert "Ada" in phone.get("/account").text
    assert ada.get("/account").status_code == 302  # other sessions have ended
    assert phone.get(here).status_code == 410  # it works once
    assert log_in(app.test_client(), "ada", NEW) == 302
    found = entry("password.recover")
    assert (found.account_id, found.subject) == (account, f"account:{account}")


def test_links_of_deactivated_accounts_do_not_work(
    app: Flask, admin: FlaskClient, cast: Cast
) -> None:
    account = cast.ada.account_id
    with_mail(account)
    app.test_client().post("/recovery", data={"email": "ada@example.org"})
    here = link()
    admin.post(of(account, "/deactivate"), data=REASON)
    assert app.test_client().get(here).status_code == 410
    assert "Activate it first" in admin.get(of(account, "/recovery")).text
    app.test_client().post("/recovery", data={"email": "ada@example.org"})
    assert links() == []


def test_a_link_to_an_earlier_address_does_not_work(
    app: Flask, admin: FlaskClient, cast: Cast
) -> None:
    with_mail(cast.ada.account_id, "wrong@example.org")
    admin.post(of(cast.ada.account_id, "/recovery"), data=REASON)
    here = link()
    with_mail(cast.ada.account_id, "ada@example.org")
    assert app.test_client().get(here).status_code == 410


def test_a_long_address_recovers_a_password(app: Flask, cast: Cast) -> None:
    long = f"{'a' * 60}@{'b' * 60}.example.org"
    with_mail(cast.ada.account_id, long)
    assert app.test_client().post("/recovery", data={"email": long}).status_code == 200
    assert links()[-1]["To"] == f"Ada <{long}>"


def test_everyone_with_an_address_recovers_a_password_by_mail(app: Flask, cast: Cast) -> None:
    with_mail(cast.ada.account_id, "Shared@example.org")
    with_mail(cast.max.id, "shared@example.org")
    client = app.test_client()
    assert 'href="/recovery"' in client.get("/login").text
    known = client.post("/recovery", data={"email": "shared@example.org"})
    unknown = client.post("/recovery", data={"email": "nobody@example.org"})
    said = words(known.text).replace("shared@", "nobody@")
    assert said == words(unknown.text)
    [mail] = links()
    assert mail["To"] == "shared@example.org"
    assert "Your username is ada." in mail.get_content()
    assert "Your username is max." in mail.get_content()
    with transaction() as session:  # the request did the same for both
        rows = session.scalars(select(OutboxEntry).order_by(OutboxEntry.id)).all()
        assert [(each.kind, each.account_id) for each in rows] == [("link", None)] * 2
    assert client.post(link(), data={"fresh": NEW}).status_code == 303


def test_two_uses_of_a_link_at_once_change_one_password(cast: Cast) -> None:
    accounts.recover(cast.ada.account_id, 1, NEW)
    with pytest.raises(accounts.InvalidLink):
        accounts.recover(cast.ada.account_id, 1, f"{NEW} again")
    assert accounts.is_password(cast.ada.account_id, NEW)


def test_unlocked_login_can_be_tried_at_once(app: Flask, admin: FlaskClient, cast: Cast) -> None:
    client = app.test_client()
    codes = [log_in(client, "ada", "wrong") for _ in range(12)]
    assert codes[-1] == 429
    assert admin.post(of(cast.ada.account_id, "/unlock"), data=REASON).status_code == 303
    assert log_in(client, "ada", PASSWORD) == 302
    assert log_in(app.test_client(), "ben", PASSWORD) == 302
    assert entry("account.unlock").subject == f"account:{cast.ada.account_id}"


def test_help_desk_sees_accounts_and_changes_none(app: Flask, cast: Cast) -> None:
    builders.an_account("helen", staff_roles=["help_desk"])
    helen = browser_of(app, "helen")
    assert "ada" in helen.get("/admin/accounts?q=ada").text
    page = helen.get(of(cast.ada.account_id)).text
    for act in ("deactivate", "recovery", "unlock"):
        assert f"/{act}" not in page
        assert helen.post(of(cast.ada.account_id, f"/{act}"), data=REASON).status_code == 403
    assert helen.get(of(999999)).status_code == 403 or helen.get(of(999999)).status_code == 404
