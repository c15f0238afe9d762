"""A student's events reach all pages of that student, and no others."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.ledger.types import Candidate, RequestContext
from portal.people.models import Student
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Claim, Open
from tests.live.tabs import Tab

PLACE = re.compile(r'id="place-(\d+)"[^>]*>(.*?)</', re.DOTALL)
MARK = re.compile(r'data-mark="(\w+)"')
Free = Callable[[Student], None]


@pytest.fixture
def last_seat(term: Term) -> Section:
    return builders.a_section(builders.a_course(), term, capacity=1, waitlist=5)


@pytest.fixture
def free(backend: Backend, term: Term, last_seat: Section) -> Free:
    """Gives a student's seat up, and promotes the next."""
    windows = tuple(window.id for window in backend.ledger.windows(term.id))

    def free_one(student: Student) -> None:
        context = RequestContext(term.id, student.id, "tests", "tests")
        days = [(0, "2030-01-01"), (2**52, "2030-01-02"), (2**53, "2030-01-03")]
        backend.ledger.drop(context, last_seat.id, windows=windows, days=days, drop_limit=9)
        heads = backend.ledger.head(term.id, last_seat.id, 5)
        waiters = [Candidate(each, windows, 9_900) for each in heads]
        backend.ledger.promote(term.id, last_seat.id, waiters, "tests")

    return free_one


def opened(open_tab: Open, student: Student, section: Section) -> Tab:
    """A page of the student that has heard how things stand."""
    tab = open_tab(student.account_id)
    tab.ask(section.term_id, [section.id])
    tab.hear(lambda tab: section.id in tab.seats and 'id="mine"' in "".join(tab.frames))
    tab.frames.clear()
    return tab


def test_a_claim_shows_on_both_tabs_of_the_student_alone(
    cast: Cast, last_seat: Section, open_tab: Open, claim: Claim
) -> None:
    tabs = [opened(open_tab, cast.ada, last_seat) for _ in range(2)]
    stranger = opened(open_tab, cast.ben, last_seat)
    claim(cast.ada.id, last_seat.id)
    for tab in tabs:
        [news] = tab.hear(lambda tab: [s for s in tab.signals if s["name"] == "own"])
        assert news["detail"] == {"section": last_seat.id, "state": "selected"}
    stranger.shows(last_seat.id, 0)
    assert "own" not in {signal["name"] for signal in stranger.listen(0.3).signals}
    assert "act-" not in "".join(stranger.frames)


def test_a_tab_that_shows_another_state_asks_for_the_right_one(
    cast: Cast, last_seat: Section, open_tab: Open, claim: Claim
) -> None:
    claim(cast.ada.id, last_seat.id)
    tab = opened(open_tab, cast.ada, last_seat)
    tab.ask(last_seat.term_id, [last_seat.id], held=[last_seat.id])
    right = f'id="act-{last_seat.id}"'
    html = tab.hear(lambda tab: [each for each in tab.frames if right in each])[0]
    mark = MARK.findall(html)[-1]
    tab.frames.clear()
    tab.ask(last_seat.term_id, [last_seat.id], held=[last_seat.id], mark=mark)
    assert right not in "".join(tab.listen(0.3).frames)


def test_a_promotion_is_shown_as_text(
    cast: Cast,
    last_seat: Section,
    open_tab: Open,
    claim: Claim,
    free: Free,
) -> None:
    for student in (cast.ada, cast.ben, cast.cleo):
        claim(student.id, last_seat.id)
    ben = opened(open_tab, cast.ben, last_seat)
    cleo = opened(open_tab, cast.cleo, last_seat)
    free(cast.ada)
    ben.hear(lambda tab: "You got a seat in" in "".join(tab.frames))
    assert "You got a seat in" not in "".join(cleo.listen(0.3).frames)


def test_those_who_wait_see_their_place_move(
    cast: Cast,
    last_seat: Section,
    open_tab: Open,
    claim: Claim,
    free: Free,
) -> None:
    for student in (cast.ada, cast.ben, cast.cleo):
        claim(student.id, last_seat.id)
    cleo = opened(open_tab, cast.cleo, last_seat)
    free(cast.ada)
    cleo.hear(lambda tab: any("1" in said for _, said in PLACE.findall("".join(tab.frames))))


def test_what_is_recorded_is_sent_to_the_student_and_to_the_roster(
    cast: Cast, term: Term, open_tab: Open, claim: Claim
) -> None:
    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    ada, ben = (opened(open_tab, student, section) for student in (cast.ada, cast.ben))
    iris = open_tab(cast.iris.account_id)
    iris.ask(term.id, [section.id], roster=section.id)
    iris.shows(section.id, 2)
    claim(cast.ada.id, section.id)
    drain(term.id)
    ada.hear(lambda tab: [s for s in tab.signals if s["name"] == "recorded"])
    iris.hear(
        lambda tab: [s for s in tab.signals if s["name"] == "roster" and "seq" in s["detail"]]
    )
    assert not [s for s in ben.listen(0.3).signals if s["name"] in {"recorded", "roster"}]


def test_a_moved_window_is_sent_to_every_page_of_the_term(
    cast: Cast, backend: Backend, term: Term, section: Section, open_tab: Open
) -> None:
    window = builders.a_coming_window(term)
    tab = opened(open_tab, cast.ada, section).listen(0.3)
    tab.frames.clear()
    backend.ledger.move_window(term.id, window.id, window.opens + 1, window.closes, "tests")
    tab.hear(lambda tab: [s for s in tab.signals if s["name"] == "window"])


def test_changed_and_passed_deadlines_are_sent_to_every_page_of_the_term(
    cast: Cast, backend: Backend, term: Term, section: Section, open_tab: Open
) -> None:
    tab = opened(open_tab, cast.ada, section).listen(0.3)

    def told(tab: Tab) -> list[Any]:
        return [each for each in tab.signals if each["name"] == "window"]

    soon = backend.ledger.now() + 1500
    backend.ledger.put_deadlines(term.id, {"add_deadline": soon}, 1)
    tab.hear(told)
    tab.frames.clear()
    while not told(tab.listen(0.1)):  # until the deadline passes: nothing else happens
        assert backend.ledger.now() < soon + 30_000
        backend.ledger.turn(term.id)
