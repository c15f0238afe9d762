"""No import takes an admin's account away, changes one with a role for staff, or restores one."""

from datetime import UTC, datetime
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from portal.catalog.models import Instructor
from portal.core.db import transaction
from portal.people.models import Account, Student
from tests import cast as builders
from tests.cast import Cast
from tests.exchange.enrolled import the_account
from tests.exchange.makers import change_rows, latest, page, press, sent
from tests.exchange.oneroster import School

ADMIN = "This account has a role for staff. Imports don’t change, remove or restore accounts of"
STAFF = "This account has a role for staff. Imports don’t change its name or email."
SENIOR = '{"student": {"year": "Senior"}}'


def send(browser: FlaskClient, school: School, **form: str) -> int:
    """An import of that school, read."""
    return sent(browser, school.zip(), layout="oneroster", **form)


def person(username: str, name: str) -> dict[str, str]:
    return {
        "sourcedId": f"u-{username}",
        "enabledUser": "true",
        "username": username,
        "givenName": name,
        "familyName": "",
        "identifier": f"N-{username}",
    }


def whole(*people: dict[str, str]) -> School:
    """A file of all users there are, each of them a student."""
    school = School("1.1").only("users", mode="bulk")
    school.rows["users"] = [each | {"role": "student"} for each in people]
    return school


def test_an_admin_named_by_an_earlier_file_is_not_removed(boss: FlaskClient, cast: Cast) -> None:
    maxim = person("max", "Max") | {"email": cast.max.email}
    press(boss, send(boss, whole(maxim, person("zoe", "Zoe"), person("ada", "Ada"))), "apply")
    import_id = send(boss, whole(person("zoe", "Zoe")), remove="yes")
    assert ADMIN in page(boss, import_id)
    assert latest().counts["account"]["removed"] == 1
    press(boss, import_id, "apply")
    assert latest().state == "done"
    with transaction() as session:
        gone = session.scalars(select(Account.username).where(Account.deleted_at.is_not(None)))
        assert gone.all() == ["ada"]
    assert boss.get("/admin/imports").status_code == 200


def test_an_account_that_becomes_admin_after_the_preview_is_not_changed(boss: FlaskClient) -> None:
    press(boss, send(boss, whole(person("zoe", "Zoe"), person("mia", "Mia"))), "apply")
    import_id = send(boss, whole(person("zoe", "Zoe")), remove="yes")
    change_rows(Account, Account.username == "mia", is_admin=True)
    press(boss, import_id, "apply")
    assert "has changed since the preview" in page(boss, import_id)
    assert the_account("mia").deleted_at is None


def test_an_admin_whose_address_alone_differs_keeps_it(boss: FlaskClient, cast: Cast) -> None:
    row = person("max", "Max") | {"email": "elsewhere@u.example"}
    import_id = send(boss, whole(row, person("zoe", "Zoe")))
    assert ADMIN in page(boss, import_id)
    press(boss, import_id, "apply")
    assert latest().state == "done"
    assert the_account("max").email == cast.max.email


@pytest.mark.parametrize("role", ["auditor", "adviser", "scheduler"])
def test_an_account_with_a_role_for_staff_keeps_its_name_and_address(
    boss: FlaskClient, role: str
) -> None:
    """Its password could be recovered by the new address."""
    given: dict[str, Any] = {"staff_roles": [role]}
    if role == "scheduler":
        given = {"schedules_for": [builders.a_department().id]}
    builders.an_account("zoe", **given)
    row = person("zoe", "Zoe") | {"email": "elsewhere@u.example", "metadata.fairseat": SENIOR}
    import_id = send(boss, whole(row, person("mia", "Mia")))
    assert page(boss, import_id).count(STAFF) == 1
    press(boss, import_id, "apply")
    assert latest().state == "done"
    zoe = the_account("zoe")
    with transaction() as session:
        year = session.scalar(select(Student.year).where(Student.account_id == zoe.id))
    assert zoe.email != "elsewhere@u.example"
    assert year == "Senior"  # the rest of the row


def test_staff_with_another_name_or_in_no_file_are_not_removed(boss: FlaskClient) -> None:
    everyone = [person(name, name.title()) for name in ("zoe", "mia", "ada")]
    press(boss, send(boss, whole(*everyone)), "apply")
    change_rows(Account, Account.username.in_(["zoe", "mia"]), staff_roles=["adviser"])
    import_id = send(boss, whole(person("zoe", "Zoë")), remove="yes")
    shown = page(boss, import_id)
    assert (shown.count(STAFF), shown.count(ADMIN)) == (1, 1)
    press(boss, import_id, "apply")
    assert latest().state == "done"
    with transaction() as session:
        gone = session.scalars(select(Account.username).where(Account.deleted_at.is_not(None)))
        assert gone.all() == ["ada"]
    assert the_account("zoe").staff_roles == ["adviser"]


def test_advisees_of_a_removed_account_have_no_adviser(boss: FlaskClient, cast: Cast) -> None:
    zoe = builders.an_account("zoe", staff_roles=["adviser"])
    with transaction() as session:
        session.get_one(Student, cast.ada.id).adviser_id = zoe.id
    press(boss, send(boss, whole(person("zoe", "Zoe") | {"enabledUser": "false"})), "apply")
    with transaction() as session:
        assert session.get_one(Student, cast.ada.id).adviser_id is None


def test_an_admin_can_not_be_disabled_by_a_file(boss: FlaskClient) -> None:
    disabled = person("max", "Max") | {"enabledUser": "false"}
    import_id = send(boss, whole(disabled, person("zoe", "Zoe")))
    assert ADMIN in page(boss, import_id)
    press(boss, import_id, "apply")
    assert the_account("max").deleted_at is None


def test_an_admin_whose_row_is_refused_becomes_no_student(boss: FlaskClient, cast: Cast) -> None:
    import_id = send(boss, whole(person("max", "Somebody Else"), person("zoe", "Zoe")))
    assert latest().counts["student"]["added"] == 1
    assert page(boss, import_id).count(ADMIN) == 1
    press(boss, import_id, "apply")
    with transaction() as session:
        mine = select(func.count()).select_from(Student).where(Student.account_id == cast.max.id)
        assert session.scalar(mine) == 0


def test_an_unchanged_admin_may_teach(boss: FlaskClient, cast: Cast) -> None:
    row = person("max", "Max") | {"email": cast.max.email, "role": "teacher"}
    school = whole()
    school.rows["users"] = [row]
    press(boss, send(boss, school), "apply")
    with transaction() as session:
        assert session.scalar(select(Instructor.name).where(Instructor.account_id == cast.max.id))


def test_a_removed_account_loses_its_roles(boss: FlaskClient) -> None:
    """Otherwise the next owner of the username would have them."""
    builders.an_account("zoe", staff_roles=["auditor"])
    gone = person("zoe", "Zoe") | {"enabledUser": "false"}
    press(boss, send(boss, whole(gone)), "apply")
    zoe = the_account("zoe")
    assert zoe.deleted_at
    assert zoe.staff_roles == []


def test_a_removed_admin_is_not_restored(boss: FlaskClient) -> None:
    builders.an_account("mia", is_admin=True, deleted_at=datetime.now(UTC))
    import_id = send(boss, whole(person("mia", "Mia"), person("zoe", "Zoe")))
    assert ADMIN in page(boss, import_id)
    press(boss, import_id, "apply")
    assert the_account("mia").deleted_at
