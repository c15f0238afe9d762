"""Seat counts reach every page that shows the section, soon, once, and no other page."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Claim, Open
from tests.live.nodes import Node, a_node


@pytest.fixture(scope="module")
def other_node(node: Node, logs: Path) -> Iterator[Node]:  # noqa: ARG001
    with a_node(logs) as other:
        yield other


def test_a_new_page_gets_the_counts_as_they_are(
    cast: Cast, term: Term, section: Section, open_tab: Open
) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [section.id])
    tab.shows(section.id, 2)


def test_a_claim_is_seen_by_others_within_a_second(
    cast: Cast, term: Term, section: Section, open_tab: Open, claim: Claim
) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [section.id])
    tab.shows(section.id, 2)
    claim(cast.ben.id, section.id)
    tab.shows(section.id, 1)


def test_a_page_gets_only_updates_of_what_it_shows(
    cast: Cast, term: Term, section: Section, open_tab: Open, claim: Claim
) -> None:
    other = builders.a_section(builders.a_course("MAT-1000"), term)
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [section.id])
    tab.shows(section.id, 2)
    claim(cast.ben.id, other.id)
    claim(cast.cleo.id, section.id)
    tab.shows(section.id, 1)
    assert other.id not in tab.listen(0.3).seats


def test_a_page_that_shows_something_else_gets_its_updates(
    cast: Cast, term: Term, section: Section, open_tab: Open, claim: Claim
) -> None:
    other = builders.a_section(builders.a_course("MAT-1000"), term)
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [section.id])
    tab.shows(section.id, 2)
    tab.ask(term.id, [other.id])
    tab.shows(other.id, 2)
    claim(cast.ben.id, section.id)
    claim(cast.ben.id, other.id)
    tab.shows(other.id, 1)
    assert tab.seats[section.id] == 2


def test_a_burst_of_claims_is_few_frames(
    cast: Cast, term: Term, open_tab: Open, claim: Claim
) -> None:
    busy = builders.a_section(builders.a_course(), term, capacity=200)
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [busy.id])
    tab.shows(busy.id, 200)
    before, began = len(tab.frames), time.monotonic()
    for student in range(9_000, 9_100):
        claim(student, busy.id)
    tab.shows(busy.id, 100)
    lasted = time.monotonic() - began
    assert len(tab.frames) - before <= lasted / 0.1 + 10


def test_two_nodes_push_the_same(
    cast: Cast, section: Section, open_tab: Open, other_node: Node, claim: Claim
) -> None:
    tabs = [open_tab(cast.ada.account_id), open_tab(cast.ben.account_id, other_node)]
    for tab in tabs:
        tab.ask(section.term_id, [section.id])
        tab.shows(section.id, 2)
    claim(cast.cleo.id, section.id)
    for tab in tabs:
        tab.shows(section.id, 1)


def test_a_page_that_comes_back_gets_what_it_missed(
    cast: Cast, term: Term, section: Section, open_tab: Open, claim: Claim
) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [section.id])
    tab.shows(section.id, 2)
    tab.close()
    claim(cast.ben.id, section.id)
    again = open_tab(cast.ada.account_id)
    again.ask(term.id, [section.id])
    again.shows(section.id, 1)


def test_an_account_without_a_student_may_watch_counts(
    cast: Cast, term: Term, section: Section, open_tab: Open
) -> None:
    tab = open_tab(cast.max.id)
    tab.ask(term.id, [section.id])
    tab.shows(section.id, 2)
