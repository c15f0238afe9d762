"""A column of users names the adviser of a student, who must have the role already."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from portal.core.db import transaction
from portal.people.models import Account, Student
from portal.people.student_profile import ADVISER
from tests.cast import Cast, an_account
from tests.exchange.campus import kinds
from tests.exchange.makers import change_rows
from tests.exchange.oneroster import School, imported


@pytest.fixture
def vic(cast: Cast) -> Account:  # noqa: ARG001
    return an_account("vic", staff_roles=["adviser"])


def school(adviser: str, column: str = "metadata.adviser") -> School:
    """One student, Sam, with an adviser."""
    found = School()
    found.rows["users"][1][column] = adviser
    return found


def adviser_of_sam() -> str | None:
    query = select(ADVISER.username).join(Student, Student.adviser_id == ADVISER.id)
    with transaction() as session:
        return session.scalar(query.where(Student.number == "S-1"))


def metadata(adviser: str | None) -> str:
    return json.dumps({"student": {"adviser": adviser}})


@pytest.mark.parametrize("column", ["metadata.adviser", "metadata.fairseat"])
def test_student_gets_the_named_adviser(tmp_path: Path, vic: Account, column: str) -> None:
    written = vic.username if column == "metadata.adviser" else metadata(vic.username)
    _counts, report = imported(school(written, column).write(tmp_path))
    assert "no_adviser" not in kinds(report)
    assert adviser_of_sam() == "vic"


def test_blank_cell_leaves_the_adviser_and_null_ends_it(tmp_path: Path, vic: Account) -> None:
    imported(school(vic.username).write(tmp_path))
    imported(school("").write(tmp_path))
    assert adviser_of_sam() == "vic"
    imported(school(metadata(None), "metadata.fairseat").write(tmp_path))
    assert adviser_of_sam() is None


@pytest.mark.parametrize("name", ["nobody", "iris"])
def test_account_without_the_role_is_reported(tmp_path: Path, cast: Cast, name: str) -> None:
    assert cast
    _counts, report = imported(school(name).write(tmp_path))
    assert kinds(report)["no_adviser"] == 1
    assert adviser_of_sam() is None


def test_student_is_not_their_own_adviser(tmp_path: Path, cast: Cast) -> None:
    assert cast
    sam = school("").rows["users"][1]["username"]
    account = an_account(sam, staff_roles=["adviser"])
    with transaction() as session:
        session.get_one(Account, account.id).name = "Sam Park"
    _counts, report = imported(school(sam).write(tmp_path))
    assert kinds(report)["no_adviser"] == 1
    assert adviser_of_sam() is None


def test_adviser_who_lost_the_role_stays_without_a_finding(tmp_path: Path, vic: Account) -> None:
    """So an export that is imported again changes nothing."""
    imported(school(vic.username).write(tmp_path))
    change_rows(Account, Account.id == vic.id, staff_roles=[])
    counts, report = imported(school(vic.username).write(tmp_path))
    assert "no_adviser" not in kinds(report)
    assert counts["student"]["changed"] == 0
    assert adviser_of_sam() == "vic"
