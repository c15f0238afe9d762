"""GET /terms/<t>: the list of sections, searched, narrowed and page by page."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend as parts
from portal.catalog.term_catalog import catalog_of
from portal.live.rendering import renderers
from portal.people.models import Permission
from portal.windows.warmup import spec
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import HTMX, address, cell, press, seat, words
from tests.web.visitors import browser_of


def test_section_without_seats_says_so(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course(), term, capacity=0, waitlist=0)
    page = ada.get(f"/terms/{term.id}").text
    assert "No seats offered" in page
    assert 'data-level="none"' in page
    assert "0 open" not in words(page)


def test_section_with_only_a_waitlist_can_be_joined(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course(), term, capacity=0, waitlist=5)
    assert 'data-level="wait"' in ada.get(f"/terms/{term.id}").text


def test_list_shows_current_counts(app: Flask, ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    section = builders.a_section(builders.a_course(), term, capacity=2)
    press(browser_of(app, "ben"), section, "pick")
    assert "1 of 2 open" in words(ada.get(f"/terms/{term.id}").text)


def test_section_over_capacity_shows_zero_seats(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course(), term, capacity=30, waitlist=0)
    over = builders.a_section(builders.a_course("MAT-1"), term, capacity=30, waitlist=0)
    parts().ledger.put_section(term.id, replace(spec(over, ()), prior=35, version=2))
    assert "0 of 30 open Full, no waitlist" in words(ada.get(f"/terms/{term.id}").text)


def test_restricted_sections_and_drafts_are_not_listed(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course("AAA-1", title="For everyone"), term)
    builders.a_section(builders.a_course("BBB-1", title="For nobody here", public=False), term)
    builders.a_section(builders.a_course("CCC-1", title="A draft"), term, status="NEW")
    page = ada.get(f"/terms/{term.id}").text
    assert "For everyone" in page
    assert "1 section" in words(page)
    assert "For nobody here" not in page
    assert "A draft" not in page


def test_a_mistyped_search_shows_what_was_meant(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course("CSC-1", title="Algorithms"), term)
    builders.a_section(builders.a_course("MAT-1", title="Calculus"), term)
    page = words(ada.get(f"/terms/{term.id}?q=algoritms").text)
    assert "Nothing matches “algoritms”. Showing results for “algorithms”." in page
    assert "1 section" in page
    assert "Calculus" not in page


def test_a_correction_reveals_no_hidden_section(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course("CSC-1", title="Algorithms"), term)
    builders.a_section(builders.a_course("CCC-1", title="Astrobiology"), term, status="NEW")
    page = ada.get(f"/terms/{term.id}?q=astrobiologie").text
    assert "strobiology" not in page


def test_the_name_of_a_subject_finds_its_sections(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course("CSC-1", title="Algorithms"), term)
    subject = next(each for each in catalog_of(term.id).sections if each.id == section.id)
    page = words(ada.get(f"/terms/{term.id}", query_string={"q": subject.subject_name}).text)
    assert "1 section" in page


def test_meetings_are_shown_briefly(ada: FlaskClient, term: Any) -> None:
    meetings = (
        Meets("MR", "14:00", "15:50"),
        Meets("W", "08:00", "21:50", clashes=False),
        Meets("F", "09:00", "09:50"),
    )
    section = builders.a_section(builders.a_course(), term, meetings=meetings)
    builders.a_section(builders.a_course("RES-1"), term, credits_min=1, credits_max=15)
    text = words(ada.get(f"/terms/{term.id}").text)
    assert "Mon Thu 2:00–3:50 pm Fri 9:00–9:50 am" in text.replace(", CLASS", "")
    page = words(ada.get(address(section, "").rstrip("/")).text)
    assert "Common exam time Wed 8:00 am–9:50 pm, never conflicts" in page
    assert "To be arranged" in text
    assert "1–15 credits" in text


def test_sections_of_a_course_show_their_own_titles(ada: FlaskClient, term: Any) -> None:
    topics = builders.a_course("ART-1", title="Topics in Art")
    for own in ("Light", "Clay"):
        builders.a_section(topics, term, title=own)
    chemistry = builders.a_course("CHE-1", title="Chemistry I")
    builders.a_section(chemistry, term, title="CHEM 1")
    text = words(ada.get(f"/terms/{term.id}").text)
    assert "Topics in Art: Light" in text
    assert "Topics in Art: Clay" in text
    assert "Chemistry I , CHE 1-" in text


@pytest.mark.parametrize(
    ("course", "titles", "shown"),
    [
        ("Music Lessons", ["MUSIC LESSONS: VIOLIN", "MUSIC LESSONS:OBOE"], []),
        ("LESSONS: VIOLIN", ["Lessons: Violin", "Lessons: Viola"], ["LESSONS: VIOLIN"]),
        ("Art", ["Arts of India", "Clay"], ["Art: Arts of India", "Art: Clay"]),
    ],
)
def test_a_title_repeats_nothing_and_never_names_another_sections_topic(
    ada: FlaskClient, term: Any, course: str, titles: list[str], shown: list[str]
) -> None:
    topics = builders.a_course("ART-1", title=course)
    for own in titles:
        builders.a_section(topics, term, title=own)
    text = words(ada.get(f"/terms/{term.id}").text)
    for each in shown + titles[len(shown) :]:
        assert f"{each} , ART 1-" in text
        assert f": {each}" not in text


def test_list_shows_likely_refusals(ada: FlaskClient, term: Any) -> None:
    needs = {"prerequisites": {"any": [{"course": "MAT-1010"}, {"course": "MAT-1020"}]}}
    builders.a_section(builders.a_course(), term, **needs)
    text = words(ada.get(f"/terms/{term.id}").text)
    assert "Requires MAT 1010 or MAT 1020 (not on your record)" in text


def test_search_survives_a_refresh(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course("CSC-1100", title="Data Structures"), term)
    builders.a_section(builders.a_course("MAT-1010", title="Calculus"), term)
    page = ada.get(f"/terms/{term.id}?q=calculus&open=1").text
    assert "Calculus" in page
    assert "Data Structures" not in page
    assert 'value="calculus"' in page
    assert 'name="open" value="1" checked' in page


def test_search_without_results_says_what_to_do(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course(), term)
    text = words(ada.get(f"/terms/{term.id}?q=nothing+like+it").text)
    assert "No section matches" in text
    assert "Clear all" in text


def test_the_search_shows_examples_of_the_term(ada: FlaskClient, term: Any, cast: Cast) -> None:
    builders.a_section(builders.a_course("HON-1", title="X", public=False), term)
    course = builders.a_course("ZOO-2200", title="Bees")
    builders.a_section(course, term, instructor=cast.iris)
    assert 'placeholder="Search ZOO 2200, Bees, Iris"' in ada.get(f"/terms/{term.id}").text


def test_search_hint_names_an_existing_course(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course("HON-1000", public=False), term)
    builders.a_section(builders.a_course("ZOO-2200"), term)
    assert "a course code such as “ZOO 2200”" in words(ada.get(f"/terms/{term.id}?q=nil").text)
    assert "ZOO 2200-" in words(ada.get(f"/terms/{term.id}?q=ZOO 2200").text)


def test_htmx_gets_only_the_results(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course(), term)
    headers = {**HTMX, "HX-Target": "results"}
    answer = ada.get(f"/terms/{term.id}?q=csc&subject=&from=", headers=headers)
    assert "<html" not in answer.text
    assert "1 section" in words(answer.text)
    assert answer.headers["HX-Replace-Url"] == f"/terms/{term.id}?q=csc"


def test_long_list_is_paged(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course()
    for _ in range(42):
        builders.a_section(course, term)
    page = ada.get(f"/terms/{term.id}").text
    assert page.count('class="section-row"') == 40
    assert "Show more, 2 left" in words(page)
    assert ada.get(f"/terms/{term.id}?page=2").text.count('class="section-row"') == 42
    more = ada.get(f"/terms/{term.id}?page=2", headers={**HTMX, "HX-Target": "more"}).text
    assert more.count('class="section-row"') == 2


@pytest.fixture
def beside(term: Any, cast: Cast) -> list[Any]:
    """Return a section of Ada's course, one at the same time, and one without a conflict."""
    course = builders.a_course("PHY-1000")
    mine = builders.a_section(course, term, meetings=(Meets("MR"),))
    seat(cast.ada, mine)
    return [
        builders.a_section(course, term, meetings=(Meets("TF"),)),
        builders.a_section(builders.a_course("ART-1000"), term, meetings=(Meets("M"),)),
        builders.a_section(builders.a_course("BIO-1000"), term, meetings=(Meets("W"),)),
    ]


