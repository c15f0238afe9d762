"""GET /terms/<t>/stage: what changes in place when a window opens or closes."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import backend as parts
from portal.registration import limits
from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import HTMX


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    return builders.a_term()


def test_opening_updates_only_the_banner(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    page = ada.get(f"/terms/{term.id}/stage?shown=before+Opens+9:00+am", headers=HTMX).text
    assert 'id="banner"' in page
    assert 'data-phase="open"' in page
    assert "results" not in page


def test_early_request_is_asked_to_wait(ada: FlaskClient, term: Any) -> None:
    builders.a_coming_window(term, minutes=1)
    assert 'data-phase="before"' in ada.get(f"/terms/{term.id}/stage").text


def test_end_of_the_window_removes_the_list(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    builders.an_ended_window(term)
    page = ada.get(f"/terms/{term.id}/stage?shown=open+", headers=HTMX).text
    assert 'data-phase="ended"' in page
    assert 'hx-swap-oob="innerHTML:#results"' in page
    assert f"act-{section.id}" not in page


def test_list_with_an_old_time_is_rendered_again(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course("CSC-1100", title="Data Structures"), term)
    builders.a_section(builders.a_course("MAT-1010", title="Calculus"), term)
    builders.a_coming_window(term, minutes=5)
    headers = {**HTMX, "HX-Current-URL": f"http://localhost/terms/{term.id}?q=calculus"}
    page = ada.get(f"/terms/{term.id}/stage?shown=unscheduled+Not+open+yet", headers=headers).text
    assert "Calculus" in page
    assert "Data Structures" not in page


def test_window_of_another_cohort_opens_nothing(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term, cohort={"years": ["Senior"]})
    assert 'data-phase="unscheduled"' in ada.get(f"/terms/{term.id}/stage").text


def test_moved_window_is_visible_within_a_second(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term, minutes=5)
    ada.get(f"/terms/{term.id}/stage")
    parts().ledger.cancel_window(term.id, window.id, "tests")
    limits.windows.cache_clear()  # type: ignore[attr-defined]
    assert 'data-phase="unscheduled"' in ada.get(f"/terms/{term.id}/stage").text


def test_open_page_learns_of_a_window_change_at_once(ada: FlaskClient, term: Any) -> None:
    window = builders.an_open_window(term)
    assert f'data-closes="{window.closes}"' in ada.get(f"/terms/{term.id}/stage").text
    later = window.closes + builders.MINUTE
    parts().ledger.extend_window(term.id, window.id, later, "tests")
    assert f'data-closes="{later}"' in ada.get(f"/terms/{term.id}/stage").text
