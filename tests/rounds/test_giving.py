"""Giving the seats of a published round: once, resumable, in the order of the round."""

import json
from typing import Any

import pytest
from sqlalchemy import func, select, update

from portal.allocation.mechanisms import draw_order
from portal.allocation.proof import seed_of, sha256
from portal.backend import backend
from portal.catalog.models import Pool, Reserve, Section, Term
from portal.core.db import transaction
from portal.ledger.client import Ledger
from portal.ledger.errors import LedgerUnavailable
from portal.notifications.models import Notification
from portal.people.models import Hold, Student
from portal.recorder.consistency import audit
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from portal.registration.requests import Choice, SectionRequest
from portal.rounds import giving, results, steps, store
from portal.rounds.ballots import ballot_of
from portal.web.api.fields import KEY
from portal.windows.models import Round
from portal.windows.warmup import send_sections
from tests.audit_trail import entries
from tests.cast import Cast, Meets, a_course, a_section, a_student, a_term, added, an_open_window
from tests.rounds.builders import (
    a_round,
    again,
    an_admin,
    choice,
    claims,
    computed,
    ended,
    frozen,
    known,
    permits,
    published,
    ranks,
)
from tests.statements import looked_up


@pytest.fixture
def fall(cast: Cast) -> Term:  # noqa: ARG001
    return a_term()


@pytest.fixture
def crowd(cast: Cast) -> list[Student]:
    return [cast.ada, cast.ben, cast.cleo, cast.dan, *(a_student(f"s{at}") for at in range(8))]


@pytest.fixture
def popular(fall: Term, crowd: list[Student]) -> tuple[Round, Section, Section]:
    """A round of twelve students for three seats; all others get their second choice."""
    one, two = (
        a_section(a_course(code), fall, capacity=seats, waitlist=20)
        for code, seats in (("CSC-1", 3), ("MTH-1", 12))
    )
    found = a_round(fall)
    for student in crowd:
        ranks(found, student, one, two)
    return found, one, two


def seats(term: Term) -> dict[int, list[int]]:
    """The students of each section."""
    ledger, found = backend().ledger, {}
    for section in ledger.seats(term.id):
        roster: Any = ledger.redis(term.id).hkeys(f"{{t:{term.id}}}:roster:{section}")
        found[section] = sorted(map(int, roster))
    return found


def differences(term: Term) -> list[Any]:
    drain(term.id)
    return list(audit.audit_term(term.id)["differences"])


def test_everyone_has_what_the_result_says(
    fall: Term, popular: tuple[Round, Section, Section], crowd: list[Student]
) -> None:
    found, one, two = popular
    after = published(found)
    result = json.loads(store.file_of(found.id, "published") or "")["result"]
    steps.work(fall.id)
    assert again(found.id).state == "applied"
    names = {
        sha256(ballot.code): ballot.student
        for each in crowd
        if (ballot := ballot_of(found.id, each.id))
    }
    winners = sorted(names[each] for each, given in result.items() if given[0][0] == 1)
    assert seats(fall)[one.id] == winners
    assert len(seats(fall)[two.id]) == 12
    assert after.version < again(found.id).version


def test_events_say_which_round_and_turn(
    fall: Term, popular: tuple[Round, Section, Section]
) -> None:
    found, one, _two = popular
    published(found)
    steps.work(fall.id)
    drain(fall.id)
    with transaction() as session:
        events = session.scalars(
            select(LoggedEvent).where(LoggedEvent.name == "enrolled").order_by(LoggedEvent.seq)
        ).all()
    assert {each.context["round"] for each in events} == {found.id}
    turns = {each.context["turn"] for each in events if each.payload["section"] == one.id}
    assert turns == {1}


