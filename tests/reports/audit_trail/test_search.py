"""GET /admin/audit."""

import re
from html import unescape
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from portal.recorder.recorder import drain
from portal.reports import audit_trail
from portal.runtime.commands.common import note
from tests.cast import Cast, a_course, a_section, a_term, an_open_window
from tests.reports.audit_trail.conftest import an_entry

DIFFERENCE = re.compile(r'class="trail-difference[^>]*>([^<]*)<')
ROWS = re.compile(r'id="entry-(\d+)"')


@pytest.fixture
def kept(admin: FlaskClient, cast: Cast) -> dict[str, int]:
    """Four entries, the oldest first."""
    assert admin
    return {
        "old": an_entry(account_id=cast.max.id, reason="It was time.", day=1),
        "other": an_entry(
            "section.edit", "term:1 section:12", account_id=cast.iris.account_id, day=5
        ),
        "like": an_entry(
            "section.edit", "term:1 section:123", after={"title": "Ñandú 100%_"}, day=9
        ),
        "line": an_entry("job.retry", "job:7-ab", reason="command line", day=9),
    }


def rows(admin: FlaskClient, query: str = "") -> list[int]:
    answer = admin.get(f"/admin/audit{query}")
    assert answer.status_code == 200
    return [int(each) for each in ROWS.findall(answer.text)]


def test_the_newest_comes_first(admin: FlaskClient, kept: dict[str, int]) -> None:
    assert rows(admin) == sorted(kept.values(), reverse=True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?who=max", ["old"]),
        ("?who=IRI", ["other"]),
        ("?who=-", ["line", "like"]),
        ("?action=section.edit", ["like", "other"]),
        ("?about=section:12", ["other"]),
        ("?about=term:1", ["like", "other", "old"]),
        ("?about=section:1", []),
        ("?first=2030-01-05", ["line", "like", "other"]),
        ("?last=2030-01-05", ["other", "old"]),
        ("?first=2030-01-02&last=2030-01-08", ["other"]),
        ("?first=yesterday&last=0000-99-99", ["line", "like", "other", "old"]),
        ("?last=9999-12-31", ["line", "like", "other", "old"]),
        ("?text=it+was+TIME", ["old"]),
        ("?text=%C3%B1and%C3%BA", ["like"]),
        ("?text=100%25_", ["like"]),
        ("?text=100_%25", []),
        ("?text=%25", ["like"]),
        ("?text=%5C", []),
        ("?text=%00", ["line", "like", "other", "old"]),
        ("?who=max&action=section.edit", []),
    ],
)
def test_it_is_searched_by_all_that_it_has(
    admin: FlaskClient, kept: dict[str, int], query: str, found: list[str]
) -> None:
    assert rows(admin, query) == [kept[name] for name in found]


def test_what_an_entry_lacks_is_not_found_as_a_text(admin: FlaskClient) -> None:
    note("job.retry", "job:7-ab")
    assert rows(admin, "?text=null") == []


def test_it_comes_in_pages_that_keep_the_search(admin: FlaskClient) -> None:
    made = [an_entry("job.retry") for _ in range(audit_trail.PAGE + 3)]
    an_entry("job.discard")
    first = rows(admin, "?action=job.retry")
    assert first == made[::-1][: audit_trail.PAGE]
    page = unescape(admin.get("/admin/audit?action=job.retry").text)
    assert f"/admin/audit?before={first[-1]}&action=job.retry" in page
    assert rows(admin, f"?before={first[-1]}&action=job.retry") == made[::-1][audit_trail.PAGE :]


def test_subjects_and_actions_are_shown_by_name(admin: FlaskClient, cast: Cast) -> None:
    section = a_section(a_course("CSC-1100"), a_term())
    an_entry("section.edit", f"term:{section.term_id} section:{section.id}")
    an_entry("student.privacy", f"student:{cast.ada.id}", account_id=cast.max.id)
    page = unescape(admin.get("/admin/audit").text)
    for words in ("Section edited", "Term Fall 2030", "Section CSC 1100-01", "Privacy changed"):
        assert words in page
    assert f"Student Ada, {cast.ada.number}" in page
    assert "No account" in page


