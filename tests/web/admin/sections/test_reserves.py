"""Seats that are kept for a cohort, in the form of a section."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Section
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.sections.forms import (
    change,
    details,
    entries,
    errors,
    filled,
    place,
    said,
    seats,
    send,
    stored,
)
from tests.web.pages import press
from tests.web.pages import send as sent
from tests.web.visitors import browser_of

ONE: dict[str, Any] = {"reserves_0_seats": 1, "reserves_0_years": "Senior"}
TWO = ONE | {"reserves_1_seats": 1, "reserves_1_subjects": "CSC"}


@pytest.fixture
def senior(cast: Cast) -> Any:  # noqa: ARG001
    """Sena, a senior who majors in CSC."""
    return builders.a_student("sena", year="Senior", majors=("CSC",))


@pytest.fixture
def kept(admin: FlaskClient, section: Section, senior: Any) -> Section:  # noqa: ARG001
    """One of its two seats is kept for seniors."""
    assert change(admin, section, **ONE).status_code == 303
    return section


def held(section: Section) -> dict[int, int]:
    return backend().ledger.reserved(section.term_id, section.id)


def cohorts(section: Section) -> list[Any]:
    return [each.cohort for each in details(section).reserves]


@pytest.mark.usefixtures("senior")
def test_a_press_adds_a_row_for_them(admin: FlaskClient, section: Section) -> None:
    assert 'name="reserves_0_seats"' not in admin.get(place(section, "/edit")).text
    page = send(admin, section, more="kept", capacity=7)
    assert page.status_code == 200
    assert 'name="reserves_0_seats"' in page.text
    assert 'name="reserves_0_years" value="Senior"' in page.text
    assert 'value="7"' in page.text
    assert 'name="meetings_1_room"' not in page.text


def test_an_empty_row_keeps_none(admin: FlaskClient, section: Section) -> None:
    assert change(admin, section, reserves_0_seats="", capacity=3).status_code == 303
    assert details(section).reserves == ()


@pytest.mark.usefixtures("senior")
def test_the_preview_says_for_whom_and_what_stays_open(
    admin: FlaskClient, section: Section
) -> None:
    told = said(send(admin, section, **ONE))
    assert "Reserved seats None 1 for Senior" in told
    assert "Senior: 1 student." in told
    assert "Of 2 free seats, 1 will be reserved and 1 open to everyone." in told
    assert details(section).reserves == ()


def test_the_ledger_decides_by_them(app: Flask, kept: Section) -> None:
    assert (seats(kept).kept, seats(kept).open) == (1, 1)
    press(browser_of(app, "ada"), kept, "pick")
    press(browser_of(app, "ben"), kept, "pick")
    assert (seats(kept).taken, seats(kept).waiting) == (1, 1)
    press(browser_of(app, "sena"), kept, "pick")
    assert (seats(kept).taken, list(held(kept).values())) == (2, [1])


@pytest.mark.usefixtures("senior")
def test_they_need_a_reason_as_they_take_something(admin: FlaskClient, section: Section) -> None:
    answer = change(admin, section, **ONE, reason="")
    assert "Enter a reason" in errors(answer)


def test_seats_given_under_a_changed_one_still_count_for_it(
    admin: FlaskClient, app: Flask, kept: Section
) -> None:
    press(browser_of(app, "sena"), kept, "pick")
    before = held(kept)
    assert change(admin, kept, reserves_0_seats=2, capacity=5).status_code == 303
    assert held(kept) == before
    assert seats(kept).kept == 1


def test_one_that_is_left_out_opens_its_seats_to_who_waits(
    admin: FlaskClient, app: Flask, kept: Section
) -> None:
    press(browser_of(app, "ada"), kept, "pick")
    press(browser_of(app, "ben"), kept, "pick", wait="1")
    assert change(admin, kept, reserves_0_gone="1").status_code == 303
    assert details(kept).reserves == ()
    assert (seats(kept).kept, seats(kept).open) == (0, 1)
    assert backend().ledger.vacant(kept.term_id) == {kept.id}


@pytest.mark.usefixtures("senior")
def test_several_stand_in_the_order_that_they_are_given(
    admin: FlaskClient, section: Section
) -> None:
    assert change(admin, section, **TWO).status_code == 303
    assert cohorts(section) == [{"years": ["Senior"]}, {"subjects": ["CSC"]}]
    ids = [each.id for each in details(section).reserves]
    assert change(admin, section, reserves_1_place=1).status_code == 303
    assert cohorts(section) == [{"subjects": ["CSC"]}, {"years": ["Senior"]}]
    assert [each.id for each in details(section).reserves] == ids[::-1]


@pytest.mark.usefixtures("senior")
def test_until_is_read_in_the_institutions_zone(admin: FlaskClient, section: Section) -> None:
    year = datetime.now(UTC).year + 1
    assert change(admin, section, **ONE, reserves_0_until=f"{year}-01-15T08:00").status_code == 303
    [reserve] = details(section).reserves
    assert reserve.until == datetime(year, 1, 15, 13, tzinfo=UTC)
    assert f'value="{year}-01-15T08:00"' in admin.get(place(section, "/edit")).text
    assert change(admin, section).status_code == 422, "sent as it is, it changes nothing"


@pytest.mark.usefixtures("senior")
def test_one_whose_time_is_over_is_pointed_out(admin: FlaskClient, section: Section) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    told = said(send(admin, section, **ONE, reserves_0_until=f"{past:%Y-%m-%dT%H:%M}"))
    assert "The reservation for Senior has ended. These seats are open to everyone." in told
    assert "Of 2 free seats, 0 will be reserved and 2 open to everyone." in told


@pytest.mark.usefixtures("senior")
def test_no_more_can_be_kept_than_there_are_seats(admin: FlaskClient, section: Section) -> None:
    one = ONE | {"reserves_0_seats": 3}
    wrong = errors(send(admin, section, **one))
    assert "Reserved seats 1: You reserve 3 seats in total, but the section has 2." in wrong
    wrong = errors(send(admin, section, **TWO | {"reserves_1_seats": 2}))
    assert "Reserved seats 2: You reserve 3 seats in total, but the section has 2." in wrong
    assert details(section).reserves == ()
    assert change(admin, section, **one, capacity=3).status_code == 303


@pytest.mark.usefixtures("senior")
def test_seats_whose_time_is_over_are_kept_no_more(admin: FlaskClient, section: Section) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    over = TWO | {"reserves_0_seats": 2, "reserves_0_until": f"{past:%Y-%m-%dT%H:%M}"}
    assert change(admin, section, **over).status_code == 303


@pytest.mark.usefixtures("senior")
def test_all_that_is_wrong_with_a_row_is_said_of_that_row(
    admin: FlaskClient, section: Section
) -> None:
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


def test_no_number_of_a_list_is_dropped_silently(
    admin: FlaskClient, section: Section, senior: Any
) -> None:
    listed = f"{senior.number} X1"
    answer = send(admin, section, reserves_0_seats=1, reserves_0_students=listed)
    assert "Reserved seats 1: No student has the number X1." in errors(answer)
    assert listed in answer.text


def test_the_trail_has_them_before_and_after(admin: FlaskClient, kept: Section) -> None:
    change(admin, kept, reserves_0_seats=2)
    entry = entries()[-1]
    assert entry.before
    assert entry.after
    assert (entry.before["reserves"], entry.after["reserves"]) == ("1 for Senior", "2 for Senior")


@pytest.mark.usefixtures("senior")
def test_two_admins_do_not_overwrite_each_others(admin: FlaskClient, section: Section) -> None:
    mine = filled(admin, section, **ONE)
    change(admin, section, reserves_0_seats=2, reserves_0_subjects="CSC")
    answer = sent(admin, place(section, "/edit"), mine)
    assert answer.status_code == 409
    assert "2 for majors and minors in Field of CSC (CSC) 1 for Senior" in said(answer)
    assert cohorts(section) == [{"subjects": ["CSC"]}]


def test_what_another_has_removed_is_kept_anew_if_it_is_still_wanted(
    admin: FlaskClient, kept: Section
) -> None:
    mine = filled(admin, kept, reserves_0_seats=2, confirmed="yes", reason="More of them.")
    change(admin, kept, reserves_0_gone="1")
    mine["version"] = str(stored(kept).version)
    assert sent(admin, place(kept, "/edit"), mine).status_code == 303
    assert cohorts(kept) == [{"years": ["Senior"]}]
    assert seats(kept).kept == 2


@pytest.mark.usefixtures("senior")
def test_a_new_row_is_not_taken_for_one_that_another_has_added_meanwhile(
    admin: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, **ONE, confirmed="yes", reason="Seniors graduate.")
    change(admin, section, reserves_0_seats=2, reserves_0_subjects="CSC")
    [theirs] = details(section).reserves
    mine["version"] = str(stored(section).version)
    assert sent(admin, place(section, "/edit"), mine).status_code == 303
    [reserve] = details(section).reserves
    assert reserve.cohort == {"years": ["Senior"]}
    assert reserve.id != theirs.id


@pytest.mark.usefixtures("senior")
@pytest.mark.parametrize(("which", "hour"), [("first", 5), ("second", 6)])
def test_a_time_that_comes_twice_is_shown_as_it_was_chosen(
    admin: FlaskClient, section: Section, which: str, hour: int
) -> None:
    until = {"reserves_0_until": "2030-11-03T01:30"}
    assert "this time comes twice" in errors(send(admin, section, **ONE, **until))
    until["reserves_0_until_which"] = which
    assert change(admin, section, **ONE, **until).status_code == 303
    [reserve] = details(section).reserves
    assert reserve.until == datetime(2030, 11, 3, hour, 30, tzinfo=UTC)
    assert "You have not changed anything." in errors(change(admin, section))
