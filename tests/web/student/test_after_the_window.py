"""After selection ended, students see only sections that they hold or wait for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend, backend
from portal.recorder.recorder import drain
from portal.registration import limits
from portal.registration.plan_store import plan_of
from tests import cast as builders
from tests.cast import Cast
from tests.web.ledger_outage import ledger_away
from tests.web.pages import DIALOG, address, hidden, press
from tests.web.visitors import browser_of

TITLE = "Calculus"  # of the section without students


class Sections(NamedTuple):
    held: Any
    sibling: Any  # of the same course
    other: Any
    end: Callable[[], None]


@pytest.fixture
def ada(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


@pytest.fixture
def sections(ada: FlaskClient, cast: Cast) -> Sections:  # noqa: ARG001
    term, course = builders.a_term(), builders.a_course("CSC-1", title="Data Structures")
    window = builders.an_open_window(term)
    held, sibling = (builders.a_section(course, term) for _ in range(2))
    other = builders.a_section(builders.a_course("MAT-1", title=TITLE), term)
    press(ada, held, "pick")

    def end() -> None:
        backend().ledger.close_window(term.id, window.id, "tests")
        limits.forget_windows()

    return Sections(held, sibling, other, end)


@pytest.mark.parametrize("act", ["pick", "swap?swap_out={held}", "swaps", "plan", "drop", "leave"])
def test_forms_of_other_sections_are_not_found(
    ada: FlaskClient, sections: Sections, act: str
) -> None:
    where = address(sections.other, act.format(held=sections.held.id))
    assert ada.get(where).status_code == 200
    sections.end()
    answer = ada.get(where)
    assert answer.status_code == 404
    assert "Registration has ended" in answer.text
    assert TITLE not in answer.text


def test_list_says_that_registration_has_ended(ada: FlaskClient, sections: Sections) -> None:
    sections.end()
    page = ada.get(f"/terms/{sections.held.term_id}").text
    assert "Registration has ended, so sections are no longer shown." in page


def test_forms_of_held_sections_remain(ada: FlaskClient, sections: Sections) -> None:
    sections.end()
    assert ada.get(address(sections.held, "drop")).status_code == 200
    assert "Data Structures" in ada.get(f"/terms/{sections.held.term_id}/mine").text


def test_other_sections_of_a_held_course_are_not_offered(
    ada: FlaskClient, sections: Sections
) -> None:
    swap = f"{address(sections.sibling, 'swap')}?swap_out={sections.held.id}"
    assert swap in ada.get(address(sections.held, "swaps")).text
    sections.end()
    assert swap not in ada.get(address(sections.held, "swaps")).text


def test_planned_sections_can_only_be_removed(
    ada: FlaskClient, sections: Sections, cast: Cast
) -> None:
    term = sections.other.term_id
    plan = address(sections.other, "plan")
    ada.post(plan, data=hidden(ada.get(plan, headers=DIALOG).text), headers=DIALOG)
    sections.end()
    assert ada.post(address(sections.sibling, "plan"), data={"place": "new"}).status_code == 404
    planned = plan_of(term, cast.ada.id)
    assert planned
    assert planned.sections == (sections.other.id,)
    page = ada.get(f"/terms/{term}/plan").text
    assert "Remove MAT 1" in page
    assert "Find sections for my plan" not in page
    form = hidden(ada.get(plan, headers=DIALOG).text)
    assert ada.post(plan, data={**form, "do": "out"}).status_code == 303
    assert not plan_of(term, cast.ada.id).sections  # type: ignore[union-attr]


def test_live_counts_cover_only_held_sections(ada: FlaskClient, sections: Sections) -> None:
    ids = f"{sections.held.id},{sections.other.id}"
    where = f"/live/fragments?term={sections.held.term_id}&sections={ids}&held={ids}"
    assert f'id="seats-{sections.other.id}"' in ada.get(where).text
    sections.end()
    text = ada.get(where).text
    assert f'id="seats-{sections.held.id}"' in text
    assert f'id="seats-{sections.other.id}"' not in text
    assert f'id="act-{sections.other.id}"' not in text


def test_no_sections_are_listed_while_the_ledger_is_down(
    ada: FlaskClient, sections: Sections, backend: Backend
) -> None:
    term = sections.held.term_id
    drain(term)
    with ledger_away(backend):
        assert TITLE in ada.get(f"/terms/{term}").text
    sections.end()
    drain(term)
    with ledger_away(backend):
        page = ada.get(f"/terms/{term}").text
    assert TITLE not in page
    assert "Data Structures: yours" in page
