"""The problem of a round: seats that are left, rules, reserves, pools, limits, priorities."""

from typing import Any

import pytest

from portal.allocation.problem import Ballot, Section
from portal.backend import backend
from portal.catalog.models import Pool, Reserve, Term
from portal.catalog.models import Section as Row
from portal.core.db import transaction
from portal.ledger.types import RequestContext, SeatCounts
from portal.rounds.ballots import ballot_of
from portal.rounds.problem import UNALLOWED, build, changed_since, number_of
from portal.windows.models import Round
from portal.windows.warmup import send_sections
from tests.cast import Cast, Meets, a_course, a_section, a_student, a_term, added, an_open_window
from tests.rounds.builders import a_draft, a_round, choice, claims, frozen, ranks


@pytest.fixture
def fall(cast: Cast) -> Term:  # noqa: ARG001
    return a_term()


def a_class(term: Term, code: str, **fields: Any) -> Any:
    return a_section(a_course(code), term, **fields)


def offered(found: Round, section: Any) -> Section:
    sections = build(found).problem.settings.sections
    return next(
        each for each in sections if each.id != UNALLOWED and number_of(each.id) == section.id
    )


def of(found: Round, student: Any) -> Ballot:
    ballot = ballot_of(found.id, student.id)
    assert ballot
    ballots = {each.pseudonym: each for each in build(found).problem.ballots}
    return ballots[ballot.pseudonym]


def test_sections_have_names_courses_and_credits(fall: Term) -> None:
    one = a_class(fall, "CSC-1", capacity=7, meetings=(Meets("MR", "10:00", "11:50"),))
    found = offered(a_round(fall), one)
    assert found.id == f"CSC-1-{one.number} #{one.id}"
    assert (found.course, found.capacity, found.credits) == ("CSC-1", 7, 400)
    assert found.meetings[0][:3] == (9, 600, 710)


def test_canceled_and_confirmed_sections_have_no_seats(fall: Term) -> None:
    found = a_round(fall)
    for number, status in enumerate(("CANCELED", "CONFIRMED", "NEW")):
        assert offered(found, a_class(fall, f"CSC-{number}", status=status)).capacity == 0


def test_seats_taken_before_are_not_given(fall: Term) -> None:
    assert (
        offered(a_round(fall), a_class(fall, "CSC-1", capacity=5, prior_enrolled=3)).capacity == 2
    )


def test_reserved_seats_are_given_to_their_cohort_or_kept(fall: Term, cast: Cast) -> None:
    senior = a_student("eli", year="Senior")
    one = a_class(fall, "CSC-1", capacity=5)
    reserve = added(Reserve(section_id=one.id, position=0, seats=2, cohort={"years": ["Senior"]}))
    _send(fall, one)
    given = a_round(fall)
    assert offered(given, one).reserves == ((f"reserve {reserve.id}", 2),)
    ranks(given, senior, one)
    ranks(given, cast.ada, one)
    assert f"reserve {reserve.id}" in of(given, senior).cohorts
    assert f"reserve {reserve.id}" not in of(given, cast.ada).cohorts
    kept = offered(a_draft(fall, name="Kept", reserves="kept"), one)
    assert (kept.capacity, kept.reserves) == (3, ())


def test_rules_stand_in_the_ballot_as_refused_sections(fall: Term, cast: Cast) -> None:
    fine = a_class(fall, "CSC-1")
    barred = a_class(fall, "CSC-2", prerequisites={"course": "MAT-1"})
    found = a_round(fall)
    ranks(found, cast.ada, fine, barred)
    assert of(found, cast.ada).refused == (offered(found, barred).id, UNALLOWED)
    why = build(found).refused[cast.ada.id]
    assert why[0] == [{str(fine.id): []}]
    assert why[1][0][str(barred.id)][0][0] == "prerequisite"


def test_corequisite_must_be_in_the_same_bundle(fall: Term, cast: Cast) -> None:
    lecture = a_class(fall, "CSC-1", corequisites={"course": "CSC-2"})
    lab = a_class(fall, "CSC-2", corequisites={"course": "CSC-1"})
    found = a_round(fall)
    ranks(found, cast.ada, choice((lecture, lab), lecture))
    ballot = of(found, cast.ada)
    names = [offered(found, each).id for each in (lecture, lab)]
    assert ballot.choices[0].alternatives == (tuple(names), (names[0], UNALLOWED))
    assert ballot.refused == (UNALLOWED,)


def test_bundle_asks_only_for_what_the_student_lacks(fall: Term, cast: Cast) -> None:
    lecture = a_class(fall, "CSC-1", corequisites={"course": "CSC-2"})
    lab = a_class(fall, "CSC-2", corequisites={"course": "CSC-1"})
    window = an_open_window(fall, cohort={"students": [cast.ada.number]})
    claims(fall, lecture, cast.ada, window.id)
    backend().ledger.close_window(fall.id, window.id, "tests")
    found = a_round(fall)
    ranks(found, cast.ada, choice((lecture, lab)))
    ballot = of(found, cast.ada)
    assert [each.alternatives for each in ballot.choices] == [((offered(found, lab).id,),)]
    assert ballot.refused == (UNALLOWED,)


def test_limits_do_not_count_seats_held_before(fall: Term, cast: Cast) -> None:
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    ranks(found, cast.ada, one, most_courses=2, most_credits=900)
    ballot = of(found, cast.ada)
    assert (ballot.most_courses, ballot.most_credits) == (2, 900)