@pytest.mark.parametrize("mechanism", ["draft", "serial"])
def test_unmet_choices_join_the_waitlist_in_the_order_of_the_round(
    fall: Term, popular: tuple[Round, Section, Section], mechanism: str
) -> None:
    """These mechanisms read no priorities, neither for seats nor for the waitlist."""
    found, one, _two = popular
    with transaction() as session:
        session.execute(update(Round).values(mechanism=mechanism, priorities=["year Senior"]))
        session.execute(update(Student).where(Student.id % 2 == 0).values(year="Senior"))
    published(found)
    steps.work(fall.id)
    problem, after = store.frozen_problem(found.id), again(found.id)
    order = draw_order(problem, seed_of(after.secret, after.public_value or ""))
    with transaction() as session:
        codes = {
            sha256(code): student
            for student, code in session.execute(
                select(giving.BallotRow.student_id, giving.BallotRow.code)
            )
        }
    drawn = [codes[problem.ballots[number].pseudonym] for number in order]
    queue: Any = backend().redis.zrange(f"{{t:{fall.id}}}:queue:{one.id}", 0, -1)
    assert list(map(int, queue)) == [each for each in drawn if each not in seats(fall)[one.id]]
    waiting = int(queue[0])
    (first, second) = results.outcomes(after, waiting)
    assert "You are on its waitlist." in first.alternatives[0].texts
    assert second.seated


def test_no_student_can_use_the_key_of_a_move(
    fall: Term, popular: tuple[Round, Section, Section], monkeypatch: pytest.MonkeyPatch
) -> None:
    published(popular[0])
    keys: list[str] = []
    usual = Ledger.allocate

    def allocate(self: Ledger, term: int, number: int, moves: Any, *args: Any) -> Any:
        keys.extend(each.idempotency_key for each in moves)
        return usual(self, term, number, moves, *args)

    monkeypatch.setattr(Ledger, "allocate", allocate)
    steps.work(fall.id)
    assert len(keys) == 15 + 9
    assert not any(KEY.fullmatch(each) for each in keys)


def test_seat_is_given_under_the_reserve_of_the_result(fall: Term) -> None:
    """In turn 2 the junior comes first, to the only reserve that is for juniors too."""
    one, art = (a_section(a_course(code), fall, capacity=2) for code in ("CSC-1", "ART-1"))
    first, second = (
        added(Reserve(section_id=one.id, position=at, seats=1, cohort={"years": years}))
        for at, years in enumerate((["Junior", "Senior"], ["Senior"]))
    )
    senior, junior = a_student("eli", year="Senior"), a_student("fay", year="Junior")
    with transaction() as session:
        session.get_one(Section, one.id).version += 1
    assert send_sections(fall.id, one.id)
    found = a_round(fall)
    for student in (senior, junior):
        ranks(found, student, art, one)
    frozen(found)
    after = known(found)
    problem, ballot = store.frozen_problem(found.id), ballot_of(found.id, senior.id)
    assert ballot
    value = next(  # with which the senior is drawn first
        each
        for each in map(str, range(99))
        if problem.ballots[draw_order(problem, seed_of(after.secret, each))[0]].pseudonym
        == ballot.pseudonym
    )
    steps.enter_value(after.id, after.version, value, an_admin(), "tests")
    steps.work(fall.id)
    steps.publish(found.id, again(found.id).version, an_admin(), "tests")
    moves = [each for each in giving.moves(again(found.id)) if each.sections[0].section == one.id]
    under = {each.student: each.reserves for each in moves}
    assert under == {junior.id: (first.id,), senior.id: (second.id,)}
    steps.work(fall.id)
    assert seats(fall)[one.id] == sorted((junior.id, senior.id))


def test_student_who_does_not_want_to_wait_joins_no_waitlist(fall: Term, cast: Cast) -> None:
    one, found = a_section(a_course(), fall, capacity=1), a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, choice(one, wait=False))
    published(found)
    steps.work(fall.id)
    assert backend().ledger.seats(fall.id)[one.id].waiting == 0


