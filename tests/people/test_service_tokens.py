"""Service tokens and signing keys: made on a page or by a command, shown once, revoked, traced."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.core.db import transaction
from portal.people import service_tokens, signing_keys
from portal.people.models import Account, ApiToken
from portal.people.roles import PERSONAL_SCOPES, ROLES, SERVICE_SCOPES, Right
from portal.people.tokens import NameTakenError, TokenRequest
from tests import cast as builders
from tests import commands
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.api.callers import Caller
from tests.web.visitors import browser_of

PAGE = "/admin/service-tokens"
WHY = "The advising system registers students."


def wish(**changed: Any) -> dict[str, Any]:
    return {
        "name": "Advising system",
        "scopes": ["registrations"],
        "days": "90",
        "reason": WHY,
        **changed,
    }


def shown(text: str) -> str:
    found = re.search(r"fs_[\w-]{43}", text)
    return found[0] if found else ""


def works(app: Flask, secret: str) -> bool:
    return Caller(app.test_client(), secret).get("/semesters").status_code == 200


def test_a_token_is_shown_once_and_stored_as_a_hash(app: Flask, admin: FlaskClient) -> None:
    answer = admin.post(PAGE, data=wish())
    secret = shown(answer.text)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert works(app, secret)
    page = admin.get(PAGE).text
    assert "Advising system" in page
    assert not shown(page)
    with transaction() as session:
        (stored,) = session.scalars(select(ApiToken))
        assert secret.encode() not in stored.digest
        assert stored.expires_at
        assert stored.used_at


def test_making_and_revoking_are_in_the_audit_trail(app: Flask, admin: FlaskClient) -> None:
    secret = shown(admin.post(PAGE, data=wish()).text)
    (token,) = service_tokens.live()
    answer = admin.post(f"{PAGE}/{token.id}/revoke", data={"reason": "The contract ended."})
    assert answer.status_code in {200, 302, 303}
    assert not works(app, secret)
    assert not service_tokens.live()
    for action, reason in (("token.make", WHY), ("token.revoke", "The contract ended.")):
        (entry,) = entries(action)
        assert (entry.who, entry.reason) == ("Max", reason)


@pytest.mark.parametrize("change", [{"name": ""}, {"scopes": []}, {"days": "0"}, {"reason": ""}])
def test_an_incomplete_form_makes_no_token(admin: FlaskClient, change: dict[str, Any]) -> None:
    assert admin.post(PAGE, data=wish(**change)).status_code == 422
    assert not service_tokens.live()


def test_a_name_belongs_to_one_token(admin: FlaskClient) -> None:
    admin.post(PAGE, data=wish())
    assert admin.post(PAGE, data=wish()).status_code == 422
    assert len(service_tokens.live()) == 1


def test_two_tokens_made_at_once_do_not_share_a_name(app: Flask, cast: Cast) -> None:  # noqa: ARG001
    def create(_number: int) -> bool:
        meeting.wait()
        try:
            service_tokens.create(TokenRequest("Calendar", ("windows",)), by=None)
        except NameTakenError:
            return False
        return True

    meeting = Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(create, range(8))) == 1
    assert len(service_tokens.live()) == 1


def test_the_list_is_shown_while_a_token_is_being_changed(admin: FlaskClient) -> None:
    admin.post(PAGE, data=wish())
    with ThreadPoolExecutor(1) as pool, transaction() as session:
        session.execute(select(ApiToken).with_for_update())
        listing = pool.submit(service_tokens.live)
        assert len(listing.result(timeout=10)) == 1


def test_the_command_revokes_all_tokens_of_the_name(app: Flask, cast: Cast) -> None:  # noqa: ARG001
    secrets = [
        service_tokens.create(TokenRequest(name, ("windows",)), by=None) for name in ("One", "Two")
    ]
    with transaction() as session:  # as made by earlier versions
        session.execute(update(ApiToken).values(name="Calendar"))
    ended = commands.run("token", "Calendar", "--service", "--revoke")
    assert ended.returncode == 0, ended.stderr
    assert not any(works(app, each) for each in secrets)
    assert commands.run("token", "Calendar", "--service", "--revoke").returncode == 1


def test_the_account_of_a_program_can_not_log_in(app: Flask, admin: FlaskClient) -> None:
    admin.post(PAGE, data=wish())
    with transaction() as session:
        (account,) = session.scalars(select(Account).where(Account.is_service))
        assert (account.password_hash, account.email) == ("", "")
    for password in ("", "service"):
        form = {"username": account.username, "password": password}
        assert app.test_client().post("/login", data=form).status_code != 302


def test_a_command_makes_and_revokes_a_token(app: Flask, cast: Cast) -> None:
    made = commands.run("token", "Calendar", "--service", "--scope", "windows")
    assert made.returncode == 0, made.stderr
    assert works(app, made.stdout.strip())
    (token,) = service_tokens.live()
    assert (token.name, list(token.scopes)) == ("Calendar", ["windows"])
    ended = commands.run("token", "Calendar", "--service", "--revoke")
    assert ended.returncode == 0, ended.stderr
    assert not works(app, made.stdout.strip())
    wrong = commands.run("token", "ada", "--scope", "windows")
    assert wrong.returncode == 2
    assert cast.ada


def test_a_command_rotates_the_keys(cast: Cast) -> None:
    signing_keys.forget()
    first = signing_keys.key_to_sign().kid
    rotated = commands.run("keys", "rotate")
    listed = commands.run("keys", "list")
    assert listed.stdout.split() == [rotated.stdout.strip(), first]
    assert "PRIVATE" not in rotated.stdout + rotated.stderr
    assert len(entries("signing_key.make")) == 2
    assert cast.max


def test_no_one_gives_a_program_a_scope_beyond_their_own_rights(
    app: Flask, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cast
    builders.an_account("helga", staff_roles=["help_desk"])
    more = {Right.SEE_SERVICE_TOKENS, Right.CHANGE_SERVICE_TOKENS, Right.CHANGE_WINDOWS}
    role = ROLES["help_desk"]
    monkeypatch.setitem(ROLES, "help_desk", replace(role, rights=role.rights | more))
    helga = browser_of(app, "helga")
    offered = re.findall(r'name="scopes"[^>]* value="([^"]+)"', helga.get(PAGE).text)
    assert set(offered) == {"windows", "waiting-room"}
    assert helga.post(PAGE, data=wish()).status_code == 422  # for registrations
    assert not service_tokens.live()
    assert helga.post(PAGE, data=wish(scopes=["windows"])).status_code == 201


def test_each_scope_of_a_view_is_in_the_table(app: Flask) -> None:
    named = {each.scope for each in app.view_functions.values() if hasattr(each, "scope")}
    assert named <= SERVICE_SCOPES.keys() | PERSONAL_SCOPES.keys()
    assert named >= SERVICE_SCOPES.keys()
