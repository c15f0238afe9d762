"""GET /terms/<t>/mine: waitlist positions, their odds, and skipped students."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend as parts
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.ledger.types import Candidate, Reason
from portal.live.rendering import renderers
from portal.people.models import Student
from portal.recorder import odds
from portal.recorder.models import LoggedEvent
from portal.registration import limits
from portal.windows.warmup import spec
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.ledger_claims import send_claim
from tests.web.pages import address, press, words
from tests.web.visitors import browser_of


def test_waitlists_have_position_size_and_time(app: Flask, ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(title="Data Structures"), term, capacity=0)
    press(browser_of(app, "ben"), section, "pick", wait="1")
    press(ada, section, "pick", wait="1")
    page = ada.get(f"/terms/{term.id}/mine").text
    assert f'id="place-{section.id}"' in page
    assert "Data Structures" in words(page)
    assert "no longer offered" not in words(page).lower()
    assert "Position 2 of 2" in words(page)
    assert "joined at" in words(page)
    assert f"/terms/{term.id}/sections/{section.id}/leave" in page


def windows(term: Any) -> tuple[int, ...]:
    return tuple(window.id for window in parts().ledger.windows(term.id))


def pass_over(
    term: Any, section: Section, student: Student, *rules: Reason, credit_limit: int = 2100
) -> None:
    """Free a seat that the student can't have."""
    grown = replace(spec(section, ()), capacity=section.capacity + 1, version=2)
    parts().ledger.put_section(term.id, grown)
    candidate = Candidate(student.id, windows(term), credit_limit, rules=rules)
    parts().ledger.promote(term.id, section.id, [candidate], "tests")


def test_skipped_student_sees_the_reasons(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    hold = Reason("hold", {"kind": "fees", "reason": "Unpaid fees", "office": ""})
    pass_over(term, section, cast.ada, hold)
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "A seat opened, but you couldn’t get it" in text
    assert "Unpaid fees" in text
    assert "You keep your waitlist position" in text


def test_class_at_the_same_time_is_shown_before_a_seat_opens(ada: FlaskClient, term: Any) -> None:
    at_ten = (Meets(),)
    wanted, other = (
        builders.a_section(builders.a_course(code), term, capacity=seats, meetings=at_ten)
        for code, seats in (("CSC-1100", 0), ("MAT-1010", 1))
    )
    press(ada, wanted, "pick", wait="1")
    told = "If a seat opened now, you couldn’t get it:"
    assert told not in words(ada.get(f"/terms/{term.id}/mine").text)
    press(ada, other, "pick")
    page = ada.get(f"/terms/{term.id}/mine").text
    assert told in words(page)
    assert 'data-reason="time_conflict"' in page
    assert f'class="reason-step" href="{address(wanted, "swap")}?swap_out={other.id}"' in page
    press(ada, wanted, f"swap?swap_out={other.id}", wait="1")
    assert told not in words(ada.get(f"/terms/{term.id}/mine").text)


def test_skipped_student_sees_the_next_step(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    other = builders.a_section(builders.a_course("MAT-1010"), term)
    press(ada, section, "pick", wait="1")
    press(ada, other, "pick")
    pass_over(term, section, cast.ada, credit_limit=400)
    page = ada.get(f"/terms/{term.id}/mine").text
    panel = page[page.index('id="mine"') :]
    assert 'data-reason="credit_limit"' in panel
    assert re.search(rf'class="reason-step" href="/terms/{term.id}/', panel)


def test_waiting_student_sees_the_end_of_the_waitlist(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "Free seats go to the waitlist automatically until" in text
    for window in parts().ledger.windows(term.id):
        parts().ledger.close_window(term.id, window.id, "tests")
    limits.forget_windows()
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "Registration is over. The waitlists no longer move." in text


def test_swap_position_names_the_section_to_drop(ada: FlaskClient, term: Any, cast: Cast) -> None:
    held = builders.a_section(builders.a_course("MAT-1010"), term)
    full = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, held, "pick")
    send_claim(
        parts().ledger,
        term.id,
        student=cast.ada.id,
        section=full.id,
        swap_out=held.id,
        credits=400,
        credit_limit=2100,
        windows=windows(term),
        wait=True,
    )
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "When you get a seat, you drop MAT 1010-01." in text


def test_student_who_rejoins_is_last(app: Flask, ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    press(browser_of(app, "ben"), section, "pick", wait="1")
    press(ada, section, "leave")
    press(ada, section, "pick", wait="1")
    assert "Position 2 of 2" in words(ada.get(f"/terms/{term.id}/mine").text)


def seats_have_come_free(term: Any, section: int, seats: int) -> None:
    """Record that so many of forty seats, taken five days ago, were dropped since."""
    moves = [("enrolled", 5)] * 40 + [("dropped", 1)] * seats
    now = datetime.now(UTC)
    with transaction() as session:
        session.add_all(
            LoggedEvent(
                term_id=term.id,
                seq=10**6 + number,
                name=name,
                version=1,
                aggregate=f"section:{section}",
                payload={},
                context={},
                occurred_at=now - timedelta(days=days),
            )
            for number, (name, days) in enumerate(moves)
        )
    odds.forget_freed_seats()


def test_waiting_student_sees_the_odds_and_their_basis(ada: FlaskClient, term: Any) -> None:
    quiet, lively = (
        builders.a_section(builders.a_course(code), term, capacity=0)
        for code in ("CSC-1100", "MAT-1010")
    )
    for section in (quiet, lively):
        press(ada, section, "pick", wait="1")
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert text.count("It is too early to say how likely you are to get a seat.") == 2
    seats_have_come_free(term, lively.id, 12)
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert (
        "You are unlikely to get a seat before registration ends. No seat has opened here recently"
        in text
    )
    assert "12 seats opened here recently, and you are number 1 on the waitlist." in text


def test_odds_of_a_later_band_say_that_an_earlier_one_may_join(ada: FlaskClient, term: Any) -> None:
    builders.set_rules(term, bands=[{"credits": 90}])
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    warning = "Your chance gets smaller if students in an earlier group join."
    assert warning not in words(ada.get(f"/terms/{term.id}/mine").text), "too early for odds"
    seats_have_come_free(term, section.id, 12)
    assert warning in words(ada.get(f"/terms/{term.id}/mine").text)


def test_changed_odds_send_no_update(app: Flask, ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    found = re.search(r'data-mark="(\w+)"', ada.get(f"/terms/{term.id}/mine").text)
    assert found
    seats_have_come_free(term, section.id, 12)
    with app.test_request_context():
        assert renderers.student(term.id, cast.ada.id, panel_version=found[1]).html == ""


def test_skipped_student_is_notified_at_once_with_the_next_step(
    app: Flask, ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    too_many = {"held": 2000, "adds": 400, "limit": 2100}
    event = {"name": "passed_over", "section": section.id, "student": cast.ada.id}
    reasons = [{"code": "credit_limit", "facts": too_many}]
    with app.test_request_context():
        events = [event | {"reasons": reasons}]
        html = renderers.student(term.id, cast.ada.id, events=events).html
    assert "you couldn’t get it" in words(html)
    assert "Your limit is 21" in words(html)
    assert 'class="toast-step"' in html


def test_reset_skip_is_shown_without_a_message(
    app: Flask, ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    event = {"name": "reconsidered", "section": section.id, "student": cast.ada.id}
    with app.test_request_context():
        html = renderers.student(term.id, cast.ada.id, events=[event]).html
    assert 'id="mine"' in html
    assert "toast" not in html
