"""Students divided by cohort, by arrival and by what the gate asked of them."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import pytest

from portal.protection import evidence
from portal.recorder.events import Event
from portal.reports.fairness import (
    Arrivals,
    fairness,
    group_name,
    hidden_bands,
    hidden_cohorts,
    hidden_groups,
    promotions_by_band,
    read_arrivals,
)
from portal.reports.window_history import Attempts, Member, WindowHistory
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast

OPENED = 1_000_000
MINUTE = 60_000
NOBODY = Arrivals([], {}, {}, set())


def gathered(attempts: dict[int, Attempts], **members: Any) -> WindowHistory:
    """Students 1 to 20, account = 100 + student, freshmen of the field CSC."""
    people = {
        student: Member(100 + student, "Undergraduate", "Freshman", ("CSC",))
        for student in range(1, 21)
    }
    people |= members.get("others", {})
    return WindowHistory(1, 1, OPENED, OPENED + 60 * MINUTE, people, attempts=attempts)


def asked(got_after: int | None = None, *, seats: int = 0, **refusals: int) -> Attempts:
    """One who asked at the opening, and got it after so many ms if at all."""
    got_at = 0 if got_after is None else OPENED + got_after
    held = set(range(1, seats + 1)) | ({9} if got_at else set())
    return Attempts(9, OPENED, got_at, 1, held, Attempts().refusals.__class__(refusals))


def rows(found: WindowHistory, kind: str, known: Arrivals = NOBODY) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in fairness(found, known)["tables"][kind]}


def test_rates_count_students_with_requests() -> None:
    found = gathered({1: asked(0), 2: asked(3000), 3: asked(None, seats=1), 4: asked(full=2)})
    whole = fairness(found, NOBODY)["all"]
    assert (whole["students"], whole["asked"], whole["got"], whole["seated"]) == (20, 4, 2, 3)
    assert (whole["half"], whole["most"]) == (0, 3000)
    assert whole["reasons"] == {"full": 1}


def test_waits_are_percentiles() -> None:
    found = gathered({at: asked(at * 1000) for at in range(1, 11)})
    whole = fairness(found, NOBODY)["all"]
    assert (whole["half"], whole["most"]) == (5000, 9000)


def test_cohorts_are_separate_and_two_majors_count_in_both() -> None:
    others = {30: Member(130, "Graduate", "First year", ("CSC", "MTH"))}
    found = gathered({30: asked(0)}, others=others)
    assert {name: row["asked"] for name, row in rows(found, "level").items()} == {
        "Graduate": 1,
        "Undergraduate": 0,
    }
    assert {name: row["students"] for name, row in rows(found, "major").items()} == {
        "CSC": 21,
        "MTH": 1,
    }


def test_a_tenth_of_the_draw_is_named_by_its_share() -> None:
    assert group_name("arrival", "early:01") == "Draw: 0% to 10%"
    assert group_name("arrival", "early:10") == "Draw: 90% to 100%"


def test_the_early_are_divided_by_tenths_of_the_line_and_the_late_by_minutes() -> None:
    late = {11: OPENED + 10, 12: OPENED + 4 * MINUTE, 13: OPENED + 90 * MINUTE}
    known = Arrivals(list(range(1, 11)), late, {}, set())
    found = rows(gathered({1: asked(0)}), "arrival", known)
    assert {name: row["students"] for name, row in found.items()} == {
        **{f"early:{tenth:02}": 1 for tenth in range(1, 11)},
        "late:1": 1,
        "late:5": 1,
        "late:more": 1,
        "away": 7,
    }
    assert found["early:01"]["got"] == 1


def test_proofs_and_limits_divide_them_by_their_accounts() -> None:
    known = Arrivals([], {}, {101: "code", 102: "work"}, {102})
    found = gathered({1: asked(0), 2: asked(None)})
    assert {name: row["students"] for name, row in rows(found, "screen", known).items()} == {
        "code": 1,
        "work": 1,
        "none": 18,
    }
    assert rows(found, "limits", known)["limited"]["asked"] == 1


def test_students_of_other_cohorts_are_in_no_group() -> None:
    known = Arrivals([99], {98: OPENED}, {}, set())
    assert set(rows(gathered({}), "arrival", known)) == {"away"}


def test_arrivals_and_captchas_come_from_the_waiting_room(cast: Cast) -> None:
    term = builders.a_term()
    window = builders.a_coming_window(term)
    for student in (cast.ada, cast.ben):
        room.enter(term.id, window.id, student.id)
    early = {cast.ada.id, cast.ben.id}
    ledger = builders.backend().ledger
    ledger.move_window(term.id, window.id, ledger.now() - MINUTE, window.closes, "tests")
    room.enter(term.id, window.id, cast.cleo.id)
    evidence.record_proof(cast.ada.account_id, "code")
    evidence.record_proof(cast.ada.account_id, "work")
    evidence.record_limited(cast.ben.account_id)
    known = read_arrivals(
        WindowHistory(window.id, term.id, window.opens - 10**9, window.closes, {})
    )
    assert set(known.early) == early
    assert set(known.late) == {cast.cleo.id}
    assert known.ways == {cast.ada.account_id: "work"}
    assert known.limited == {cast.ben.account_id}


def table(*asked: int) -> list[dict[str, Any]]:
    return [{"name": str(at), "asked": count} for at, count in enumerate(asked)]


@pytest.mark.parametrize(
    ("counts", "hidden"),
    [
        ((9, 8, 7), set()),
        ((9, 8, 4), {"2", "1"}),  # one alone would follow from the others and their sum
        ((9, 3, 4), {"1", "2"}),
        ((9, 1, 1, 8), {"1", "2", "3"}),  # both would follow from a sum of two
        ((2, 1, 1), {"0", "1", "2"}),
        ((9, 0, 8), {"1"}),  # of nobody there is nothing to hide
        ((3,), {"0"}),
    ],
)
def test_small_groups_are_hidden(counts: tuple[int, ...], hidden: set[str]) -> None:
    assert hidden_groups(table(*counts)) == hidden


def test_a_small_cohort_does_not_follow_from_its_year_or_level() -> None:
    asked = {("Senior", "UG"): 20, ("Senior", "GR"): 2, ("Junior", "UG"): 9, ("Junior", "GR"): 30}
    rows = [
        {"year": year, "level": level, "asked": count} for (year, level), count in asked.items()
    ]
    assert hidden_cohorts(rows) == set(asked), "each sum of a year and of a level has two rows"
    rows = [*rows[:1], {"year": "Senior", "level": "GR", "asked": 0}, *rows[2:]]
    assert hidden_cohorts(rows) == {("Senior", "GR")}


def event(name: str, student: int, **payload: Any) -> Event:
    """Something that happened on the waitlist of section 9, in the window."""
    facts = {"section": 9, "student": student, **payload}
    return Event(1, datetime.now(UTC), name, 1, "section:9", facts, {"during": 1})


def test_promotions_by_band_are_compared_with_first_come_first_served() -> None:
    found = gathered(defaultdict(Attempts))
    for ticket, (student, band) in enumerate(((1, 3), (2, 2), (3, 1), (4, 3)), 1):
        found.state.waitlist[9, student] = {"state": "waiting"}
        found.add(event("waitlisted", student, ticket=ticket, band=band))
    found.add(event("promoted", 3))  # before 1, who came first
    found.add(event("left", 1))
    found.add(event("promoted", 2))  # who is now first anyway
    report = fairness(found, NOBODY)
    assert report["bands"] == [
        {"band": 1, "promoted": 1, "first_come": 0},
        {"band": 2, "promoted": 1, "first_come": 1},
        {"band": 3, "promoted": 0, "first_come": 1},
    ]
    assert promotions_by_band(report) == report["bands"]
    assert hidden_bands(report["bands"]) == {1, 2, 3}


def test_small_counts_of_bands_are_hidden_with_what_tells_them() -> None:
    def hidden(*counts: tuple[int, int]) -> set[int]:
        rows = [
            {"band": band, "promoted": promoted, "first_come": first_come}
            for band, (promoted, first_come) in enumerate(counts, 1)
        ]
        return hidden_bands(rows)

    assert hidden((10, 8), (6, 8)) == set()
    assert hidden((10, 9), (6, 5), (3, 5)) == {2, 3}, "the sum tells the 3"


def followed(*events: Event) -> dict[int, tuple[int, int]]:
    """By band, the promotions of these events, and those of first come, first served."""
    found = gathered(defaultdict(Attempts))
    for each in events:
        found.state.waitlist[each.payload["section"], each.payload["student"]] = {
            "state": "waiting" if each.name == "waitlisted" else each.name
        }
        found.add(each)
    rows = fairness(found, NOBODY)["bands"]
    return {row["band"]: (row["promoted"], row["first_come"]) for row in rows}


def joined(student: int, band: int, **payload: Any) -> Event:
    """A student who joins, with a ticket like the student's number."""
    return event("waitlisted", student, ticket=student, band=band, **payload)


