"""The odds of a seat: counts, bands, and a check on real curves."""

from collections import defaultdict
from datetime import UTC, datetime
from itertools import product
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.recorder import odds
from portal.recorder.odds import DAY, HOUR, Band, Estimate, FreedSeats, Moves, Tally, estimate, tail
from portal.recorder.recorder import drain
from tests.recorder import real_enrollment
from tests.recorder.rush import Rush, a_rush, claim, claims, drop, everyone_everywhere

NOW = 1_000 * DAY
WEEK = 7


def a_tally(seats: int, freed_seats: int = 0, days: float = WEEK) -> Tally:
    """Return a tally of seats held for some days until now, and of dropped ones."""
    begun, all_of_them = NOW - days * DAY, seats + freed_seats
    taken = {int(begun // HOUR): Moves(all_of_them, all_of_them * begun, 0)}
    return Tally(taken).plus(
        {int(NOW // HOUR): Moves(-freed_seats, -freed_seats * NOW, freed_seats)}
    )


def a_term(here: Tally, freed_seats: int = 1000, seats: int = 9000) -> FreedSeats:
    """Return a term in which many seats were freed, with section 1."""
    return FreedSeats(1, a_tally(seats, freed_seats).plus(here.hours), {1: here})


def odds_of(here: Tally, position: int, days: float, term: FreedSeats | None = None) -> Estimate:
    ends = round((NOW + days * DAY) * 1000)
    return estimate(term or a_term(here), 1, position, now=round(NOW * 1000), ends=ends)


def test_seat_is_likely_for_the_first_if_many_seats_are_freed() -> None:
    found = odds_of(a_tally(30, 12), position=1, days=20)
    assert (found.band, found.hours, found.freed) == (Band.LIKELY, 48, 12)


def test_seat_is_likely_only_by_the_end_if_that_is_near() -> None:
    found = odds_of(a_tally(300, 40), position=1, days=0.9)
    assert (found.band, found.hours) == (Band.LIKELY, 0)


def test_seat_is_unlikely_for_the_last_of_many() -> None:
    assert odds_of(a_tally(30, 3), position=40, days=10).band == Band.UNLIKELY


def test_seat_is_unlikely_without_time_left() -> None:
    assert odds_of(a_tally(30, 3), position=1, days=0.01).band == Band.UNLIKELY


def test_terms_rate_counts_if_the_section_freed_no_seat() -> None:
    found = odds_of(a_tally(60), position=1, days=14)
    assert (found.band, found.freed, found.one_in) == (Band.LIKELY, 0, 5)


def test_section_without_drops_for_long_lowers_the_odds() -> None:
    new, old = (odds_of(a_tally(60, days=days), position=2, days=8) for days in (0.1, WEEK))
    assert (new.band, old.band) == (Band.LIKELY, Band.EVEN)


def test_odds_are_too_early_with_few_drops_in_the_term() -> None:
    here = a_tally(30, 1)
    assert odds_of(here, 1, 10, a_term(here, freed_seats=2)).band == Band.EARLY
    assert odds_of(Tally(), 1, 10, FreedSeats()).band == Band.EARLY


def test_drops_older_than_a_week_do_not_count() -> None:
    long_ago = {int((NOW - 8 * DAY) // HOUR): Moves(30, 30 * (NOW - 8 * DAY), 12)}
    found = odds_of(Tally(long_ago), position=1, days=1)
    assert (found.freed, found.days) == (0, 7)


@given(st.integers(1, 60), st.floats(0.5, 300), st.floats(0.001, 200))
def test_later_position_is_never_likelier(position: int, shape: float, mean: float) -> None:
    first, second = tail(position, shape, mean), tail(position + 1, shape, mean)
    assert 0 <= second <= first <= 1


def test_tail_equals_the_distributions() -> None:
    # Shape 2, mean 3: P(0) = (2/5)², P(1) = 2·(2/5)²·(3/5).
    assert tail(0, 2, 3) == 1
    assert tail(1, 2, 3) == pytest.approx(1 - 0.16)
    assert tail(2, 2, 3) == pytest.approx(1 - 0.16 - 0.192)


# From the event log


@pytest.fixture
def rush(backend: object) -> Rush:
    assert backend
    odds.forget_freed_seats()
    return a_rush(sections=2, students=6, capacity=6)


def test_only_new_events_are_counted(rush: Rush) -> None:
    claims(rush, everyone_everywhere(rush))
    first, second = rush.sections
    drop(rush, rush.students[0], first)
    drain(rush.term)
    before = odds.read_freed_seats(rush.term)
    now = datetime.now(UTC).timestamp()
    assert before.sections[first].seats == 5
    assert before.sections[second].seats == 6
    assert before.term.since(now - DAY, now).freed == 1

    odds.forget_freed_seats()
    odds.refresh_freed_seats(rush.term)
    drop(rush, rush.students[1], first)
    claim(rush, rush.students[0], first)
    drain(rush.term)
    after = odds.read_freed_seats(rush.term)
    now = datetime.now(UTC).timestamp()
    assert after.sections[first].seats == 5
    assert after.sections[first].since(now - DAY, now).freed == 2
    assert after.term.seats == 11
    odds.forget_freed_seats()
    whole = odds.read_freed_seats(rush.term)
    assert (whole.seq, whole.sections.keys()) == (after.seq, after.sections.keys())
    assert whole.term.since(now - DAY, now).freed == 2


def test_held_seats_add_up_to_seat_days(rush: Rush) -> None:
    claims(rush, [(student, rush.sections[0]) for student in rush.students])
    drain(rush.term)
    tally = odds.read_freed_seats(rush.term).sections[rush.sections[0]]
    now = datetime.now(UTC).timestamp()
    assert tally.since(now, now + DAY).seat_days == pytest.approx(6, abs=0.3)


def test_freed_seats_are_read_rarely(rush: Rush) -> None:
    odds.refresh_freed_seats(rush.term)
    claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    odds.refresh_freed_seats(rush.term)
    assert odds.known_freed_seats(rush.term).sections == {}


# On real curves


@pytest.mark.skipif(
    not real_enrollment.FOLDER.is_dir(),
    reason=f"the real curves are not at {real_enrollment.FOLDER}",
)
def test_odds_are_right_on_real_enrollment_curves() -> None:
    """Check one day in each of six weeks, for waitlists of 522 sections of UC San Diego."""
    came: dict[Band, list[bool]] = defaultdict(list)
    curves = real_enrollment.curves()
    first, last = (f(row[0] for curve in curves for row in curve.rows) for f in (min, max))
    for day in range(11, int((last - first) / DAY), 7):
        at = first + day * DAY
        known = real_enrollment.seen(curves, at)
        for (number, curve), days in product(enumerate(curves), (2, 7, (last - at) / DAY)):
            ends = min(last, at + days * DAY)
            for position in {1, 2, 4, 8, curve.waiting(at)} & set(range(1, curve.waiting(at) + 1)):
                result = estimate(known, number, position, now=ms(at), ends=ms(ends))
                came[result.band].append(curve.freed(at, ends) >= position)
    share = {band: mean(each) for band, each in came.items()}
    assert share[Band.UNLIKELY] < 0.15
    assert 0.4 < share[Band.EVEN] < 0.6
    assert share[Band.LIKELY] > 0.75
    assert min(map(len, came.values())) > 1000


def ms(seconds: float) -> int:
    return round(seconds * 1000)
