"""`fairseat override STUDENT` lets one student into one section past a rule."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from portal.core.db import transaction
from portal.people import student_profile
from portal.people.models import Permission
from portal.runtime.cli import main
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast


@pytest.fixture
def section(cast: Cast) -> Any:  # noqa: ARG001
    return builders.a_section(builders.a_course(), builders.a_term(), crn="4711")


def override(student: str, *choices: str, crn: str = "4711") -> Result:
    where = ["--term", "Fall 2030", "--crn", crn]
    return CliRunner().invoke(main, ["override", student, *where, *choices])


def grant(student: str = "ada", *choices: str, **where: str) -> Result:
    return override(
        student, "--waive", "prerequisite", "--reason", "Took it abroad.", *choices, **where
    )


def permitted(student: Any) -> dict[int, frozenset[str]]:
    return dict(student_profile.read(student.id).overrides)


def kept() -> Permission:
    with transaction() as session:
        return session.scalars(select(Permission)).one()


def test_a_rule_is_passed_for_one_section(section: Any, cast: Cast) -> None:
    done = grant("ada", "--waive", "time_conflict")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Ada has a permission for section 4711" in done.stderr
    assert permitted(cast.ada) == {section.id: {"prerequisite", "time_conflict"}}
    assert permitted(cast.ben) == {}


def test_a_student_may_be_named_by_number(section: Any, cast: Cast) -> None:
    assert grant(cast.ben.number).exit_code == 0
    assert permitted(cast.ben) == {section.id: {"prerequisite"}}


def test_it_is_valid_to_the_end_of_the_last_day(section: Any, cast: Cast) -> None:
    grant("ada", "--until", "2030-11-03")
    assert section.id in permitted(cast.ada)
    # Clocks went back that night, and it is midnight in New York.
    assert kept().expires_at == datetime(2030, 11, 4, 5, tzinfo=UTC)


def test_it_is_not_valid_after_that(section: Any, cast: Cast) -> None:
    grant("ada", "--until", str(date.today() - timedelta(days=2)))  # noqa: DTZ011
    assert section.id not in permitted(cast.ada)


@pytest.mark.usefixtures("section")
def test_it_can_be_taken_back(cast: Cast) -> None:
    grant()
    done = override("ada", "--revoke", "--reason", "A mistake.")
    assert "1 permission" in done.stderr
    assert permitted(cast.ada) == {}
    assert "has no permission for" in override("ada", "--revoke").output


def test_what_was_done_is_kept_with_its_reason(section: Any, cast: Cast) -> None:
    grant()
    override("ada", "--revoke", "--reason", "A mistake.")
    given, taken = entries()
    assert [given.action, taken.action] == ["override.grant", "override.revoke"]
    assert [given.reason, taken.reason] == ["Took it abroad.", "A mistake."]
    assert given.subject == taken.subject
    assert given.subject == f"student:{cast.ada.id} section:{section.id} override:{kept().id}"
    after = given.after or {}
    assert (after["student"], after["section"]) == (cast.ada.id, section.id)
    assert (after["waives"], given.before) == (["prerequisite"], None)
    assert (taken.before or {})["revoked"] is None
    assert (taken.after or {})["revoked"]


@pytest.mark.usefixtures("section")
@pytest.mark.parametrize(
    ("student", "where", "why"),
    [
        ("nobody", {}, "No student has the number or username 'nobody'."),
        ("iris", {}, "No student has the number or username 'iris'."),
        ("ada", {"crn": "1"}, "Fall 2030 has no section with the CRN '1'."),
    ],
)
def test_what_is_not_there_is_reported(student: str, where: dict[str, str], why: str) -> None:
    refused = grant(student, **where)
    assert refused.exit_code == 1
    assert why in refused.output


@pytest.mark.usefixtures("section")
def test_a_term_that_is_not_there_is_reported() -> None:
    refused = grant("ada", "--term", "Fall 1930")
    assert "There is no term named 'Fall 1930'." in refused.output


@pytest.mark.usefixtures("section")
@pytest.mark.parametrize(
    ("choices", "why"),
    [
        (["--waive", "hold", "--reason", "x"], "'hold' is not one of"),
        (["--reason", "x"], "either --waive or --revoke"),
        (["--waive", "prerequisite", "--revoke"], "either --waive or --revoke"),
        (["--waive", "prerequisite", "--until", "soon", "--reason", "x"], "'soon'"),
    ],
)
def test_what_makes_no_sense_is_reported(choices: list[str], why: str) -> None:
    refused = override("ada", *choices)
    assert refused.exit_code == 2
    assert why in refused.output


@pytest.mark.usefixtures("section")
def test_an_override_needs_a_reason() -> None:
    assert "needs a reason" in override("ada", "--waive", "prerequisite").output