def test_seats_are_held_back_from_the_end_until_all_is_given(
    fall: Term, popular: tuple[Round, Section, Section]
) -> None:
    found, one, _two = popular
    frozen(found)
    key = f"{{t:{fall.id}}}:in_round"
    assert backend().redis.hexists(key, str(one.id))
    assert differences(fall) == []
    after = known(found)
    steps.enter_value(after.id, after.version, "4711", an_admin(), "tests")
    steps.work(fall.id)
    steps.publish(found.id, again(found.id).version, an_admin(), "tests")
    assert backend().redis.hexists(key, str(one.id))
    steps.work(fall.id)
    assert not backend().redis.exists(key)
    assert differences(fall) == []


def test_window_takes_no_seat_between_the_end_and_the_holding_back(
    fall: Term, popular: tuple[Round, Section, Section], crowd: list[Student]
) -> None:
    found, one, _two = popular
    ended(found)
    window = an_open_window(fall)
    claims(fall, one, crowd[0], window.id)
    assert seats(fall)[one.id] == []
    steps.close(found.id)
    claims(fall, one, crowd[0], window.id)
    assert seats(fall)[one.id] == []
    assert differences(fall) == []


def test_canceled_round_holds_nothing_at_its_end(
    fall: Term, popular: tuple[Round, Section, Section], crowd: list[Student]
) -> None:
    found, one, _two = popular
    steps.cancel(found.id, found.version, an_admin(), "tests")
    assert looked_up(steps.due_jobs, [fall.id])
    steps.work(fall.id)
    assert looked_up(steps.due_jobs, [fall.id]) == []
    claims(fall, one, crowd[0], an_open_window(fall).id)
    assert seats(fall)[one.id] == [crowd[0].id]
    assert differences(fall) == []


def test_positions_keep_the_limits_of_the_ballot(fall: Term, cast: Cast) -> None:
    """Two want both sections, but one course: the one who got the second waits for none."""
    one, two = (a_section(a_course(code), fall, capacity=1) for code in ("CSC-1", "MTH-1"))
    found = a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, one, two, most_courses=1)
    published(found)
    steps.work(fall.id)
    (loser,) = (each for each in (cast.ada, cast.ben) if seats(fall)[two.id] == [each.id])
    assert backend().ledger.seats(fall.id)[one.id].waiting == 0
    first, _second = results.outcomes(again(found.id), loser.id)
    assert "could break the limits of your ballot" in first.alternatives[0].texts[1]


def test_choice_over_the_limits_leaves_the_next_one_its_position(fall: Term, cast: Cast) -> None:
    """With one position the second would be over nine credits; the third fits."""
    kept, *full = (
        a_section(a_course(f"{code}-1", credits=amount), fall, capacity=1)
        for code, amount in (("ART", 3), ("CSC", 4), ("MTH", 6), ("PHY", 2))
    )
    found = a_round(fall)
    for student, section in zip((cast.ben, cast.cleo, cast.dan), full, strict=True):
        ranks(found, student, section)
    ranks(found, cast.ada, kept, *full, most_credits=900)
    published(found)
    steps.work(fall.id)
    counts = backend().ledger.seats(fall.id)
    assert [counts[each.id].waiting for each in full] == [1, 0, 1]
    _kept, _first, second, third = results.outcomes(again(found.id), cast.ada.id)
    assert "could break the limits of your ballot" in second.alternatives[0].texts[1]
    assert "You are on its waitlist." in third.alternatives[0].texts


@pytest.mark.parametrize("order", [1, -1])
def test_permission_for_a_time_conflict_counts_in_a_round(
    fall: Term, cast: Cast, order: int
) -> None:
    times = (Meets("MR", "10:00", "11:50"),)
    one, two = (a_section(a_course(code), fall, meetings=times) for code in ("CSC-1", "MTH-1"))
    permits(cast.ada, one, "time_conflict")
    found = a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, *(one, two)[::order])
    published(found)
    steps.work(fall.id)
    assert cast.ada.id in seats(fall)[one.id]
    assert cast.ada.id in seats(fall)[two.id]
    assert sum(cast.ben.id in each for each in seats(fall).values()) == 1


