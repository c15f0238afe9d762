"""/account/password: choosing another password."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.core.db import transaction
from portal.people import passwords
from portal.people.models import Account
from tests.cast import PASSWORD, Cast
from tests.people.tokens import a_token, deeds, kept
from tests.web.visitors import browser_of

FRESH = "copper lantern walks twice"


def change(
    client: FlaskClient, fresh: str = FRESH, current: str = PASSWORD, **fields: str
) -> TestResponse:
    return client.post("/account/password", data={"current": current, "fresh": fresh, **fields})


def may_log_in(app: Flask, password: str) -> bool:
    form = {"username": "ada", "password": password}
    return app.test_client().post("/login", data=form).status_code == 302


def test_the_new_one_is_good_from_then_on_and_the_old_one_is_not(
    app: Flask, ada: FlaskClient
) -> None:
    assert change(ada).location == "/account"
    assert "Password changed." in ada.get("/account").text
    assert may_log_in(app, FRESH)
    assert not may_log_in(app, PASSWORD)


def test_all_other_sessions_end_and_this_one_begins_anew(app: Flask, ada: FlaskClient) -> None:
    phone = browser_of(app, "ada")
    before = ada.get_cookie("fairseat")
    change(ada)
    assert phone.get("/api/v1/me").status_code == 401
    assert ada.get("/api/v1/me").status_code == 200
    assert ada.get_cookie("fairseat") != before


def test_the_session_of_before_is_worth_nothing(app: Flask, ada: FlaskClient) -> None:
    cookie = ada.get_cookie("fairseat")
    assert cookie
    change(ada)
    headers = {"Cookie": f"fairseat={cookie.value}"}
    thief = app.test_client(use_cookies=False)
    assert thief.get("/api/v1/me", headers=headers).status_code == 401


def test_it_needs_the_one_that_is_in_use(app: Flask, ada: FlaskClient) -> None:
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
        ("password1234", "would be guessed soon"),
        ("ada ada ada ada", "would be guessed soon"),
        ("qwertyuiop123", "would be guessed soon"),
        ("Fairseat University", "would be guessed soon"),
        (PASSWORD, "already your password"),
    ],
)
def test_what_is_not_good_enough_is_told_and_changes_nothing(
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
def test_no_kind_of_character_is_demanded_or_forbidden(
    app: Flask, ada: FlaskClient, fresh: str
) -> None:
    assert change(ada, fresh).status_code == 303
    assert may_log_in(app, fresh)


def test_what_was_typed_is_never_shown_again(ada: FlaskClient) -> None:
    page = change(ada, "sesame", current="not hers").text
    assert "sesame" not in page
    assert "not hers" not in page


def test_tokens_go_on_unless_they_are_revoked_too(ada: FlaskClient, cast: Cast) -> None:
    a_token(cast.ada.account_id)
    change(ada)
    assert kept()[0].revoked_at is None
    change(ada, "umbrella ten rivers slow", FRESH, tokens="revoke")
    assert kept()[0].revoked_at
    assert "1 access token revoked." in ada.get("/account").text


def test_it_is_kept_that_it_was_changed_and_not_to_what(ada: FlaskClient, cast: Cast) -> None:
    change(ada)
    (deed,) = deeds()
    assert (deed.action, deed.account_id) == ("password.change", cast.ada.account_id)
    assert (deed.before, deed.after) == (None, None)


def test_whoever_holds_a_session_can_not_guess_for_long(ada: FlaskClient) -> None:
    answers = [change(ada, current="a guess").status_code for _ in range(21)]
    assert answers == [422] * 20 + [429]


def test_where_too_many_hashes_are_waited_for_one_is_asked_to_come_again(
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


def test_an_account_without_a_password_has_none_to_change(app: Flask, cast: Cast) -> None:
    ada = browser_of(app, "ada")
    with transaction() as session:
        session.get_one(Account, cast.ada.account_id).password_hash = ""
    assert ada.get("/account/password").status_code == 404
    assert change(ada).status_code == 404


def test_on_a_shared_computer_a_new_password_does_not_make_the_session_longer(
    app: Flask, cast: Cast
) -> None:
    client = app.test_client()
    client.post("/login", data={"username": "ada", "password": PASSWORD, "shared": "yes"})
    form = {"current": PASSWORD, "fresh": "four unrelated words suffice"}
    assert client.post("/account/password", data=form).status_code == 303
    cookie = client.get_cookie("fairseat")
    assert cookie
    assert cookie.expires is None
    assert client.get_cookie("device", path="/login") is None
    assert cast
