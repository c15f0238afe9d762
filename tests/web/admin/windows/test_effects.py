"""The effects of a change to a window, shown before it is made."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Term
from portal.ledger.types import WindowView
from portal.waiting_room import room
from tests.audit_trail import entries
from tests.cast import Cast, a_coming_window, an_open_window
from tests.web.admin.windows.windows import HOUR, WHY, address, field


def times(window: WindowView, hours: int) -> dict[str, str]:
    later = hours * HOUR
    return {"opens": field(window.opens + later), "closes": field(window.closes + later)}


def seen(admin: FlaskClient, window: WindowView, term: Term, action: str, **query: str) -> str:
    return unescape(admin.get(address(window, term, action), query_string=query).text)


def test_move_shows_old_and_new_times_and_page_texts(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term, minutes=60)
    page = seen(admin, window, term, "move", **times(window, 2))
    clock = LocalClock(backend().settings.zone)
    assert clock.full(window.opens) in page
    assert clock.clock(window.opens // 1000 * 1000 + 2 * HOUR) in page
    assert "“Opens in 60 minutes”, then “Opens in 3 hours”" in page
    assert "Move window" in page
    assert backend().ledger.windows(term.id) == [window]


def plain(page: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def test_page_texts_consider_all_windows_of_the_students(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    coming = a_coming_window(term, minutes=210)
    alone = plain(seen(admin, coming, term, "cancel"))
    assert "On student pages “Opens in 3 hours”, then “Not scheduled” This" in alone
    assert "4 students then have no window." in alone
    an_open_window(term, minutes=270, cohort={"students": [cast.ada.number]})
    some = plain(seen(admin, coming, term, "cancel"))
    assert "“Opens in 3 hours”, then “Not scheduled” · 3 students" in some
    assert "“Closes in 4 hours” (unchanged) · 1 student" in some
    assert "3 students then have no window." in some


def test_closing_one_of_two_windows_shows_the_other(admin: FlaskClient, term: Term) -> None:
    running = an_open_window(term, minutes=270)
    a_coming_window(term, minutes=330)
    page = plain(seen(admin, running, term, "close"))
    assert "“Closes in 4 hours”, then “Opens in 5 hours”" in page
    assert "have no window" not in page


def test_window_of_an_empty_cohort_affects_no_page(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term, cohort={"years": ["Wizard"]})
    assert "On student pages" not in seen(admin, window, term, "cancel")


def test_waiting_students_are_counted(admin: FlaskClient, term: Term, cast: Cast) -> None:
    window = a_coming_window(term)
    assert "No one is in the waiting room." in seen(admin, window, term, "cancel")
    for student in (cast.ada, cast.ben):
        room.enter(term.id, window.id, student.id)
    assert "In the waiting room: 2. They leave the queue." in seen(admin, window, term, "cancel")
    assert (
        "they keep their positions" in seen(admin, window, term, "move", **times(window, 1)).lower()
    )


def test_closing_counts_students_inside(admin: FlaskClient, term: Term, cast: Cast) -> None:
    window = an_open_window(term)
    room.enter(term.id, window.id, cast.ada.id)
    page = seen(admin, window, term, "close")
    assert "In the waiting room: 0, admitted: 1." in page
    assert "then “Ended”" in page


def test_students_with_two_windows_are_counted_at_the_times(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    hers = a_coming_window(term, minutes=60, cohort={"students": [cast.ada.number]})
    running = an_open_window(term, minutes=180)
    assert "1 student will have two" in seen(admin, hers, term, "move", **times(hers, 1))
    assert "will have two" not in seen(admin, hers, term, "move", **times(hers, 4))
    later = field(running.closes + HOUR)
    assert "1 student will have two" in seen(admin, running, term, "extend", closes=later)
    assert "will have two" not in seen(admin, hers, term, "cancel")
    assert "will have two" not in seen(admin, running, term, "close")


def test_move_into_the_past_has_a_warning_and_is_possible(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term)
    requested = {"opens": field(window.opens - 2 * HOUR), "closes": field(window.closes)}
    assert "the window opens at once" in seen(admin, window, term, "move", **requested)
    assert admin.post(address(window, term, "move"), data=requested | WHY).status_code == 303


def test_invalid_times_are_reported_in_the_form(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term)
    requested = {"opens": "soon", "closes": field(window.closes)}
    answer = admin.get(address(window, term, "move"), query_string=requested)
    assert answer.status_code == 422
    assert "Begins: enter a date and a time" in answer.text
    assert 'value="soon"' in answer.text


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
@pytest.mark.parametrize("action", ["cancel", "move"])
def test_change_needs_a_reason(admin: FlaskClient, term: Term, action: str, reason: str) -> None:
    window = a_coming_window(term)
    answer = admin.post(address(window, term, action), data={**times(window, 1), "reason": reason})
    assert answer.status_code == 422
    assert "reason" in answer.text
    assert backend().ledger.windows(term.id) == [window]


@pytest.fixture
def doing(admin: FlaskClient, term: Term) -> Callable[..., Any]:
    """Return a function that confirms a page with the window's previous state."""

    def post(window: WindowView, action: str, **fields: str) -> Any:
        was = {"was": f"{window.opens}-{window.closes}"}
        return admin.post(address(window, term, action), data={**fields, **WHY, **was})

    return post


def test_two_admins_dont_overwrite_each_other(doing: Callable[..., Any], term: Term) -> None:
    window = a_coming_window(term)
    assert doing(window, "move", **times(window, 1)).status_code == 303
    moved = backend().ledger.windows(term.id)
    for action, fields in (("move", times(window, 5)), ("cancel", {})):
        answer = doing(window, action, **fields)
        assert answer.status_code == 422
        assert "Someone else has changed the window" in answer.text
        assert f"{moved[0].opens}-{moved[0].closes}" in answer.text
    assert backend().ledger.windows(term.id) == moved
    assert len(entries()) == 1


def test_extension_by_another_admin_is_not_closed_unseen(
    doing: Callable[..., Any], term: Term
) -> None:
    window = an_open_window(term)
    assert doing(window, "extend", closes=field(window.closes + HOUR)).status_code == 303
    assert doing(window, "close").status_code == 422
