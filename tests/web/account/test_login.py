"""GET and POST /login."""

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.test import TestResponse

from portal.core.db import transaction
from portal.people import passwords, visitors
from portal.people.models import Account
from tests.cast import PASSWORD, Cast, an_account
from tests.web.visitors import browser_of, without_token


def log_in(client: FlaskClient, username: str = "ada", **fields: str) -> TestResponse:
    data = {"username": username, "password": PASSWORD, **fields}
    return client.post("/login", data=data)


def test_anonymous_visitor_is_redirected_to_the_login(client: FlaskClient) -> None:
    answer = client.get("/teaching?x=1")
    assert answer.status_code == 302
    assert answer.location == "/login?next=/teaching?x%3D1"


def test_login_starts_a_session(client: FlaskClient, cast: Cast) -> None:  # noqa: ARG001
    assert log_in(client).status_code == 302
    assert client.get("/api/v1/me").json["name"] == "Ada"


def test_login_returns_to_the_page_of_the_ended_session(client: FlaskClient) -> None:
    page = "http://localhost/terms/1?q=calculus"
    requested = {"HX-Request": "true", "HX-Target": "dialog", "HX-Current-URL": page}
    answer = client.get("/terms/1/room/leave", headers=requested)
    assert answer.status_code == 401
    assert 'href="/login?next=/terms/1?q%3Dcalculus&amp;ended=yes"' in answer.text


def test_login_continues_to_the_requested_page(client: FlaskClient, cast: Cast) -> None:
    assert log_in(client, "iris", next="/teaching").location == "/teaching"
    assert cast.iris


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "evil",
        "",
    ],
)
def test_login_never_leads_to_another_site(
    client: FlaskClient,
    cast: Cast,  # noqa: ARG001
    elsewhere: str,
) -> None:
    assert log_in(client, next=elsewhere).location == "/"


def test_wrong_password_and_unknown_name_get_the_same_message(
    client: FlaskClient,
    cast: Cast,  # noqa: ARG001
) -> None:
    wrong = log_in(client, "ada", password="not it")
    unknown = log_in(client, "xyz", password="not it")
    assert wrong.status_code == unknown.status_code == 422
    pages = without_token(wrong.text), without_token(unknown.text)
    assert pages[0].replace("ada", "") == pages[1].replace("xyz", "")


def test_unknown_name_takes_as_long_as_a_wrong_password(
    client: FlaskClient, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction() as session:
        proper = passwords.hash_password(PASSWORD)
        session.execute(
            update(Account).where(Account.id == cast.ada.account_id).values(password_hash=proper)
        )
    work: list[str] = []
    verify = PasswordHasher.verify

    def noted(hasher: PasswordHasher, kept: str, password: str) -> bool:
        work.append(kept.rpartition("p=")[0])  # the parameters come before salt and hash
        return verify(hasher, kept, password)

    monkeypatch.setattr(PasswordHasher, "verify", noted)
    for username in ("ada", "eve"):
        log_in(client, username, password="not it")
    assert work == ["$argon2id$v=19$m=19456,t=2,"] * 2


@pytest.mark.parametrize("username", ["", " ", "a\0da", "x" * 5000, "ada'--"])
def test_odd_name_is_refused_without_an_error(
    client: FlaskClient, cast: Cast, username: str
) -> None:
    answer = log_in(client, username, password="not it")
    assert answer.status_code == 422
    assert cast.ada


def test_form_keeps_the_name_and_not_the_password(client: FlaskClient) -> None:
    page = log_in(client, "eve", password="sesame").text
    assert 'value="eve"' in page
    assert "sesame" not in page


def test_login_discards_the_previous_session(client: FlaskClient, cast: Cast) -> None:
    with client.session_transaction() as session:
        session["planted"] = "by someone else"
    log_in(client)
    with client.session_transaction() as session:
        assert "planted" not in session
    assert cast.ada


def test_deleted_account_cannot_log_in(client: FlaskClient, cast: Cast) -> None:
    with transaction() as session:
        gone = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(gone.values(deleted_at="2020-01-01"))
    assert log_in(client).status_code == 422


def test_account_without_a_password_cannot_log_in(client: FlaskClient) -> None:
    with transaction() as session:
        session.add(Account(username="empty", name="Empty"))
    assert log_in(client, "empty", password="").status_code == 422


def test_login_renews_an_outdated_hash(client: FlaskClient, cast: Cast) -> None:
    log_in(client)
    with transaction() as session:
        stored = session.get_one(Account, cast.ada.account_id).password_hash
    assert "m=19456,t=2,p=1" in stored
    assert passwords.verify(stored, PASSWORD)


def test_ten_wrong_passwords_in_a_minute_are_the_limit(client: FlaskClient, cast: Cast) -> None:
    for _ in range(10):
        assert log_in(client, password="not it").status_code == 422
    answer = log_in(client)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 3600
    assert "Too many attempts" in answer.text
    assert cast.ada


def test_wrong_passwords_elsewhere_lock_no_one_out(app: Flask, cast: Cast) -> None:
    attacker, victim = app.test_client(), app.test_client()
    for _ in range(11):
        log_in(attacker, password="not it")
    data = {"username": "ada", "password": PASSWORD}
    answer = victim.post("/login", data=data, environ_base={"REMOTE_ADDR": "10.0.0.9"})
    assert answer.status_code == 302
    assert cast.ada


def test_failures_at_one_address_lock_no_one_out_elsewhere(app: Flask, cast: Cast) -> None:
    attacker = app.test_client()
    for _ in range(130):
        log_in(attacker, password="not it")
    data = {"username": "ada", "password": PASSWORD}
    elsewhere = {"REMOTE_ADDR": "10.0.0.9"}
    answer = app.test_client().post("/login", data=data, environ_base=elsewhere)
    assert answer.status_code == 302
    assert cast.ada


def test_logins_with_the_right_password_are_not_limited(client: FlaskClient, cast: Cast) -> None:
    assert {log_in(client).status_code for _ in range(12)} == {302}
    assert cast.ada


def test_form_without_its_token_is_refused(app: Flask, cast: Cast) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    try:
        answer = log_in(app.test_client())
    finally:
        app.config["WTF_CSRF_ENABLED"] = False
    assert answer.status_code == 400
    assert "This form has expired" in answer.text
    assert cast.ada


def test_all_sessions_of_an_account_can_be_ended_at_once(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    with transaction() as session:
        ended = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(ended.values(session_epoch=2))
    visitors.forget(cast.ada.account_id)
    assert client.get("/api/v1/me").status_code == 401


def test_login_page_redirects_a_logged_in_visitor(app: Flask) -> None:
    an_account("zoe")
    assert browser_of(app, "zoe").get("/login?next=/api/v1/me").location == "/api/v1/me"


def test_cookies_are_protected_from_scripts_and_other_sites(client: FlaskClient) -> None:
    cookie = client.get("/login").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
