"""A refusal because of own seats shows wherever the section does."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.ledger.types import Reason
from portal.live.rendering import renderers
from portal.registration import reasons
from portal.registration.precheck import Precheck
from portal.registration.reasons import LEDGER_CHECKS, ReasonKind
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import address, cell, press, seat, words

# Seats, a wanted section, whether the seats are in its way; without the last of them they are not.
Situation = tuple[list[Any], Any, bool]


def same_course(term: Any) -> Situation:
    course = builders.a_course("PHY-1")
    return [builders.a_section(course, term)], builders.a_section(course, term), True


def time_conflict(term: Any) -> Situation:
    mine, wanted = (
        builders.a_section(builders.a_course(code), term, meetings=(Meets(),))
        for code in ("PHY-1", "PHY-2")
    )
    return [mine], wanted, True


def credit_limit(term: Any) -> Situation:
    mine, wanted = (
        builders.a_section(builders.a_course(code, credits=worth), term)
        for code, worth in (("PHY-1", 18), ("PHY-2", 4))
    )
    return [mine], wanted, True


def corequisite(term: Any) -> Situation:
    mine = builders.a_section(builders.a_course("PHY-1"), term)
    needs = {"corequisites": {"course": "PHY-1"}}
    return [mine], builders.a_section(builders.a_course("PHY-2"), term, **needs), False


SITUATIONS: dict[str, Callable[[Any], Situation]] = {
    each.__name__: each for each in (same_course, time_conflict, credit_limit, corequisite)
}


def row(ada: FlaskClient, section: Any) -> str:
    return cell(ada.get(f"/terms/{section.term_id}").text, section)


def page(ada: FlaskClient, section: Any) -> str:
    return ada.get(address(section, "").rstrip("/")).text


def live(app: Flask, student: Any, changed: Any, shown: Any) -> str:
    """Return the cell of `shown` that an open page gets after a change of the seat `changed`."""
    with app.test_request_context():
        html = renderers.student(
            shown.term_id, student.id, sections=[changed.id], shown=[shown.id]
        ).html
    return cell(html, shown)


@pytest.mark.parametrize("code", LEDGER_CHECKS)
def test_rule_about_own_seats_shows_in_rows_and_on_pages_and_as_seats_change(
    app: Flask, ada: FlaskClient, term: Any, cast: Cast, code: str
) -> None:
    builders.an_open_window(term)
    seats, wanted, in_the_way = SITUATIONS[code](term)
    for mine in seats:
        press(ada, mine, "pick")
    for against in (in_the_way, not in_the_way):
        assert (f'data-why="{code}"' in row(ada, wanted)) == against
        assert (f'data-reason="{code}"' in page(ada, wanted)) == against
        assert (f'data-why="{code}"' in live(app, cast.ada, seats[-1], wanted)) == against
        press(ada, seats[-1], "drop")


def test_rule_that_pages_do_not_know_shows_everywhere(
    app: Flask, ada: FlaskClient, term: Any, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    builders.an_open_window(term)
    mine, wanted, full = (
        builders.a_section(builders.a_course(code), term, capacity=seats)
        for code, seats in (("LAB-1", 1), ("LAB-2", 1), ("LAB-3", 0))
    )
    press(ada, full, "pick", wait="1")
    kind = ReasonKind("labs", lambda _facts, _case: ("At most one lab.", None), "Too many labs")
    monkeypatch.setitem(reasons.REASONS, "labs", kind)
    monkeypatch.setattr(
        Precheck,
        "against_seats",
        lambda self, *_: [Reason("labs")] if self.held else [],
    )
    assert "Too many labs" not in words(row(ada, wanted))
    seat(cast.ada, mine)
    assert "Too many labs" in words(row(ada, wanted))
    assert "Too many labs" in words(live(app, cast.ada, mine, wanted))
    assert "At most one lab." in page(ada, wanted)
    assert "At most one lab." in ada.get(f"/terms/{term.id}/mine").text
    press(ada, mine, "drop")
    assert "Too many labs" not in words(live(app, cast.ada, mine, wanted))


def main_button(html: str) -> str:
    """Return the text of the page's filled button, or nothing."""
    found = re.search(r'class="btn btn-primary[^>]*>([^<]*)', html)
    return found[1].strip() if found else ""


