"""What happened to a student, newest first: from the event log, and from the journal at once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from portal.backend import Backend, backend
from portal.catalog.models import Section, Term
from portal.db import transaction
from portal.people.models import Student
from portal.record import history as pages
from portal.record.drain import drain
from portal.record.history import Page, history
from portal.record.models import Event
from portal.record.receipts import code, find
from portal.record.told import line
from portal.seats.answers import Answer, Outcome, Reason
from portal.seats.asks import Candidate
from tests import cast as builders
from tests.cast import Cast


@pytest.fixture
def term(cast: Cast) -> Term:
    assert cast
    term = builders.a_term()
    builders.an_open_window(term)
    return term


def sections(term: Term, *capacities: int) -> list[Section]:
    """A section of a course of its own for each capacity."""
    return [
        builders.a_section(builders.a_course(f"CSC-{1100 + number}"), term, capacity=seats)
        for number, seats in enumerate(capacities)
    ]


def asked(term: Term, student: Student) -> dict[str, Any]:
    windows = [window.id for window in backend().ledger.windows(term.id)]
    said = {"actor": f"account:{student.account_id}", "correlation": "a-test"}
    return {"student": student.id, "request": None, "windows": windows, **said}


def claim(student: Student, section: Section, **fields: Any) -> Answer:
    wish = {"credits": 400, "limit": 9900, "wait": False, **fields}
    term = term_of(section)
    return backend().ledger.claim(term.id, section=section.id, **asked(term, student), **wish)


def drop(student: Student, section: Section) -> Answer:
    term, days = term_of(section), [(0, "2030-01-01")]
    ask = asked(term, student) | {"days": days, "drop_limit": 9}
    return backend().ledger.drop(term.id, section=section.id, **ask)


def leave(student: Student, section: Section) -> Answer:
    ask = asked(term := term_of(section), student)
    del ask["windows"]
    return backend().ledger.leave(term.id, section=section.id, **ask)


def promote(student: Student, section: Section, *rules: Reason) -> None:
    term = term_of(section)
    windows = tuple(asked(term, student)["windows"])
    candidate = Candidate(student.id, windows, 9900, rules=rules)
    backend().ledger.promote(term.id, section.id, [candidate], "a-test")


def term_of(section: Section) -> Term:
    with transaction() as session:
        return session.get_one(Term, section.term_id)


def texts(page: Page) -> list[str]:
    return [line(each).story.text for each in page.receipts]


def names(page: Page) -> Sequence[str]:
    return [each.fact.name for each in page.receipts]


def test_each_thing_that_happens_has_a_sentence(term: Term, cast: Cast) -> None:
    [one, full] = sections(term, 1, 1)
    claim(cast.ben, full)
    claim(cast.ada, one)
    claim(cast.ada, full)
    claim(cast.ada, full, wait=True)
    leave(cast.ada, full)
    claim(cast.ada, full, wait=True)
    drop(cast.ada, one)
    drop(cast.ben, full)
    promote(cast.ada, full, Reason("hold", {"reason": "Unpaid fees", "office": "the bursar"}))
    drain(term.id)
    told = texts(history(cast.ada.id, term.id))
    assert told == [
        "A seat in CSC 1101-02 came free, but it could not be yours.",
        "You canceled CSC 1100-01 and gave your seat up.",
        "You joined the waitlist of CSC 1101-02 at place 1.",
        "You left the waitlist of CSC 1101-02.",
        "You joined the waitlist of CSC 1101-02 at place 1.",
        "You asked for CSC 1101-02 and were refused.",
        "You asked for CSC 1100-01 and got a seat.",
    ]


def test_a_promotion_is_told(term: Term, cast: Cast) -> None:
    [full] = sections(term, 1)
    claim(cast.ben, full)
    claim(cast.ada, full, wait=True)
    drop(cast.ben, full)
    promote(cast.ada, full)
    drain(term.id)
    assert texts(history(cast.ada.id, term.id))[0] == (
        "A seat in CSC 1100-01 came free and became yours."
    )


def test_a_refusal_tells_why_and_how_full_it_was(term: Term, cast: Cast) -> None:
    [full] = sections(term, 1)
    claim(cast.ben, full)
    claim(cast.cleo, full, wait=True)
    claim(cast.ada, full)
    drain(term.id)
    [refused] = history(cast.ada.id, term.id).receipts
    story = line(refused).story
    assert [each.code for each in story.reasons] == ["full"]
    assert story.seats == "0 of 1 seats open, 1 waiting."


def test_a_swap_is_one_thing_that_happened(term: Term, cast: Cast) -> None:
    [old, new] = sections(term, 1, 1)
    claim(cast.ada, old)
    claim(cast.ada, new, instead=old.id)
    for _ in range(2):  # as the journal tells it, then as the log does
        page = history(cast.ada.id, term.id)
        assert texts(page)[0] == "You swapped CSC 1100-01 for CSC 1101-02."
        assert names(page) == ["enrolled", "enrolled"]
        drain(term.id)


def test_a_swap_at_promotion_is_one_thing_too(term: Term, cast: Cast) -> None:
    [old, new] = sections(term, 1, 1)
    claim(cast.ben, new)
    claim(cast.ada, old)
    claim(cast.ada, new, instead=old.id, wait=True)
    drop(cast.ben, new)
    promote(cast.ada, new)
    drain(term.id)
    assert texts(history(cast.ada.id, term.id))[:2] == [
        "A seat in CSC 1101-02 came free and became yours, and CSC 1100-01 went for it.",
        "You joined the waitlist of CSC 1101-02 at place 1, to swap CSC 1100-01 for it.",
    ]


def test_a_place_that_becomes_one_for_a_swap_is_told(term: Term, cast: Cast) -> None:
    [old, full] = sections(term, 1, 0)
    claim(cast.ada, full, wait=True)
    claim(cast.ada, old)
    planned = claim(cast.ada, full, instead=old.id, wait=True)
    latest = history(cast.ada.id, term.id).receipts[0]
    assert (latest.fact.seq, line(latest).story.text) == (
        planned.seq,
        "You chose to give CSC 1100-01 up once a seat in CSC 1101-02 comes to you.",
    )


def test_the_refusals_alone_can_be_seen(term: Term, cast: Cast) -> None:
    [one, full] = sections(term, 1, 0)
    claim(cast.ada, one)
    claim(cast.ada, full)
    drop(cast.ada, full)
    leave(cast.ada, full)
    drain(term.id)
    assert texts(history(cast.ada.id, term.id, refused=True)) == [
        "You asked to leave the waitlist of CSC 1101-02 and were refused.",
        "You asked to cancel CSC 1101-02 and were refused.",
        "You asked for CSC 1101-02 and were refused.",
    ]


def test_what_is_not_recorded_yet_is_there_once(term: Term, cast: Cast) -> None:
    [one, two] = sections(term, 1, 1)
    claim(cast.ada, one)
    drain(term.id)
    claim(cast.ada, two)
    claim(cast.ben, one)
    page = history(cast.ada.id, term.id)
    assert [each.recorded for each in page.receipts] == [False, True]


def test_pages_follow_one_another_without_a_gap(
    term: Term, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE", 4)
    [full] = sections(term, 0)
    for _ in range(10):
        claim(cast.ada, full)
    drain(term.id)
    seen, before, more = [], None, True
    while more:
        page = history(cast.ada.id, term.id, before=before)
        seen += [each.fact.seq for each in page.receipts]
        before, more = (term.id, seen[-1]), page.more
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 10


def test_it_holds_nothing_of_others_or_of_other_terms(term: Term, cast: Cast) -> None:
    [one] = sections(term, 5)
    later = builders.a_term("Spring 2031")
    builders.an_open_window(later)
    claim(cast.ada, one)
    claim(cast.ben, one)
    claim(cast.ada, builders.a_section(builders.a_course("CSC-9"), later))
    for each in (term, later):
        drain(each.id)
    assert len(history(cast.ada.id, term.id).receipts) == 1
    assert [each.term for each in history(cast.ada.id).receipts] == [later.id, term.id]


def test_an_event_of_a_newer_release_does_not_break_the_page(term: Term, cast: Cast) -> None:
    said = {"correlation": "", "actor": "", "cause": "", "request": ""}
    told = {"section": 999, "student": cast.ada.id, "act": "juggle", "reasons": [{"code": "odd"}]}
    with transaction() as session:
        session.add(
            Event(
                term_id=term.id,
                seq=10**6,
                name="refused",
                version=1,
                aggregate="section:999",
                student_id=cast.ada.id,
                payload=told,
                context=said,
                occurred_at=datetime(2030, 9, 1, tzinfo=UTC),
            )
        )
    [line_] = [line(each) for each in history(cast.ada.id, term.id).receipts]
    assert line_.story.text == "You asked for section 999 and were refused."
    assert line_.story.seats == ""
    assert line_.story.reasons[0].text


# By its code


def test_a_receipt_is_found_at_once_and_after_it_is_recorded(term: Term, cast: Cast) -> None:
    [full] = sections(term, 0)
    answer = claim(cast.ada, full)
    assert answer.outcome == Outcome.REFUSED
    early = find(code(term.id, answer.seq))
    drain(term.id)
    claim(cast.ben, full)
    drain(term.id)  # the journal has forgotten it
    late = find(code(term.id, answer.seq).lower())
    assert early
    assert late
    assert (early.recorded, late.recorded) == (False, True)
    assert early.fact == late.fact
    assert (late.student, late.section, late.at) == (cast.ada.id, full.id, answer.at)
    assert answer.seats
    assert late.seats == replace(answer.seats, seq=answer.seq)
    assert late.reasons == answer.reasons


def test_what_is_nobodys_has_no_receipt(backend: Backend, term: Term) -> None:
    [window] = backend.ledger.windows(term.id)
    backend.ledger.close_window(term.id, window.id, "tests")
    assert find(code(term.id, 1)) is None
    assert find(code(term.id, 999)) is None
    assert find(code(2**40, 2**70)) is None
