"""Reserved seats in the form of a section."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Section
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.admin.sections.forms import (
    address,
    change,
    details,
    errors,
    filled,
    seats,
    send,
    stored,
    text_of,
)
from tests.web.pages import press
from tests.web.pages import send as sent
from tests.web.visitors import browser_of

ONE: dict[str, Any] = {"reserves_0_seats": 1, "reserves_0_years": "Senior"}
TWO = ONE | {"reserves_1_seats": 1, "reserves_1_subjects": "CSC"}


@pytest.fixture
def senior(cast: Cast) -> Any:  # noqa: ARG001
    """Return Sena, a senior who majors in CSC."""
    return builders.a_student("sena", year="Senior", majors=("CSC",))


@pytest.fixture
def section_with_reserve(admin: FlaskClient, section: Section, senior: Any) -> Section:  # noqa: ARG001
    """Reserve one of the section's two seats for seniors."""
    assert change(admin, section, **ONE).status_code == 303
    return section


def held(section: Section) -> dict[int, int]:
    return backend().ledger.reserved(section.term_id, section.id)


def cohorts(section: Section) -> list[Any]:
    return [each.cohort for each in details(section).reserves]


@pytest.mark.usefixtures("senior")
def test_button_adds_a_reserve_row(admin: FlaskClient, section: Section) -> None:
    assert 'name="reserves_0_seats"' not in admin.get(address(section, "/edit")).text
    page = send(admin, section, more="kept", capacity=7)
    assert page.status_code == 200
    assert 'name="reserves_0_seats"' in page.text
    assert 'name="reserves_0_years" value="Senior"' in page.text
    assert 'value="7"' in page.text
    assert 'name="meetings_1_room"' not in page.text


def test_empty_row_reserves_nothing(admin: FlaskClient, section: Section) -> None:
    assert change(admin, section, reserves_0_seats="", capacity=3).status_code == 303
    assert details(section).reserves == ()


@pytest.mark.usefixtures("senior")
def test_preview_shows_cohort_and_open_seats(admin: FlaskClient, section: Section) -> None:
    answer = text_of(send(admin, section, **ONE))
    assert "Reserved seats None 1 for Senior" in answer
    assert "Senior: 1 student." in answer
    assert "Of 2 free seats, 1 will be reserved and 1 open to everyone." in answer
    assert details(section).reserves == ()


def test_ledger_decides_by_reserves(app: Flask, section_with_reserve: Section) -> None:
    assert (seats(section_with_reserve).kept, seats(section_with_reserve).open) == (1, 1)
    press(browser_of(app, "ada"), section_with_reserve, "pick")
    press(browser_of(app, "ben"), section_with_reserve, "pick")
    assert (seats(section_with_reserve).taken, seats(section_with_reserve).waiting) == (1, 1)
    press(browser_of(app, "sena"), section_with_reserve, "pick")
    assert (seats(section_with_reserve).taken, list(held(section_with_reserve).values())) == (
        2,
        [1],
    )


@pytest.mark.usefixtures("senior")
def test_new_reserve_needs_a_reason(admin: FlaskClient, section: Section) -> None:
    answer = change(admin, section, **ONE, reason="")
    assert "Enter a reason" in errors(answer)


def test_seats_given_under_a_changed_reserve_still_count(
    admin: FlaskClient, app: Flask, section_with_reserve: Section
) -> None:
    press(browser_of(app, "sena"), section_with_reserve, "pick")
    before = held(section_with_reserve)
    assert change(admin, section_with_reserve, reserves_0_seats=2, capacity=5).status_code == 303
    assert held(section_with_reserve) == before
    assert seats(section_with_reserve).kept == 1


def test_removed_reserve_opens_its_seats_to_waiting_students(
    admin: FlaskClient, app: Flask, section_with_reserve: Section
) -> None:
    press(browser_of(app, "ada"), section_with_reserve, "pick")
    press(browser_of(app, "ben"), section_with_reserve, "pick", wait="1")
    assert change(admin, section_with_reserve, reserves_0_gone="1").status_code == 303
    assert details(section_with_reserve).reserves == ()
    assert (seats(section_with_reserve).kept, seats(section_with_reserve).open) == (0, 1)
    assert backend().ledger.vacant(section_with_reserve.term_id) == {section_with_reserve.id}


@pytest.mark.usefixtures("senior")
def test_reserves_keep_their_order(admin: FlaskClient, section: Section) -> None:
    assert change(admin, section, **TWO).status_code == 303
    assert cohorts(section) == [{"years": ["Senior"]}, {"subjects": ["CSC"]}]
    ids = [each.id for each in details(section).reserves]
    assert change(admin, section, reserves_1_place=1).status_code == 303
    assert cohorts(section) == [{"subjects": ["CSC"]}, {"years": ["Senior"]}]
    assert [each.id for each in details(section).reserves] == ids[::-1]


@pytest.mark.usefixtures("senior")
def test_end_of_a_reserve_is_in_the_institutions_zone(admin: FlaskClient, section: Section) -> None:
    year = datetime.now(UTC).year + 1
    assert change(admin, section, **ONE, reserves_0_until=f"{year}-01-15T08:00").status_code == 303
    [reserve] = details(section).reserves
    assert reserve.until == datetime(year, 1, 15, 13, tzinfo=UTC)
    assert f'value="{year}-01-15T08:00"' in admin.get(address(section, "/edit")).text
    assert send(admin, section).status_code == 422, "sent as it is, it changes nothing"


