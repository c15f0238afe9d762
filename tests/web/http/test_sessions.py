"""Sessions cannot be planted or changed, and end with their account's epoch."""

import pytest
from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from sqlalchemy import update

from portal.core.db import transaction
from portal.people import visitors
from portal.people.models import Account
from portal.waiting_room import access_tokens
from portal.waiting_room.access_tokens import AccessToken
from tests.cast import PASSWORD, Cast
from tests.web.visitors import browser_of


def test_cookie_from_before_the_login_is_invalid(app: Flask, cast: Cast) -> None:
    client = app.test_client()
    client.get("/login")
    with client.session_transaction() as session:
        session["planted"] = "by someone else"
    planted = _cookie(client)
    _log_in(client)
    assert _cookie(client) != planted
    assert _status(app, planted) == 401
    with client.session_transaction() as session:
        assert "planted" not in session
    assert cast.ada


def test_two_logins_never_share_a_cookie(app: Flask, cast: Cast) -> None:
    assert _cookie(browser_of(app, "ada")) != _cookie(browser_of(app, "ada"))
    assert cast.ada


def test_cookie_signed_with_another_key_is_refused(app: Flask, cast: Cast) -> None:
    assert _status(app, _signed(app, "another key")) == 401
    assert _status(app, _signed(app, "")) == 401
    assert cast.ada


def test_changed_cookie_is_refused(app: Flask, cast: Cast) -> None:
    cookie = _cookie(browser_of(app, "ada"))
    assert _status(app, cookie) == 200
    for at in range(0, len(cookie) - 1, 5):
        altered = cookie[:at] + ("A" if cookie[at] != "A" else "B") + cookie[at + 1 :]
        assert _status(app, altered) == 401, at
    assert cast.ada


@pytest.mark.parametrize("cookie", ["", ".", "..", "e30", "null", "x" * 5000, "\xff\xfe", "a..."])
def test_invalid_cookie_is_no_session(app: Flask, cast: Cast, cookie: str) -> None:
    assert _status(app, cookie) == 401
    assert cast.ada


def test_access_token_is_no_session(app: Flask, cast: Cast) -> None:
    with app.app_context():
        given = access_tokens.encode(AccessToken(cast.ada.account_id, 1, 1, 2**42))
    assert _status(app, given) == 401


def test_new_epoch_ends_the_accounts_sessions(app: Flask, cast: Cast) -> None:
    ada, ben = browser_of(app, "ada"), browser_of(app, "ben")
    with transaction() as session:
        raised = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(raised.values(session_epoch=Account.session_epoch + 1))
    visitors.forget(cast.ada.account_id)
    assert ada.get("/api/v1/me").status_code == 401
    assert ben.get("/api/v1/me").status_code == 200


def test_session_of_a_deleted_account_has_ended(app: Flask, cast: Cast) -> None:
    ada = browser_of(app, "ada")
    with transaction() as session:
        gone = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(gone.values(deleted_at="2020-01-01"))
    visitors.forget(cast.ada.account_id)
    assert ada.get("/api/v1/me").status_code == 401


def test_sessions_are_never_in_addresses(app: Flask, cast: Cast) -> None:
    cookie = _cookie(browser_of(app, "ada"))
    client = app.test_client()
    assert client.get("/api/v1/me", query_string={"session": cookie}).status_code == 401
    assert client.get("/api/v1/me", query_string={"fairseat": cookie}).status_code == 401
    assert cast.ada


def _log_in(client: FlaskClient) -> None:
    form = {"username": "ada", "password": PASSWORD}
    assert client.post("/login", data=form).status_code == 302


def _cookie(client: FlaskClient) -> str:
    found = client.get_cookie("fairseat")
    assert found
    return found.value


def _status(app: Flask, cookie: str) -> int:
    client = app.test_client(use_cookies=False)
    headers = {"Cookie": f"fairseat={cookie}"}
    return client.get("/api/v1/me", headers=headers).status_code


def _signed(app: Flask, key: str) -> str:
    """Return a session of Ada's signed with another key."""
    ways = app.session_interface
    assert isinstance(ways, SecureCookieSessionInterface)
    signer = URLSafeTimedSerializer(
        key,
        salt=ways.salt,
        serializer=ways.serializer,
        signer_kwargs={"key_derivation": ways.key_derivation, "digest_method": ways.digest_method},
    )
    serializer = ways.get_signing_serializer(app)
    assert serializer
    mine = serializer.loads(_cookie(browser_of(app, "ada")))
    return str(signer.dumps(mine))
