"""A student's history, newest first: from the event log, and at once from the journal."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.ledger.types import Reason
from portal.recorder import receipts as pages
from portal.recorder.models import LoggedEvent
from portal.recorder.receipt_texts import receipt_text
from portal.recorder.receipts import HistoryPage, history
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.recorder.student_actions import claim, drop, leave, promote, sections


def texts(page: HistoryPage) -> list[str]:
    return [receipt_text(each).text for each in page.receipts]


def names(page: HistoryPage) -> Sequence[str]:
    return [each.event.name for each in page.receipts]


def test_each_event_has_a_sentence(term: Term, cast: Cast) -> None:
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
    result = texts(history(cast.ada.id, term.id))
    assert result == [
        "A seat opened in CSC 1101-02, but you couldn’t get it.",
        "You dropped CSC 1100-01.",
        "You joined the waitlist for CSC 1101-02 at position 1.",
        "You left the waitlist for CSC 1101-02.",
        "You joined the waitlist for CSC 1101-02 at position 1.",
        "You couldn’t add CSC 1101-02.",
        "You added CSC 1100-01.",
    ]


def test_history_has_promotions(term: Term, cast: Cast) -> None:
    [full] = sections(term, 1)
    claim(cast.ben, full)
    claim(cast.ada, full, wait=True)
    drop(cast.ben, full)
    promote(cast.ada, full)
    drain(term.id)
    assert texts(history(cast.ada.id, term.id))[0] == (
        "You got a seat in CSC 1100-01 from the waitlist."
    )


def test_refusal_has_reasons_and_counts(term: Term, cast: Cast) -> None:
    [full] = sections(term, 1)
    claim(cast.ben, full)
    claim(cast.cleo, full, wait=True)
    claim(cast.ada, full)
    drain(term.id)
    [refused] = history(cast.ada.id, term.id).receipts
    text = receipt_text(refused)
    assert [each.code for each in text.reasons] == ["full"]
    assert text.seats == "0 of 1 seat open, 1 waiting."


def test_swap_is_one_entry(term: Term, cast: Cast) -> None:
    [old, new] = sections(term, 1, 1)
    claim(cast.ada, old)
    claim(cast.ada, new, swap_out=old.id)
    for _ in range(2):  # from the journal, then from the log
        page = history(cast.ada.id, term.id)
        assert texts(page)[0] == "You swapped CSC 1100-01 for CSC 1101-02."
        assert names(page) == ["enrolled", "enrolled"]
        drain(term.id)


def test_promoted_swap_is_one_entry(term: Term, cast: Cast) -> None:
    [old, new] = sections(term, 1, 1)
    claim(cast.ben, new)
    claim(cast.ada, old)
    claim(cast.ada, new, swap_out=old.id, wait=True)
    drop(cast.ben, new)
    promote(cast.ada, new)
    drain(term.id)
    assert texts(history(cast.ada.id, term.id))[:2] == [
        "You got a seat in CSC 1101-02 from the waitlist and dropped CSC 1100-01.",
        "You joined the waitlist for CSC 1101-02 at position 1, to swap CSC 1100-01 for it.",
    ]


def test_position_that_becomes_a_swap_is_shown(term: Term, cast: Cast) -> None:
    [old, full] = sections(term, 1, 0)
    claim(cast.ada, full, wait=True)
    claim(cast.ada, old)
    planned = claim(cast.ada, full, swap_out=old.id, wait=True)
    latest = history(cast.ada.id, term.id).receipts[0]
    assert (latest.event.seq, receipt_text(latest).text) == (
        planned.seq,
        "You chose to drop CSC 1100-01 when you get a seat in CSC 1101-02.",
    )


def test_history_can_show_only_refusals(term: Term, cast: Cast) -> None:
    [one, full] = sections(term, 1, 0)
    claim(cast.ada, one)
    claim(cast.ada, full)
    drop(cast.ada, full)
    leave(cast.ada, full)
    drain(term.id)
    assert texts(history(cast.ada.id, term.id, refused=True)) == [
        "You couldn’t leave the waitlist for CSC 1101-02.",
        "You couldn’t drop CSC 1101-02.",
        "You couldn’t add CSC 1101-02.",
    ]


def test_unrecorded_events_appear_once(term: Term, cast: Cast) -> None:
    [one, two] = sections(term, 1, 1)
    claim(cast.ada, one)
    drain(term.id)
    claim(cast.ada, two)
    claim(cast.ben, one)
    page = history(cast.ada.id, term.id)
    assert [each.recorded for each in page.receipts] == [False, True]


def test_history_pages_have_no_gap(term: Term, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 4)
    [full] = sections(term, 0)
    for _ in range(10):
        claim(cast.ada, full)
    drain(term.id)
    seen, before, more = [], None, True
    while more:
        page = history(cast.ada.id, term.id, before=before)
        seen += [each.event.seq for each in page.receipts]
        before, more = (term.id, seen[-1]), page.more
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 10


def test_history_has_nothing_of_other_students_or_terms(term: Term, cast: Cast) -> None:
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


def test_event_of_a_newer_release_does_not_break_the_history(term: Term, cast: Cast) -> None:
    result = {"correlation": "", "actor": "", "cause": "", "request": ""}
    found = {"section": 999, "student": cast.ada.id, "act": "juggle", "reasons": [{"code": "odd"}]}
    with transaction() as session:
        session.add(
            LoggedEvent(
                term_id=term.id,
                seq=10**6,
                name="refused",
                version=1,
                aggregate="section:999",
                student_id=cast.ada.id,
                payload=found,
                context=result,
                occurred_at=datetime(2030, 9, 1, tzinfo=UTC),
            )
        )
    [line_] = [receipt_text(each) for each in history(cast.ada.id, term.id).receipts]
    assert line_.text == "You couldn’t add section 999."
    assert line_.seats == ""
    assert line_.reasons[0].text
