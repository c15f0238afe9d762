"""`fairseat account USERNAME` makes accounts for admins and imported teachers."""

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from sqlalchemy import select

from portal.catalog.models import Instructor
from portal.core.db import transaction
from portal.notifications.models import OutboxEntry
from portal.people import visitors
from portal.people.models import Account
from portal.runtime.cli import main
from tests.audit_trail import entries
from tests.cast import a_department, an_account
from tests.web.visitors import browser_of

pytestmark = pytest.mark.usefixtures("backend")


def account(*arguments: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(main, ["account", *arguments], input=typed)


def refused(*arguments: str, typed: str | None = None) -> str:
    answer = account(*arguments, typed=typed)
    assert answer.exit_code == 1
    return answer.output


def kept(username: str) -> Account | None:
    with transaction() as session:
        return session.scalar(select(Account).where(Account.username == username))


def roles(username: str) -> set[str]:
    found = kept(username)
    assert found
    visitors.forget(found.id)
    visitor = visitors.find(found.id)
    assert visitor
    return set(visitor.roles)


def imported(name: str, *departments: str) -> None:
    """Teachers as an import leaves them: with a name and a department, without an account."""
    codes = [a_department(code) for code in departments]
    with transaction() as session:
        session.add_all(Instructor(name=name, department_id=code.id) for code in codes)


def instructor_of(username: str) -> str:
    with transaction() as session:
        found = session.scalars(select(Account).where(Account.username == username)).one()
        return ", ".join(
            f"{each.name} of {each.department.code if each.department else None}"
            for each in found.instructors
        )


def test_an_admin_can_log_in_with_the_password_that_was_printed(app: Flask) -> None:
    password = account("reg", "--name", "Registrar", "--admin").stdout.strip()
    assert len(password) >= 16
    form = {"username": "reg", "password": password}
    browser = app.test_client()
    assert browser.post("/login", data=form).status_code == 302
    assert browser.get("/admin").status_code in {200, 302}
    assert roles("reg") == {"admin"}


def test_no_two_passwords_are_alike() -> None:
    first, second = (account(who, "--name", "Someone").stdout for who in ("one", "two"))
    assert first != second


def test_the_password_may_be_given(app: Flask) -> None:
    given = account("zoe", "--name", "Zoe", "--password-stdin", typed="a seat for everyone\n")
    assert (given.exit_code, given.stdout) == (0, "")
    assert browser_of(app, "zoe")


def test_an_imported_instructor_gets_an_account() -> None:
    imported("Okafor", "CSC")
    assert account("okafor", "--name", "N. Okafor", "--teaches", "Okafor").exit_code == 0
    assert roles("okafor") == {"instructor"}
    assert instructor_of("okafor") == "Okafor of CSC"


def test_of_namesakes_one_must_be_chosen() -> None:
    imported("Kim", "CSC", "MAT")
    told = refused("kim", "--name", "Kim", "--teaches", "Kim")
    assert "Several instructors are named 'Kim'. Choose a department: CSC, MAT" in told
    assert kept("kim") is None
    done = account("kim", "--name", "Kim", "--teaches", "Kim", "--department", "MAT")
    assert done.exit_code == 0
    assert instructor_of("kim") == "Kim of MAT"


@pytest.mark.usefixtures("cast")
def test_an_instructor_with_an_account_is_no_one_elses() -> None:
    told = refused("eve", "--name", "Eve", "--teaches", "Iris")
    assert "No instructor without an account is named 'Iris'." in told
    assert kept("eve") is None


def test_an_account_may_be_several_instructors() -> None:
    imported("Kim", "CSC", "MAT")
    imported("Kim, J.", "CSC")
    account("kim", "--name", "Kim", "--teaches", "Kim, J.")
    for code in ("CSC", "MAT"):
        done = account("kim", "--teaches", "Kim", "--department", code)
        assert done.exit_code == 0
    assert instructor_of("kim") == "Kim of CSC, Kim of MAT, Kim, J. of CSC"
    assert roles("kim") == {"instructor"}


def test_an_account_that_is_there_gets_the_role_and_keeps_its_password(app: Flask) -> None:
    before = an_account("zoe")
    done = account("zoe", "--admin", "--name", "Another")
    assert (done.exit_code, done.stdout) == (0, "")
    after = kept("zoe")
    assert after
    assert (after.name, after.password_hash) == (before.name, before.password_hash)
    assert roles("zoe") == {"admin"}
    assert browser_of(app, "zoe")


def test_a_role_once_given_stays() -> None:
    imported("Okafor", "CSC")
    account("okafor", "--name", "Okafor", "--admin")
    account("okafor", "--teaches", "Okafor")
    assert roles("okafor") == {"admin", "instructor"}


def test_roles_below_admin_are_given_and_ended(app: Flask) -> None:
    an_account("zoe")
    assert account("zoe", "--role", "auditor", "--role", "help_desk").exit_code == 0
    assert roles("zoe") == {"auditor", "help_desk"}
    browser = browser_of(app, "zoe")
    assert browser.get("/admin/audit").status_code == 200
    assert account("zoe", "--end-role", "auditor").exit_code == 0
    assert roles("zoe") == {"help_desk"}
    assert browser.get("/admin").location.startswith("/login")
    entry = entries()[-1]
    assert (entry.action, entry.after) == (
        "account.roles",
        {"roles": ["help_desk"], "departments": []},
    )


def test_a_scheduler_has_departments() -> None:
    a_department("CSC")
    assert "There is no department HIS" in refused("sam", "--name", "Sam", "--schedules", "HIS")
    assert account("sam", "--name", "Sam", "--schedules", "CSC").exit_code == 0
    assert roles("sam") == {"scheduler"}
    assert account("sam", "--end-role", "scheduler").exit_code == 0
    assert roles("sam") == {"applicant"}


def test_a_role_that_is_not_there_can_not_be_ended() -> None:
    an_account("zoe")
    assert "has no role auditor" in refused("zoe", "--end-role", "auditor")
    assert "There is no account 'eve'" in refused("eve", "--end-role", "auditor")
    assert account("zoe", "--end-role", "auditor", "--admin").exit_code == 2
    assert account("zoe", "--role", "admin").exit_code == 2


def test_what_was_done_is_kept() -> None:
    an_account("zoe")
    account("zoe", "--admin")
    account("max", "--name", "Max")
    changed, made = entries()
    assert [changed.action, made.action] == ["account.change", "account.make"]
    assert (changed.before or {})["admin"] is False
    assert (changed.after or {})["admin"] is True
    assert (made.before, (made.after or {})["username"]) == (None, "max")
    assert "password" not in str([each.after for each in entries()])


@pytest.mark.parametrize(
    ("arguments", "typed", "why"),
    [
        (["zoe", "--admin"], None, "A new account needs --name"),
        (["z" * 65, "--name", "Zoe"], None, "A username has 64"),
        ([" zoe", "--name", "Zoe"], None, "no space at its ends"),
        (["", "--name", "Zoe"], None, "needs a username"),
        (["zoe", "--name", "Z" * 161], None, "A name has 160"),
        (["zoe", "--name", "Zoe", "--password-stdin"], "short\n", "at least 12 characters"),
        (["zoe", "--name", "Zoe", "--teaches", "Nobody"], None, "No instructor without an account"),
    ],
)
def test_what_makes_no_account_is_reported(
    arguments: list[str], typed: str | None, why: str
) -> None:
    assert why in refused(*arguments, typed=typed)
    with transaction() as session:
        assert session.scalars(select(Account)).all() == []


def test_an_account_that_is_there_needs_a_role_to_get() -> None:
    an_account("zoe")
    assert "Give it a role with" in refused("zoe", "--name", "Zoe")
    told = refused("zoe", "--admin", "--password-stdin", typed="a new password\n")
    assert "Its password was not changed" in told


def test_a_department_alone_says_nothing() -> None:
    assert account("zoe", "--department", "CSC").exit_code == 2


def test_the_role_admin_ends_but_not_for_the_last_one(app: Flask) -> None:
    account("max", "--name", "Max", "--admin")
    assert "is the only admin" in refused("max", "--end-role", "admin")
    an_account("zora", is_admin=True)
    browser = browser_of(app, "zora")
    assert account("zora", "--end-role", "admin").exit_code == 0
    assert "admin" not in roles("zora")
    assert browser.get("/admin/operations").location.startswith("/login")
    assert "has no role admin" in refused("zora", "--end-role", "admin")


def test_an_account_gets_an_address_and_the_one_before_is_warned() -> None:
    account("zoe", "--name", "Zoe", "--admin", "--email", "zoe@u.example")
    assert account("zoe", "--email", "z@u.example").exit_code == 0
    zoe = kept("zoe")
    assert zoe
    assert (zoe.email, zoe.is_admin) == ("z@u.example", True)
    with transaction() as session:
        (warning,) = session.scalars(select(OutboxEntry)).all()
    entry = entries()[-1]
    assert (warning.data or {})["address"] == "zoe@u.example"
    assert (entry.before or {})["email"] == "zoe@u.example"
    assert (entry.after or {})["email"] == "z@u.example"


def test_an_address_must_be_one_and_that_of_a_login_stays() -> None:
    assert account("zoe", "--name", "Zoe", "--email", "nonsense").exit_code == 2
    assert kept("zoe") is None
    an_account("vera@u.example", email="vera@u.example")
    assert "must stay" in refused("vera@u.example", "--email", "other@u.example")


def test_a_username_of_another_account_in_capitals_is_refused() -> None:
    an_account("ada")
    for more in ((), ("--password-stdin",)):
        answer = refused("ADA", "--name", "Another Ada", *more, typed="four words of my own\n")
        assert "The username 'ADA' is taken, apart from upper and lower case." in answer
    assert kept("ADA") is None