def test_clash_with_a_seat_held_before_is_refused(fall: Term, cast: Cast) -> None:
    times = (Meets("MR", "10:00", "11:50"),)
    held, other = (a_class(fall, code, meetings=times) for code in ("CSC-1", "CSC-2"))
    window = an_open_window(fall, cohort={"students": [cast.ada.number]})
    claims(fall, held, cast.ada, window.id)
    backend().ledger.close_window(fall.id, window.id, "tests")
    found = a_round(fall)
    ranks(found, cast.ada, other, held)
    assert set(of(found, cast.ada).refused) == {
        offered(found, other).id,
        offered(found, held).id,
        UNALLOWED,
    }


def test_seats_that_others_wait_for_are_not_given(fall: Term, cast: Cast) -> None:
    full = a_class(fall, "CSC-1", capacity=1)
    window = an_open_window(fall)
    for student in (cast.ada, cast.ben):
        claims(fall, full, student, window.id)
    backend().ledger.drop(
        RequestContext(fall.id, cast.ada.id, "tests", "tests"),
        full.id,
        windows=[window.id],
        days=[(0, "today")],
        drop_limit=9,
    )
    backend().ledger.close_window(fall.id, window.id, "tests")
    assert backend().ledger.seats(fall.id)[full.id].taken == 0
    assert offered(a_round(fall), full).capacity == 0


def test_seats_beyond_those_that_others_wait_for_are_given(fall: Term, cast: Cast) -> None:
    full = a_class(fall, "CSC-1", capacity=1)
    window = an_open_window(fall)
    for student in (cast.ada, cast.ben):
        claims(fall, full, student, window.id)
    backend().ledger.close_window(fall.id, window.id, "tests")
    with transaction() as session:
        session.get_one(Row, full.id).capacity = 40
    _send(fall, full)
    assert backend().ledger.seats(fall.id)[full.id].waiting == 1
    assert offered(a_round(fall), full).capacity == 38


def test_seats_of_a_pool_beyond_those_that_others_wait_for_are_given(
    fall: Term, cast: Cast
) -> None:
    pool = added(Pool(name="Shared", capacity=2, term_id=fall.id))
    one, two = (a_class(fall, code, capacity=9, pool_id=pool.id) for code in ("CSC-1", "CSC-2"))
    window = an_open_window(fall)
    for student in (cast.ada, cast.ben, cast.cleo):
        claims(fall, one, student, window.id)
    backend().ledger.close_window(fall.id, window.id, "tests")
    assert build(a_round(fall)).problem.settings.pools == {str(pool.id): 0}
    with transaction() as session:
        row = session.get_one(Pool, pool.id)
        row.capacity, row.version = 6, row.version + 1
    _send(fall, two)
    assert build(a_draft(fall, name="Again")).problem.settings.pools == {str(pool.id): 3}


@pytest.mark.parametrize(
    ("counts", "promised"),
    [
        ({"taken": 0, "waiting": 0}, 0),
        ({"taken": 2, "waiting": 5, "skipped": 2}, 3),
        ({"taken": 8, "waiting": 5}, 2),
        ({"taken": 12, "waiting": 5}, 0),
        ({"taken": 5, "waiting": 4, "kept": 5, "unasked": 0}, 0),  # all are set aside
        ({"taken": 2, "waiting": 4, "kept": 5, "unasked": 0}, 3),
        ({"taken": 5, "waiting": 4, "kept": 5, "unasked": 3}, 3),
    ],
)
def test_students_who_wait_come_before_others_for_so_many_seats(
    counts: dict[str, int], promised: int
) -> None:
    known = {"section": 1, "capacity": 10, "waitlist_capacity": 9, "status": "OPEN", "seq": 1}
    assert SeatCounts(**known | counts).promised == promised  # type: ignore[arg-type]


def test_priorities_become_cohorts_of_sections_and_ballots(fall: Term, cast: Cast) -> None:
    major = a_student("eli", majors=("CSC",), year="Senior")
    one = a_class(fall, "CSC-1")
    found = a_round(fall, mechanism="deferred", priorities=("major", "year Senior"))
    assert offered(found, one).priority == ("major CSC", "year Senior")
    ranks(found, major, one)
    ranks(found, cast.ada, one)
    assert of(found, major).cohorts == ("major CSC", "year Senior")
    assert "major CSC" not in of(found, cast.ada).cohorts


def _send(term: Term, section: Any) -> None:
    with transaction() as session:
        session.get_one(Row, section.id).version += 1
    assert send_sections(term.id, section.id)


def test_changes_after_the_end_are_named(fall: Term, cast: Cast) -> None:
    same, fewer, gone = (a_class(fall, f"CSC-{at}", capacity=5) for at in range(3))
    found = a_round(fall)
    ranks(found, cast.ada, same, fewer, gone)
    assert changed_since(frozen(found)) == []
    with transaction() as session:
        session.get_one(Row, fewer.id).capacity = 2
        session.get_one(Row, gone.id).status = "CANCELED"
    for each in (fewer, gone):
        _send(fall, each)
    assert changed_since(found) == [
        (f"CSC-1-{fewer.number}", "2 free seats, not 5"),
        (f"CSC-2-{gone.number}", "No seats any more"),
    ]
