"""The ledger stores the newest version of each section."""

from dataclasses import replace

import pytest

from portal.ledger.errors import LedgerBehind
from portal.ledger.types import SeatCounts, SectionSpec
from tests.ledger.requests import TERM, Desk, codes

SPEC = SectionSpec(1, 30, 10, 0, "OPEN", 1, 400, 400, ((5, 540, 620, 18_500, 18_600),), 1)


def test_same_version_of_a_section_changes_nothing(desk: Desk) -> None:
    first = desk.ledger.put_section(TERM, SPEC)
    again = desk.ledger.put_section(TERM, replace(SPEC, capacity=99))
    assert first.seq == 3
    assert again.seq == 0
    assert desk.ledger.put_section(TERM, replace(SPEC, version=0)).seq == 0
    assert len(desk.events()) == 3
    assert desk.ledger.seats(TERM)[1].capacity == 30


def test_new_version_gives_skipped_students_another_chance(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 601):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.promote(1, credit_limit=0)
    desk.section(1, capacity=1, version=2)
    assert desk.ledger.head(TERM, 1, 9) == [601]


def test_counts_can_be_read_for_all_or_for_some_sections(desk: Desk) -> None:
    for section in (1, 2, 3):
        desk.section(section)
    assert desk.ledger.seats(TERM).keys() == {1, 2, 3}
    assert desk.ledger.seats_of(TERM, [3, 99]) == {3: SeatCounts(3, 2, 0, 0, 5, "OPEN", 5)}
    assert desk.ledger.seats_of(TERM, []) == {}
    assert desk.ledger.seats(TERM + 1) == {}


def test_many_sections_are_stored_in_one_round_trip(desk: Desk) -> None:
    specs = [replace(SPEC, section=each) for each in range(1, 2251)]
    changes = desk.ledger.put_sections(TERM, specs)
    assert [change.seq for change in changes] == list(range(3, 3 + 2250))
    assert desk.ledger.put_sections(TERM, []) == []


def test_ledger_behind_the_record_accepts_no_sections(desk: Desk) -> None:
    at = desk.ledger.put_sections(TERM, [SPEC], recorded=2)[0].seq
    desk.redis.flushall()
    with pytest.raises(LedgerBehind):
        desk.ledger.put_sections(TERM, [SPEC], recorded=at)
    with pytest.raises(LedgerBehind):
        desk.ledger.put_window(TERM, 1, "Selection", 1, 2, {}, "registrar", recorded=at)
    assert codes(desk.claim(501, SPEC.section)) == ["window_unscheduled", "section_unknown"]
