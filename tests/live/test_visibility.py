"""Who is shown the counts of which sections, by the socket and without one."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from portal.catalog.models import Section, Term
from portal.live.visibility import visible_sections
from portal.people import visitors
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Claim, Open
from tests.live.test_poll import as_account

KINDS = ("open", "restricted", "new", "confirmed", "canceled")
STUDENTS = {"open", "canceled"}  # whose pages may show it still
Sections = dict[str, Section]
Allowed = Callable[[int], set[str]]


@pytest.fixture
def sections(cast: Cast, term: Term) -> Sections:
    """One section of each kind; all but the open one are taught by Iris."""
    hidden = builders.a_course("MAT-1000", public=False)
    course = builders.a_course()
    return {
        "open": builders.a_section(course, term),
        "restricted": builders.a_section(hidden, term, instructor=cast.iris),
        "new": builders.a_section(course, term, status="NEW", instructor=cast.iris),
        "confirmed": builders.a_section(course, term, status="CONFIRMED", instructor=cast.iris),
        "canceled": builders.a_section(course, term, status="CANCELED", instructor=cast.iris),
    }


@pytest.fixture
def allowed(term: Term, sections: Sections) -> Allowed:
    """Gives the kinds that an account may see."""

    def of(account: int) -> set[str]:
        visitor = visitors.find(account)
        assert visitor
        ids = {section.id: kind for kind, section in sections.items()}
        return {ids[section] for section in visible_sections(visitor, term.id, list(ids))}

    return of


def test_students_see_what_their_list_shows(cast: Cast, allowed: Allowed) -> None:
    assert allowed(cast.ada.account_id) == STUDENTS


def test_students_see_what_they_hold(
    cast: Cast, sections: Sections, allowed: Allowed, claim: Claim
) -> None:
    claim(cast.ada.id, sections["restricted"].id)
    assert allowed(cast.ada.account_id) == {*STUDENTS, "restricted"}
    assert allowed(cast.ben.account_id) == STUDENTS


def test_students_see_what_they_wait_for(
    cast: Cast, sections: Sections, allowed: Allowed, claim: Claim
) -> None:
    for student in (7_001, 7_002, cast.ada.id):
        claim(student, sections["restricted"].id)
    assert allowed(cast.ada.account_id) == {*STUDENTS, "restricted"}


def test_instructors_see_their_own_and_the_open_ones(cast: Cast, allowed: Allowed) -> None:
    assert allowed(cast.iris.account_id) == set(KINDS)
    assert allowed(cast.otto.account_id) == {"open", "restricted"}


def test_admins_see_all(cast: Cast, allowed: Allowed) -> None:
    assert allowed(cast.max.id) == set(KINDS)


def test_no_one_sees_sections_of_a_term_that_there_is_not(cast: Cast, sections: Sections) -> None:
    visitor = visitors.find(cast.ada.account_id)
    assert visitor
    assert visible_sections(visitor, 2**30, [sections["open"].id]) == ()


def test_the_socket_tells_of_these_alone(
    cast: Cast, term: Term, sections: Sections, open_tab: Open, claim: Claim
) -> None:
    tab = open_tab(cast.ada.account_id)
    ids = [section.id for section in sections.values()]
    tab.ask(term.id, ids, held=ids)
    tab.shows(sections["open"].id, 2)
    claim(cast.ben.id, sections["restricted"].id)
    claim(cast.ben.id, sections["open"].id)
    tab.shows(sections["open"].id, 1)
    tab.listen(0.3)
    assert set(tab.seats) == {sections["open"].id}
    assert f'id="act-{sections["new"].id}"' not in "".join(tab.frames)


def test_the_poll_tells_of_these_alone(
    cast: Cast, term: Term, sections: Sections, client: FlaskClient
) -> None:
    ids = ",".join(str(section.id) for section in sections.values())
    address = f"/live/fragments?term={term.id}&sections={ids}&held={ids}"
    html = as_account(client, cast.ada.account_id).get(address).text
    for kind, section in sections.items():
        assert (f'id="seats-{section.id}"' in html) == (kind in STUDENTS)
        assert (f'id="act-{section.id}"' in html) == (kind in STUDENTS)