def test_one_student_is_overtaken_once_however_many_overtake() -> None:
    seniors = [joined(student, 1) for student in range(2, 12)]
    promoted = [event("promoted", student) for student in range(2, 12)]
    assert followed(joined(1, 3), *seniors, *promoted) == {1: (10, 9), 3: (0, 1)}
    both = [joined(1, 3), *seniors[:2], *promoted[:2], event("promoted", 1)]
    assert followed(*both) == {1: (2, 2), 3: (1, 1)}, "all have a seat in either order"


def test_a_reserved_seat_is_compared_with_no_one() -> None:
    reserved = event("promoted", 2, reserve=4)
    assert followed(joined(1, 2), joined(2, 1), reserved) == {1: (1, 1)}


def test_lists_of_one_pool_are_one_line() -> None:
    found = gathered(defaultdict(Attempts))
    full = {"prior": 0, "enrolled": 3, "capacity": 3, "pool_id": 7}
    found.state.seats |= {8: {**full, "capacity": 5}, 9: full, 10: full}
    found.state.pools[7] = {8, 9, 10}
    for student, band, section in ((1, 2, 10), (2, 2, 8), (3, 1, 9)):
        found.state.waitlist[section, student] = {"state": "waiting"}
        found.add(joined(student, band, section=section))
    found.add(event("promoted", 3))
    assert found.first_come == {2: 1}
    assert set(found.by_ticket) == {(10, 1), (9, 3)}, "section 10 is full itself"


def test_without_bands_nothing_is_compared() -> None:
    found = gathered(defaultdict(Attempts))
    found.add(event("waitlisted", 1, ticket=1))
    found.add(event("promoted", 1))
    assert promotions_by_band(fairness(found, NOBODY)) == []
    assert promotions_by_band({"all": {}, "tables": {}}) == []