def test_row_of_a_conflicting_section_has_a_note_instead_of_a_button(
    ada: FlaskClient, ben: FlaskClient, term: Any, beside: list[Any]
) -> None:
    page = ada.get(f"/terms/{term.id}").text
    again, clashing, free = (words(cell(page, each)) for each in beside)
    assert "Swap" in again
    assert "Yours: PHY 1000-01" in again
    assert "Overlaps PHY 1000-01, Mon 10:00 am" in clashing
    assert "Add" in free
    assert "Add" not in again + clashing
    assert f'href="{address(beside[1], "pick")}"' in cell(page, beside[1])  # which says why
    for each in beside:
        assert "Add" in words(cell(ben.get(f"/terms/{term.id}").text, each))


def test_row_says_that_a_section_is_over_the_credit_limit(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    heavy, light = (
        builders.a_section(builders.a_course(code, credits=worth), term)
        for code, worth in (("ART-1", 18), ("BIO-1", 3))
    )
    wanted, permitted = (
        builders.a_section(builders.a_course(each), term) for each in ("CHE-1", "DAN-1")
    )
    builders.added(
        Permission(
            student_id=cast.ada.id,
            section_id=permitted.id,
            waives=["credit_limit"],
            reason="By the dean.",
        )
    )
    seat(cast.ada, heavy)
    page = ada.get(f"/terms/{term.id}").text
    assert "Over the credit limit" in words(cell(page, wanted))
    for each in (light, permitted):
        assert "Add" in words(cell(page, each))


def test_permitted_conflict_is_not_marked(
    ada: FlaskClient, term: Any, beside: list[Any], cast: Cast
) -> None:
    builders.added(
        Permission(
            student_id=cast.ada.id,
            section_id=beside[1].id,
            waives=["time_conflict"],
            reason="By the dean.",
        )
    )
    assert "Add" in words(cell(ada.get(f"/terms/{term.id}").text, beside[1]))


def test_open_page_learns_which_rows_conflict_with_a_new_seat(
    app: Flask, term: Any, beside: list[Any], cast: Cast
) -> None:
    again, clashing, free = (each.id for each in beside)
    [held] = parts().ledger.registrations(term.id, cast.ada.id).enrolled
    with app.test_request_context():
        html = renderers.student(
            term.id, cast.ada.id, sections=[held.section], shown=[again, clashing, free]
        ).html
    assert f'id="act-{again}"' in html
    assert f'id="act-{clashing}"' in html
    assert f'id="act-{free}"' not in html