def test_permission_for_the_same_course_and_the_credit_limit_count_in_a_round(
    fall: Term, cast: Cast
) -> None:
    course = a_course("CSC-1", credits=12)
    one, two = (a_section(course, fall) for _ in range(2))
    permits(cast.ada, one, "same_course", "credit_limit")
    found = a_round(fall, most_credits=3000)
    for student in (cast.ada, cast.ben):
        ranks(found, student, one, two)
    published(found)
    steps.work(fall.id)
    assert [cast.ada.id in each for each in seats(fall).values()] == [True, True]
    assert sum(cast.ben.id in each for each in seats(fall).values()) == 1


def test_seat_of_a_range_has_the_chosen_credits(fall: Term, cast: Cast) -> None:
    thesis = a_section(a_course("CSC-1", credits_max=8), fall)
    found = a_round(fall)
    ranks(found, cast.ada, Choice(((SectionRequest(thesis.id, 700),),)))
    published(found)
    steps.work(fall.id)
    (seat,) = backend().ledger.registrations(fall.id, cast.ada.id).enrolled
    assert seat.credits == 700


def test_sections_that_share_seats_are_held_back_together(fall: Term, cast: Cast) -> None:
    pool = added(Pool(name="Shared", capacity=1, term_id=fall.id))
    one, other = (
        a_section(a_course(code), fall, capacity=1, pool_id=pool.id) for code in ("CSC-1", "CSC-2")
    )
    found = a_round(fall)
    ranks(found, cast.ada, one)
    frozen(found)
    held = backend().redis.hkeys(f"{{t:{fall.id}}}:in_round")
    assert sorted(map(int, held)) == sorted((one.id, other.id))


def test_second_round_waits_until_the_seats_of_the_first_are_given(
    fall: Term, popular: tuple[Round, Section, Section], crowd: list[Student]
) -> None:
    found, _one, two = popular
    published(found)
    second, art = a_round(fall, name="Second"), a_section(a_course("ART-1"), fall)
    ranks(second, crowd[0], art, two)
    steps.close(ended(second).id)
    assert (again(second.id).state, again(second.id).root) == ("closed", None)
    stored: Any = backend().redis.hgetall(f"{{t:{fall.id}}}:in_round")
    held = {int(section): int(number) for section, number in stored.items()}
    assert (held[art.id], held[two.id]) == (second.id, found.id)
    assert looked_up(steps.due_jobs, [fall.id])
    steps.work(fall.id)
    steps.work(fall.id)
    assert again(found.id).state == "applied"
    assert again(second.id).root
    assert differences(fall) == []


def test_canceled_round_lets_its_sections_go(
    fall: Term, popular: tuple[Round, Section, Section]
) -> None:
    after = computed(popular[0])
    steps.cancel(after.id, after.version, an_admin(), "tests")
    assert looked_up(steps.due_jobs, [fall.id])
    steps.work(fall.id)
    assert not backend().redis.exists(f"{{t:{fall.id}}}:in_round")
    assert looked_up(steps.due_jobs, [fall.id]) == []


