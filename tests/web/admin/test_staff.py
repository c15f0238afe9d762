"""Admins give and end roles below admin, with a reason; ending one ends all sessions."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.core.db import transaction
from portal.people import visitors
from portal.people.accounts import NewAccount, ensure_account
from portal.people.models import Account
from tests.audit_trail import entries
from tests.cast import Cast, an_account
from tests.web.pages import words
from tests.web.visitors import browser_of

BEFORE: dict[str, list[str]] = {"roles": [], "departments": []}


@pytest.fixture
def zoe(cast: Cast) -> Account:  # noqa: ARG001
    return an_account("zoe")


def save(admin: FlaskClient, who: Account, seen: list[str], *roles: str, **fields: Any) -> Any:
    form = {"seen": seen, "roles": list(roles), "reason": "New job", **fields}
    return admin.post(f"/admin/staff/{who.id}", data=form)


def roles_of(who: Account) -> set[str]:
    visitors.forget(who.id)
    found = visitors.find(who.id)
    assert found
    return set(found.roles)


def test_account_gets_a_role(app: Flask, admin: FlaskClient, zoe: Account) -> None:
    assert browser_of(app, "zoe").get("/admin/students").status_code == 403
    found = admin.get("/admin/staff?account=zoe")
    assert found.location == f"/admin/staff/{zoe.id}"
    assert save(admin, zoe, [], "help_desk").status_code == 303
    assert roles_of(zoe) == {"help_desk"}
    assert browser_of(app, "zoe").get("/admin/students").status_code == 200
    listed = words(admin.get("/admin/staff").text)
    assert "Zoe zoe Help desk" in listed
    assert "Max max Registrar’s office" in listed


def test_session_of_a_lost_role_ends(app: Flask, admin: FlaskClient, zoe: Account) -> None:
    save(admin, zoe, [], "auditor", "help_desk")
    client = browser_of(app, "zoe")
    assert client.get("/admin/audit").status_code == 200
    save(admin, zoe, ["auditor", "help_desk"], "help_desk")
    assert client.get("/admin/audit").location.startswith("/login")
    assert browser_of(app, "zoe").get("/admin/audit").status_code == 403


def test_session_goes_on_with_a_new_role(app: Flask, admin: FlaskClient, zoe: Account) -> None:
    client = browser_of(app, "zoe")
    save(admin, zoe, [], "auditor")
    assert client.get("/admin/audit").status_code == 200
    with client.session_transaction() as session:
        assert session["used"]  # so that it ends when idle, as those of admins


def test_change_is_in_the_audit_trail(admin: FlaskClient, cast: Cast, zoe: Account) -> None:
    save(admin, zoe, [], "auditor")
    save(admin, zoe, ["auditor"], "auditor")  # changes nothing
    [entry] = entries("account.roles")
    facts = entry.account_id, entry.before, entry.after, entry.reason
    assert facts == (cast.max.id, BEFORE, BEFORE | {"roles": ["auditor"]}, "New job")
    shown = words(admin.get(f"/admin/audit/{entry.id}").text)
    assert "Roles of an account changed" in shown
    assert "Auditor" in shown


def test_second_of_two_admins_reads_so(admin: FlaskClient, zoe: Account) -> None:
    save(admin, zoe, [], "auditor")
    late = save(admin, zoe, [], "help_desk")
    assert late.status_code == 409
    assert "Someone else has changed this." in late.text
    assert roles_of(zoe) == {"auditor"}


@pytest.mark.parametrize(
    ("roles", "reason", "said"),
    [(["auditor"], "", "Enter a reason."), (["admin"], "x", "admin"), (["king"], "x", "king")],
)
def test_bad_input_changes_nothing(
    admin: FlaskClient, zoe: Account, roles: list[str], reason: str, said: str
) -> None:
    answer = save(admin, zoe, [], *roles, reason=reason)
    assert answer.status_code == 422
    assert said in answer.text
    assert roles_of(zoe) == {"applicant"}


@pytest.mark.parametrize("name", ["nobody", "", "a\0b"])
def test_unknown_account_is_refused(admin: FlaskClient, name: str) -> None:
    assert admin.get("/admin/staff", query_string={"account": name}).status_code == 422
    assert admin.get("/admin/staff/99999").status_code == 404


def test_deleted_account_and_program_get_no_role(admin: FlaskClient) -> None:
    program = an_account("program", is_service=True)
    assert admin.get("/admin/staff?account=program").status_code == 422
    assert save(admin, program, [], "auditor").status_code == 404


def test_role_of_a_newer_version_survives_a_change(admin: FlaskClient, cast: Cast) -> None:
    """While two versions run side by side, the older one must not end roles of the newer one."""
    assert cast
    zoe = an_account("zoe", staff_roles=["auditor", "of_tomorrow"])
    assert save(admin, zoe, ["auditor"], "help_desk").status_code == 303
    ensure_account(NewAccount("zoe", roles=("auditor",)))
    with transaction() as session:
        roles = session.get_one(Account, zoe.id).staff_roles
    assert roles == ["auditor", "help_desk", "of_tomorrow"]


def test_applicant_with_a_role_for_staff_still_applies(app: Flask, admin: FlaskClient) -> None:
    vera = an_account("vera@u.example", email="vera@u.example")
    save(admin, vera, [], "help_desk")
    assert roles_of(vera) == {"applicant", "help_desk"}
    assert browser_of(app, vera.username).get("/admin/students").status_code == 200


def test_role_that_no_version_knows_gives_no_right(app: Flask, cast: Cast) -> None:
    assert cast
    an_account("zoe", staff_roles=["of_tomorrow"])
    assert browser_of(app, "zoe").get("/admin").status_code == 403
