"""How likely a seat is: the counts, the bands, and how they fared on real curves."""

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
    """So many seats held for so many days until now; as many beside them are being given up."""
    begun, all_of_them = NOW - days * DAY, seats + freed_seats
    taken = {int(begun // HOUR): Moves(all_of_them, all_of_them * begun, 0)}
    return Tally(taken).plus(
        {int(NOW // HOUR): Moves(-freed_seats, -freed_seats * NOW, freed_seats)}
    )


def a_term(here: Tally, freed_seats: int = 1000, seats: int = 9000) -> FreedSeats:
    """A term in which many seats were freed, and the section 1."""
    return FreedSeats(1, a_tally(seats, freed_seats).plus(here.hours), {1: here})


def odds_of(here: Tally, place: int, days: float, term: FreedSeats | None = None) -> Estimate:
    ends = round((NOW + days * DAY) * 1000)
    return estimate(term or a_term(here), 1, place, now=round(NOW * 1000), ends=ends)


def test_a_seat_is_likely_for_the_first_where_many_come_free() -> None:
    found = odds_of(a_tally(30, 12), place=1, days=20)
    assert (found.band, found.hours, found.freed) == (Band.LIKELY, 48, 12)


def test_it_is_likely_by_the_end_alone_where_that_is_near() -> None:
    found = odds_of(a_tally(300, 40), place=1, days=0.9)
    assert (found.band, found.hours) == (Band.LIKELY, 0)


def test_it_is_unlikely_for_the_last_of_many() -> None:
    assert odds_of(a_tally(30, 3), place=40, days=10).band == Band.UNLIKELY


def test_it_is_unlikely_where_no_time_is_left() -> None:
    assert odds_of(a_tally(30, 3), place=1, days=0.01).band == Band.UNLIKELY


def test_the_terms_rate_speaks_where_nothing_has_come_free_here() -> None:
    found = odds_of(a_tally(60), place=1, days=14)
    assert (found.band, found.freed, found.one_in) == (Band.LIKELY, 0, 5)


def test_a_section_that_has_held_on_for_long_is_doubted() -> None:
    new, old = (odds_of(a_tally(60, days=days), place=2, days=8) for days in (0.1, WEEK))
    assert (new.band, old.band) == (Band.LIKELY, Band.EVEN)


def test_it_is_too_early_where_little_has_come_free_in_the_term() -> None:
    here = a_tally(30, 1)
    assert odds_of(here, 1, 10, a_term(here, freed_seats=2)).band == Band.EARLY
    assert odds_of(Tally(), 1, 10, FreedSeats()).band == Band.EARLY


def test_what_is_older_than_a_week_counts_no_more() -> None:
    long_ago = {int((NOW - 8 * DAY) // HOUR): Moves(30, 30 * (NOW - 8 * DAY), 12)}
    found = odds_of(Tally(long_ago), place=1, days=1)
    assert (found.freed, found.days) == (0, 7)


@given(st.integers(1, 60), st.floats(0.5, 300), st.floats(0.001, 200))
def test_a_later_place_is_never_likelier(place: int, shape: float, mean: float) -> None:
    first, second = tail(place, shape, mean), tail(place + 1, shape, mean)
    assert 0 <= second <= first <= 1


def test_the_tail_is_that_of_the_distribution() -> None:
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


def test_the_log_is_counted_and_then_only_what_is_new(rush: Rush) -> None:
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


def test_it_is_read_once_in_a_while_only(rush: Rush) -> None:
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
def test_on_real_curves_the_words_mean_what_they_say() -> None:
    """One day in each of six weeks, for places on the lists of 522 sections of UC San Diego."""
    came: dict[Band, list[bool]] = defaultdict(list)
    curves = real_enrollment.curves()
    first, last = (f(row[0] for curve in curves for row in curve.rows) for f in (min, max))
    for day in range(11, int((last - first) / DAY), 7):
        at = first + day * DAY
        known = real_enrollment.seen(curves, at)
        for (number, curve), days in product(enumerate(curves), (2, 7, (last - at) / DAY)):
            ends = min(last, at + days * DAY)
            for place in {1, 2, 4, 8, curve.waiting(at)} & set(range(1, curve.waiting(at) + 1)):
                said = estimate(known, number, place, now=ms(at), ends=ms(ends))
                came[said.band].append(curve.freed(at, ends) >= place)
    share = {band: mean(each) for band, each in came.items()}
    assert share[Band.UNLIKELY] < 0.15
    assert 0.4 < share[Band.EVEN] < 0.6
    assert share[Band.LIKELY] > 0.75
    assert min(map(len, came.values())) > 1000


def ms(seconds: float) -> int:
    return round(seconds * 1000)