@pytest.mark.usefixtures("senior")
def test_ended_reserve_is_pointed_out(admin: FlaskClient, section: Section) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    answer = text_of(send(admin, section, **ONE, reserves_0_until=f"{past:%Y-%m-%dT%H:%M}"))
    assert "The reservation for Senior has ended. These seats are open to everyone." in answer
    assert "Of 2 free seats, 0 will be reserved and 2 open to everyone." in answer


@pytest.mark.usefixtures("senior")
def test_no_more_seats_can_be_reserved_than_exist(admin: FlaskClient, section: Section) -> None:
    one = ONE | {"reserves_0_seats": 3}
    wrong = errors(send(admin, section, **one))
    assert "Reserved seats 1: You reserve 3 seats in total, but the section has 2." in wrong
    wrong = errors(send(admin, section, **TWO | {"reserves_1_seats": 2}))
    assert "Reserved seats 2: You reserve 3 seats in total, but the section has 2." in wrong
    assert details(section).reserves == ()
    assert change(admin, section, **one, capacity=3).status_code == 303


@pytest.mark.usefixtures("senior")
def test_seats_of_an_ended_reserve_are_not_reserved(admin: FlaskClient, section: Section) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    over = TWO | {"reserves_0_seats": 2, "reserves_0_until": f"{past:%Y-%m-%dT%H:%M}"}
    assert change(admin, section, **over).status_code == 303


@pytest.mark.usefixtures("senior")
def test_all_errors_of_a_row_are_shown_at_the_row(admin: FlaskClient, section: Section) -> None:
    wrong = errors(
        send(
            admin,
            section,
            reserves_0_seats="some",
            reserves_0_years="Elder",
            reserves_1_seats=1,
            reserves_2_seats=1,
            reserves_2_students="X1 X2",
            reserves_2_until="soon",
        )
    )
    for each in (
        "Reserved seats 1: enter a whole number from 1 to 100,000.",
        "Reserved seats 1: Not in the list: Elder.",
        "Reserved seats 2: choose at least one year, level, major or student.",
        "Reserved seats 3: No student has the number X1, X2.",
        "Reserved seats 3: Reserved until: enter a date and a time",
    ):
        assert each in wrong
    assert details(section).reserves == ()


def test_unknown_numbers_of_a_list_are_reported(
    admin: FlaskClient, section: Section, senior: Any
) -> None:
    listed = f"{senior.number} X1"
    answer = send(admin, section, reserves_0_seats=1, reserves_0_students=listed)
    assert "Reserved seats 1: No student has the number X1." in errors(answer)
    assert listed in answer.text


def test_audit_trail_has_reserves_before_and_after(
    admin: FlaskClient, section_with_reserve: Section
) -> None:
    change(admin, section_with_reserve, reserves_0_seats=2)
    entry = entries()[-1]
    assert entry.before
    assert entry.after
    assert (entry.before["reserves"], entry.after["reserves"]) == ("1 for Senior", "2 for Senior")


@pytest.mark.usefixtures("senior")
def test_two_admins_do_not_overwrite_each_others_reserves(
    admin: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, **ONE)
    change(admin, section, reserves_0_seats=2, reserves_0_subjects="CSC")
    answer = sent(admin, address(section, "/edit"), mine)
    assert answer.status_code == 409
    assert "2 for majors and minors in Field of CSC (CSC) 1 for Senior" in text_of(answer)
    assert cohorts(section) == [{"subjects": ["CSC"]}]


def test_reserve_removed_by_another_admin_can_be_added_again(
    admin: FlaskClient, section_with_reserve: Section
) -> None:
    mine = filled(
        admin, section_with_reserve, reserves_0_seats=2, confirmed="yes", reason="More of them."
    )
    change(admin, section_with_reserve, reserves_0_gone="1")
    mine["version"] = str(stored(section_with_reserve).version)
    assert sent(admin, address(section_with_reserve, "/edit"), mine).status_code == 303
    assert cohorts(section_with_reserve) == [{"years": ["Senior"]}]
    assert seats(section_with_reserve).kept == 2


@pytest.mark.usefixtures("senior")
def test_new_row_is_not_confused_with_one_of_another_admin(
    admin: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, **ONE, confirmed="yes", reason="Seniors graduate.")
    change(admin, section, reserves_0_seats=2, reserves_0_subjects="CSC")
    [theirs] = details(section).reserves
    mine["version"] = str(stored(section).version)
    assert sent(admin, address(section, "/edit"), mine).status_code == 303
    [reserve] = details(section).reserves
    assert reserve.cohort == {"years": ["Senior"]}
    assert reserve.id != theirs.id


@pytest.mark.usefixtures("senior")
@pytest.mark.parametrize(("which", "hour"), [("first", 5), ("second", 6)])
def test_ambiguous_time_is_shown_as_chosen(
    admin: FlaskClient, section: Section, which: str, hour: int
) -> None:
    until = {"reserves_0_until": "2030-11-03T01:30"}
    assert "this time comes twice" in errors(send(admin, section, **ONE, **until))
    until["reserves_0_until_which"] = which
    assert change(admin, section, **ONE, **until).status_code == 303
    [reserve] = details(section).reserves
    assert reserve.until == datetime(2030, 11, 3, hour, 30, tzinfo=UTC)
    assert "You have not changed anything." in errors(send(admin, section))
