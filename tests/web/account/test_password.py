"""/account/password: change the password."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.core.db import transaction
from portal.people import passwords
from portal.people.models import Account
from tests.audit_trail import entries
from tests.cast import PASSWORD, Cast
from tests.people.tokens import a_token, kept
from tests.web.visitors import browser_of

FRESH = "copper lantern walks twice"


def change(
    client: FlaskClient, fresh: str = FRESH, current: str = PASSWORD, **fields: str
) -> TestResponse:
    return client.post("/account/password", data={"current": current, "fresh": fresh, **fields})


def may_log_in(app: Flask, password: str) -> bool:
    form = {"username": "ada", "password": password}
    return app.test_client().post("/login", data=form).status_code == 302


def test_new_password_replaces_the_old_one(app: Flask, ada: FlaskClient) -> None:
    assert change(ada).location == "/account"
    assert "Password changed." in ada.get("/account").text
    assert may_log_in(app, FRESH)
    assert not may_log_in(app, PASSWORD)


def test_password_change_ends_other_sessions_and_renews_this_one(
    app: Flask, ada: FlaskClient
) -> None:
    phone = browser_of(app, "ada")
    before = ada.get_cookie("fairseat")
    change(ada)
    assert phone.get("/api/v1/me").status_code == 401
    assert ada.get("/api/v1/me").status_code == 200
    assert ada.get_cookie("fairseat") != before


def test_old_session_is_invalid_after_a_password_change(app: Flask, ada: FlaskClient) -> None:
    cookie = ada.get_cookie("fairseat")
    assert cookie
    change(ada)
    headers = {"Cookie": f"fairseat={cookie.value}"}
    thief = app.test_client(use_cookies=False)
    assert thief.get("/api/v1/me", headers=headers).status_code == 401


def test_password_change_needs_the_current_password(app: Flask, ada: FlaskClient) -> None:
    answer = change(ada, current="not hers")
    assert answer.status_code == 422
    assert "Wrong password. Try again." in answer.text
    assert may_log_in(app, PASSWORD)
    assert ada.get("/api/v1/me").status_code == 200


@pytest.mark.parametrize(
    ("fresh", "why"),
    [
        ("", "at least 12 characters"),
        ("short", "at least 12 characters"),
        ("eleven char", "at least 12 characters"),
        ("x" * 1025, "at most 1024 characters"),
        ("password1234", "is easy to guess"),
        ("ada ada ada ada", "is easy to guess"),
        ("qwertyuiop123", "is easy to guess"),
        ("Fairseat University", "is easy to guess"),
        (PASSWORD, "already your password"),
    ],
)
def test_weak_password_is_refused_with_the_reason(
    app: Flask, ada: FlaskClient, fresh: str, why: str
) -> None:
    answer = change(ada, fresh)
    assert answer.status_code == 422
    assert why in answer.text
    assert may_log_in(app, PASSWORD)


@pytest.mark.parametrize(
    "fresh",
    ["lowercaseletterswithoutend", "猫は窓の外を見ている、雨だ", "g" + "h7%Rk;2Pd" * 14],
)
def test_any_characters_are_allowed(app: Flask, ada: FlaskClient, fresh: str) -> None:
    assert change(ada, fresh).status_code == 303
    assert may_log_in(app, fresh)


def test_typed_passwords_are_never_shown(ada: FlaskClient) -> None:
    page = change(ada, "sesame", current="not hers").text
    assert "sesame" not in page
    assert "not hers" not in page


def test_tokens_stay_valid_unless_revoked(ada: FlaskClient, cast: Cast) -> None:
    a_token(cast.ada.account_id)
    change(ada)
    assert kept()[0].revoked_at is None
    change(ada, "umbrella ten rivers slow", FRESH, tokens="revoke")
    assert kept()[0].revoked_at
    assert "1 access token revoked." in ada.get("/account").text


def test_audit_trail_has_the_change_without_the_password(ada: FlaskClient, cast: Cast) -> None:
    change(ada)
    (entry,) = entries()
    assert (entry.action, entry.account_id) == ("password.change", cast.ada.account_id)
    assert (entry.before, entry.after) == (None, None)


def test_guessing_the_current_password_is_limited(ada: FlaskClient) -> None:
    answers = [change(ada, current="a guess").status_code for _ in range(21)]
    assert answers == [422] * 20 + [429]


def test_password_change_is_refused_while_too_many_hashes_wait(
    app: Flask, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: str) -> bool:
        raise passwords.TooManyError

    with monkeypatch.context() as crowd:
        crowd.setattr(passwords, "verify", full)
        answer = change(ada)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "Nothing was changed" in answer.text
    assert may_log_in(app, PASSWORD)


def test_account_without_a_password_cannot_change_it(app: Flask, cast: Cast) -> None:
    ada = browser_of(app, "ada")
    with transaction() as session:
        session.get_one(Account, cast.ada.account_id).password_hash = ""
    assert ada.get("/account/password").status_code == 404
    assert change(ada).status_code == 404


def test_password_change_does_not_extend_a_shared_session(app: Flask, cast: Cast) -> None:
    client = app.test_client()
    client.post("/login", data={"username": "ada", "password": PASSWORD, "shared": "yes"})
    form = {"current": PASSWORD, "fresh": "four unrelated words suffice"}
    assert client.post("/account/password", data=form).status_code == 303
    cookie = client.get_cookie("fairseat")
    assert cookie
    assert cookie.expires is None
    assert client.get_cookie("device", path="/login") is None
    assert cast