def test_round_that_is_canceled_while_it_is_frozen_holds_nothing(
    fall: Term, popular: tuple[Round, Section, Section], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registrar is faster than the job, which has yet to hold the seats back."""
    usual = Ledger.pools

    def pools(self: Ledger, term: int) -> Any:
        now = again(popular[0].id)
        if now.state == "closed":
            steps.cancel(now.id, now.version, an_admin(), "tests")
            steps.work(fall.id)
        return usual(self, term)

    monkeypatch.setattr(Ledger, "pools", pools)
    after = frozen(popular[0])
    assert (after.state, after.held, after.root) == ("canceled", False, None)
    assert not backend().redis.exists(f"{{t:{fall.id}}}:in_round")
    assert looked_up(steps.due_jobs, [fall.id]) == []


def test_students_with_a_ballot_are_notified_of_a_canceled_round(
    fall: Term, popular: tuple[Round, Section, Section], crowd: list[Student]
) -> None:
    a_student("without-a-ballot")
    after = frozen(popular[0])
    steps.cancel(after.id, after.version, an_admin(), "tests")
    steps.work(fall.id)
    assert _told() == len(crowd)
    with transaction() as session:
        states = session.scalars(
            select(Notification.data["state"].astext).where(Notification.kind == "round")
        )
        assert set(states) == {"canceled"}


@pytest.mark.parametrize("dies_after", range(6))
def test_giving_that_died_goes_on_and_gives_no_seat_twice(
    fall: Term,
    popular: tuple[Round, Section, Section],
    monkeypatch: pytest.MonkeyPatch,
    dies_after: int,
) -> None:
    """The process dies after the ledger has decided a batch, before that is noted."""
    found = popular[0]
    monkeypatch.setattr(giving, "AT_ONCE", 4)
    monkeypatch.setattr(giving, "NOTED", 8)
    published(found)
    calls, usual = [], Ledger.allocate

    def allocate(self: Ledger, *args: Any, **more: Any) -> Any:
        answers = usual(self, *args, **more)
        calls.append(args)
        if len(calls) == dies_after + 1:
            raise LedgerUnavailable("killed")
        return answers

    monkeypatch.setattr(Ledger, "allocate", allocate)
    with pytest.raises(LedgerUnavailable):
        steps.work(fall.id)
    assert again(found.id).state == "published"
    assert _told() == 0
    steps.work(fall.id)
    assert again(found.id).state == "applied"
    assert sum(map(len, seats(fall).values())) == 15
    drain(fall.id)
    with transaction() as session:
        enrolled = select(func.count()).where(LoggedEvent.name == "enrolled")
        assert session.scalar(enrolled) == 15
    assert differences(fall) == []


def test_students_are_notified_once_after_all_is_done(
    fall: Term, popular: tuple[Round, Section, Section], crowd: list[Student]
) -> None:
    found = popular[0]
    published(found)
    assert _told() == 0
    steps.work(fall.id)
    drain(fall.id)
    assert _told() == len(crowd)
    with transaction() as session:
        session.execute(update(Round).where(Round.id == found.id).values(state="published"))
    steps.work(fall.id)
    assert _told() == len(crowd)


def test_seat_that_can_not_be_given_any_more_is_explained(fall: Term, cast: Cast) -> None:
    one, found = a_section(a_course(), fall, capacity=1), a_round(fall)
    ranks(found, cast.ada, one)
    published(found)
    added(Hold(student_id=cast.ada.id, kind="Bursar", reason="A bill", office="Bursar"))
    steps.work(fall.id)
    (outcome,) = results.outcomes(again(found.id), cast.ada.id)
    assert not outcome.seated
    assert "we could not enroll you" in outcome.alternatives[0].texts[0]
    assert "hold" in " ".join(outcome.alternatives[0].texts)
    [entry] = entries("round.apply")
    assert entry.after
    assert entry.after["refused"] == 1


def test_seat_that_is_refused_without_reasons_speaks_of_no_clash(fall: Term, cast: Cast) -> None:
    one, found = a_section(a_course(), fall, capacity=1), a_round(fall)
    ranks(found, cast.ada, one)
    published(found)
    with transaction() as session:
        mine = update(giving.BallotRow).where(giving.BallotRow.round_id == found.id)
        session.execute(mine.values(given={"0-0": ["refused", {}]}))
    (outcome,) = results.outcomes(again(found.id), cast.ada.id)
    assert outcome.alternatives[0].texts == (
        "The round gave you a seat, but we could not enroll you:",
        "Ask the registrar’s office why.",
    )


def _told() -> int:
    with transaction() as session:
        return (
            session.scalar(
                select(func.count()).select_from(Notification).where(Notification.kind == "round")
            )
            or 0
        )