def assert_not_added_yet(ada: FlaskClient, section: Any) -> None:
    """Check that rows and pages lead to what to do first, as the dialog does."""
    assert "Can’t add yet Corequisite missing" in words(row(ada, section))
    assert "See what to do" in page(ada, section)
    assert not main_button(page(ada, section))
    assert "Add them together" not in ada.get(address(section, "pick")).text


def a_lecture_and_its_lab(term: Any, needs: Any, **lab: Any) -> tuple[Any, Any]:
    linked = {"corequisites": {"course": "BIO-1"}}
    return (
        builders.a_section(builders.a_course("BIO-1"), term, corequisites=needs),
        builders.a_section(builders.a_course("BIO-2"), term, **linked, **lab),
    )


def test_class_that_comes_with_another_is_added_by_the_main_button(
    ada: FlaskClient, term: Any
) -> None:
    builders.an_open_window(term)
    _, alone, _ = corequisite(term)
    lecture, _lab = a_lecture_and_its_lab(term, {"course": "BIO-2"})
    assert "Full With another class" in words(row(ada, lecture))
    assert main_button(page(ada, lecture)) == "Add class"
    assert_not_added_yet(ada, alone)


def test_class_whose_linked_sections_are_closed_is_not_offered(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    lecture, _lab = a_lecture_and_its_lab(term, {"course": "BIO-2"}, status="CONFIRMED")
    assert_not_added_yet(ada, lecture)


def test_class_that_needs_an_unlinked_one_besides_is_offered_once_that_is_held(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    builders.an_open_window(term)
    both = {"all": [{"course": "BIO-2"}, {"course": "MAT-1"}]}
    lecture, lab = a_lecture_and_its_lab(term, both)
    unlinked = builders.a_section(builders.a_course("MAT-1"), term)
    assert_not_added_yet(ada, lecture)
    press(ada, unlinked, "pick")
    assert "Full With another class" in words(row(ada, lecture))
    assert "Add them together" in ada.get(address(lecture, "pick")).text
    press(ada, unlinked, "drop")
    seat(cast.ada, lab)
    assert_not_added_yet(ada, lecture)


def test_waitlisted_student_without_a_corequisite_is_led_to_it(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    lab = builders.a_course("PHY-1")
    in_lab = builders.a_section(lab, term)
    full = builders.a_section(
        builders.a_course("PHY-2"), term, capacity=0, corequisites={"course": "PHY-1"}
    )
    press(ada, in_lab, "pick")
    press(ada, full, "pick", wait="1")
    press(ada, in_lab, "drop")
    mine = ada.get(f"/terms/{term.id}/mine").text
    assert "Must be taken together with PHY 1. Add that first." in words(mine)
    assert f"{address(full, 'pick')}?with=" not in mine


def test_rows_with_a_refusal_are_drawn_again_but_are_no_former_seats(
    app: Flask, ada: FlaskClient, term: Any, cast: Cast
) -> None:
    builders.an_open_window(term)
    mine, refused, other = (
        builders.a_section(builders.a_course(code, credits=worth), term, meetings=meetings)
        for code, worth, meetings in (
            ("PHY-1", 4, (Meets(),)),
            ("PHY-2", 16, (Meets(),)),
            ("PHY-3", 4, ()),
        )
    )
    press(ada, mine, "pick")
    with app.test_request_context():
        html = renderers.student(
            term.id, cast.ada.id, refused=[refused.id], shown=[refused.id, other.id]
        ).html
    assert 'data-why="time_conflict"' in cell(html, refused)
    assert f'id="act-{other.id}"' not in html