def test_an_unknown_subject_is_shown_by_its_code(admin: FlaskClient) -> None:
    an_entry("comet.seen", "comet:halley sky:99999999999999")
    page = unescape(admin.get("/admin/audit").text)
    for words in ("comet: seen", "Comet halley", "Sky 99999999999999"):
        assert words in page


def test_nothing_of_it_can_add_to_the_page(admin: FlaskClient) -> None:
    evil = "<script>alert(1)</script>"
    number = an_entry(evil, f"section:{evil}", reason=evil, after={evil: evil})
    for address in ("/admin/audit", f"/admin/audit/{number}", f"/admin/audit?text={evil}"):
        assert evil not in admin.get(address).text


def test_an_empty_trail_says_so(admin: FlaskClient) -> None:
    assert "No entries yet." in admin.get("/admin/audit").text
    assert "No entry matches." in admin.get("/admin/audit?who=nobody").text


def test_a_thing_is_found_by_the_name_that_people_know(admin: FlaskClient, cast: Cast) -> None:
    term = a_term()
    section = a_section(a_course("CSC-1100"), term, crn="4711")
    subject = f"term:{term.id} section:{section.id} student:{cast.ada.id}"
    number = an_entry("selection.add", subject)
    an_entry("selection.add", f"term:{term.id + 1} section:{section.id + 1} student:{cast.ben.id}")
    for name in (cast.ada.number, "4711", f"CSC 1100-{section.number}", "Fall 2030"):
        assert rows(admin, f"?about={name}") == [number], name
    assert rows(admin, "?about=no+such+thing") == []


def test_people_and_windows_are_found_by_a_part_of_their_names(
    admin: FlaskClient, cast: Cast
) -> None:
    term = a_term()
    window = an_open_window(term)
    drain(term.id)
    of_ada = an_entry("student.privacy", f"student:{cast.ada.id}")
    of_iris = an_entry("teacher.link", f"teacher:{cast.iris.id}")
    of_window = an_entry("window.close", f"term:{term.id} window:{window.id}")
    an_entry("student.privacy", f"student:{cast.ben.id}")
    printed = f"Ada, {cast.ada.number}"
    for name, number in (("aDA", of_ada), (printed, of_ada), ("iri", of_iris)):
        assert rows(admin, f"?about={quote(name)}") == [number], name
    assert rows(admin, f"?about={quote(window.name[1:].upper())}") == [of_window]
    assert rows(admin, "?about=%25") == []


def test_an_invalid_day_is_reported_and_ignored(admin: FlaskClient) -> None:
    page = unescape(admin.get("/admin/audit?first=2030-02-30&last=2030-02-28").text)
    assert "“2030-02-30” is not a date. The search ignored it." in page
    assert page.count("is not a date") == 1


@pytest.mark.parametrize(
    ("before", "after", "output"),
    [
        ({"capacity": 1}, {"capacity": 4}, "Seats: 1 → 4"),
        ({"on": True}, {"on": False}, "On: Yes → No"),
        ({"on": True, "title": "A" * 41}, {"on": False, "title": "B"}, "On: Yes → No, Title"),
        ({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 3, "c": 4}, "A: 1 → 2, B: 2 → 3, 1 more"),
        ({"version": 1}, {"version": 2}, None),
        ({"capacity": None}, {"capacity": 4}, "Seats: – → 4"),
        (None, {"capacity": 4}, None),
    ],
)
def test_a_line_says_in_short_what_was_changed(
    admin: FlaskClient, before: object, after: object, output: str | None
) -> None:
    an_entry(before=before, after=after)
    found = DIFFERENCE.search(unescape(admin.get("/admin/audit").text))
    assert (found and found[1]) == output
