"""Give out the seats of a published round, through the ledger.

From the end of a round the ledger holds back the seats of the sections that ballots name. They are
given in batches; the last step lets the sections go and tells the students. A batch that was sent
and not noted as done is sent again: the ledger does each of its moves once.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import BigInteger, cast, func, literal, null, select, text, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from portal.allocation.compact import Compact, compact
from portal.allocation.mechanisms import draw_order
from portal.allocation.proof import seed_of, sha256
from portal.allocation.result import Why
from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core.checkpoints import checkpoint
from portal.core.correlation import correlation
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.ledger.types import Outcome, Reason, RoundAnswer, RoundMove
from portal.notifications.creation import create
from portal.people.models import Student
from portal.people.student_profile import StudentProfile, read_all
from portal.registration import requests
from portal.registration.credits import hundredths
from portal.registration.limits import credit_limit
from portal.registration.plans import Plan, packed_sections, unpack
from portal.registration.requests import SectionRequest
from portal.rounds.models import BallotRow
from portal.rounds.problem import RESERVE, UNALLOWED, credits_of, number_of
from portal.rounds.store import ballots_of, file_of, frozen_problem
from portal.windows import rounds
from portal.windows.models import Round

AT_ONCE = 100  # moves in one step of the ledger, which must stay short
VERSIONS = 10**6  # more than a round ever has
NOTED = 1000  # moves after which it is noted what the ledger did
COUNTS = text("""
    SELECT made.value ->> 0, count(*) FROM ballots, jsonb_each(given) AS made
    WHERE round_id = :round GROUP BY 1
""")
# Merged by PostgreSQL: another worker may note another batch at the same time.
NOTE = text("""
    UPDATE ballots SET given = coalesce(given, '{}') || noted.value
    FROM jsonb_each(CAST(:given AS jsonb)) AS noted
    WHERE round_id = :round AND student_id = CAST(noted.key AS integer)
""")


@dataclass(frozen=True)
class Move:
    """A seat move or a waitlist position, for one alternative of a student's ballot.

    A seat is given under the reserve that the result used for it: which reserve the ledger would
    choose depends on the order in which the students come.
    """

    student: int
    choice: int
    alternative: int
    sections: tuple[SectionRequest, ...]
    turn: int
    wait: bool = False
    reserves: tuple[int, ...] = ()  # of each seat; 0 for one that is not reserved

    @property
    def place(self) -> str:
        """Return the place of the alternative in the ballot."""
        return f"{self.choice}-{self.alternative}"


def hold(found: Round) -> bool:
    """Hold back the seats of every section that a ballot names, and of those that share them.

    Return whether the round is still there to be frozen. Canceling it waits for the lock. So the
    sections are let go after they were held, never before.
    """
    ledger = backend().ledger
    rows = ballots_of(found.id, BallotRow.lines)
    named = {each for row in rows for each in packed_sections(row.lines)}
    pools = ledger.pools(found.term_id)
    shared = {pools[each] for each in named if each in pools}
    sections = sorted(named | {each for each, pool in pools.items() if pool in shared})
    recorded = checkpoint(found.term_id)
    with transaction() as session:
        if rounds.locked(session, found.id).state != "closed":
            return False
        change = ledger.hold_for_round(found.term_id, found.id, sections, recorded=recorded)
        enqueue(found.term_id, change.wake)
    return True


def apply(number: int) -> None:
    """Give out the seats of a published round, from the first move that is not noted as done."""
    found = rounds.read(number)
    if found.state != "published":
        return
    planned, done = moves(found)[found.applied :], found.applied
    batches = [planned[start : start + NOTED] for start in range(0, len(planned), NOTED)]
    with ThreadPoolExecutor(1) as ahead:  # prepares a batch while the ledger does the one before
        prepared = [ahead.submit(_prepare, found, each) for each in batches[:1]]
        for at, batch in enumerate(batches):
            ready = prepared.pop().result()
            prepared += [ahead.submit(_prepare, found, each) for each in batches[at + 1 : at + 2]]
            answers = _give(found, batch, ready)
            done += len(batch)
            with transaction() as session:
                _note(session, found.id, batch, answers)
                session.execute(update(Round).where(Round.id == number).values(applied=done))
    change = backend().ledger.end_round(found.term_id, number)
    enqueue(found.term_id, change.wake)
    _finish(number)


def moves(found: Round) -> list[Move]:
    """Return every move of a round, always in the same order: seats, then waitlist positions.

    A student's sections with a permission come last: the ledger lifts a rule for the section that
    has the permission, not for those added after it.
    """
    problem = frozen_problem(found.id)
    result = json.loads(file_of(found.id, "published") or "{}")["result"]
    reserves = json.loads(file_of(found.id, "reserves") or "{}")
    rows = ballots_of(found.id, BallotRow.code, BallotRow.lines, BallotRow.result)
    ballots: dict[str, Any] = {sha256(each.code): each for each in rows}
    order = draw_order(problem, seed_of(found.secret, found.public_value or ""))
    table = compact(problem)
    places = {each.id: at for at, each in enumerate(problem.settings.sections)}
    seats: list[Move] = []
    waits: list[tuple[tuple[int, ...], Move]] = []
    for position, number in enumerate(order):
        ballot = problem.ballots[number]
        row = ballots[ballot.pseudonym]
        seatings = zip(result[ballot.pseudonym], reserves[ballot.pseudonym], strict=True)
        permitted = {name for name, own in ballot.own.items() if own.keys() != {"credits"}}
        plan, mine = unpack(row.lines), []
        chosen = credits_of(plan)
        for (choice, alternative, turn), cohorts in seatings:
            names = ballot.choices[choice - 1].alternatives[alternative - 1]
            parts = sorted(zip(names, cohorts, strict=True), key=lambda each: each[0] in permitted)
            move = Move(
                row.student_id,
                choice - 1,
                alternative - 1,
                sections=tuple(_request(name, chosen) for name, _ in parts),
                turn=turn,
                reserves=tuple(int(cohort.removeprefix(RESERVE) or 0) for _, cohort in parts),
            )
            mine.append((not permitted.isdisjoint(names), move))
        seats += [move for _, move in sorted(mine, key=lambda each: each[0])]
        waits += _waits(row, plan, table, places, number, position)
    return [*seats, *(move for _key, move in sorted(waits, key=lambda each: each[0]))]


def _waits(  # noqa: PLR0913, PLR0917  what is known of a student
    row: Any, plan: Plan, table: Compact, places: Mapping[str, int], number: int, position: int
) -> Iterator[tuple[tuple[int, ...], Move]]:
    """Yield the waitlist positions of a student's ballot, each with its place in the order.

    A choice without a seat waits for its first alternative that was full, if the student wanted to
    wait. Sections that are taken together don't: a position in one alone would be of no use. Nor do
    joint choices, or a choice with which the ballot's limits would be broken, if all positions of
    higher choices became seats. The order is that in which students came to the section: by
    priority if the mechanism reads it, turn, and draw.
    """
    by_priority = table.problem.settings.mechanism == "deferred"
    drafted = table.problem.settings.mechanism == "draft"
    choices = table.problem.ballots[number].choices
    chosen, outcomes = credits_of(plan), zip(plan.choices, row.result or (), strict=True)
    bundles = {each[:2]: each.bundle for each in table.options[number]}
    courses, credits_ = _left(row, table, number, bundles)
    for at, (choice, reasons) in enumerate(outcomes):
        if not choice.wait or any(why == Why.SEATED for why, _turn, _other in reasons):
            continue
        names = choices[at].alternatives
        full = (
            rank
            for rank, (why, _turn, _other) in enumerate(reasons)
            if why == Why.FULL and len(names[rank]) == 1 and UNALLOWED not in names[rank]
        )
        rank = next(full, None)
        if rank is None:
            continue
        bundle = bundles[at, rank]
        if table.sizes[bundle] > courses or table.credits[bundle] > credits_:
            continue
        courses -= table.sizes[bundle]
        credits_ -= table.credits[bundle]
        [name], turn = names[rank], reasons[rank][1]
        level = table.level(number, places[name]) if by_priority else 0
        backwards = drafted and turn % 2 == 0
        key = (level, turn, -position if backwards else position, at)
        yield key, Move(row.student_id, at, rank, (_request(name, chosen),), 0, wait=True)


def _left(
    row: Any, table: Compact, number: int, bundles: Mapping[tuple[int, int], int]
) -> tuple[int, int]:
    """Return the courses and credits that a ballot's limits leave beside the seats it got."""
    ballot = table.problem.ballots[number]
    seated = [
        bundles[at, rank]
        for at, reasons in enumerate(row.result or ())
        for rank, (why, _turn, _other) in enumerate(reasons)
        if why == Why.SEATED
    ]
    courses = ballot.most_courses - sum(table.sizes[each] for each in seated)
    return courses, ballot.most_credits - sum(table.credits[each] for each in seated)


def _request(name: str, chosen: Mapping[int, int]) -> SectionRequest:
    """Return a section of the published file as requested, with its chosen credits."""
    section = number_of(name)
    return SectionRequest(section, chosen.get(section))


def _prepare(found: Round, batch: Sequence[Move]) -> dict[Move, RoundMove]:
    """Return some moves for the ledger; the rules are those of the records as they are now."""
    with transaction() as session:
        people = read_all(session, {each.student for each in batch})
    return {
        each: _for_ledger(found, each, people[each.student])
        for each in batch
        if each.student in people
    }


def _give(
    found: Round, batch: Sequence[Move], ready: Mapping[Move, RoundMove]
) -> list[RoundAnswer]:
    """Let the ledger do some moves; those of students who are gone are refused."""
    known, payload = list(ready), list(ready.values())
    given: list[RoundAnswer] = []
    for start in range(0, len(payload), AT_ONCE):
        step = payload[start : start + AT_ONCE]
        given += backend().ledger.allocate(found.term_id, found.id, step, "system", correlation())
        enqueue(found.term_id, given[-1].wake)
    answers = dict(zip(known, given, strict=True))
    return [answers.get(each, RoundAnswer(Outcome.REFUSED)) for each in batch]


def _for_ledger(found: Round, move: Move, who: StudentProfile) -> RoundMove:
    catalog = catalog_of(found.term_id)
    claims = [requests.claim(each, who, catalog) for each in move.sections]
    if not move.wait:
        claims = [
            replace(claim, reserves=(reserve,) if reserve else ())
            for claim, reserve in zip(claims, move.reserves, strict=True)
        ]
    elif found.reserves == "kept":
        claims = [replace(each, reserves=()) for each in claims]
    return RoundMove(
        # With colons, which the keys of students and clients can't have.
        idempotency_key=f"round:{found.id}:{move.place}{':wait' if move.wait else ''}",
        student=move.student,
        claims=tuple(claims),
        credit_limit=hundredths(credit_limit(who, catalog)),
        turn=move.turn,
        wait=move.wait,
    )


def _note(
    session: Session, number: int, batch: Sequence[Move], answers: Sequence[RoundAnswer]
) -> None:
    """Store what the ledger did, for the students to read."""
    by_student: dict[int, dict[str, Any]] = {}
    for move, answer in zip(batch, answers, strict=True):
        why = {str(each): _packed(reasons) for each, reasons in answer.against.items()}
        by_student.setdefault(move.student, {})[move.place] = [answer.outcome.value, why]
    session.execute(NOTE, {"round": number, "given": json.dumps(by_student)})


def _packed(reasons: Sequence[Reason]) -> list[Any]:
    return [[each.code, each.facts] for each in reasons]


def _finish(number: int) -> None:
    """Note that all is done, and notify every student who took part, in one transaction."""
    with transaction() as session:
        found = rounds.locked(session, number)
        if found.state != "published":
            return
        before = rounds.facts(found)
        found.state, found.held, found.version = "applied", False, found.version + 1
        counts = _counts(session, number)
        rounds.record(session, "round.apply", found, None, "", before, **counts)
        notify_students(session, found)


def notify_students(session: Session, found: Round, kind: str = "round", **more: str | int) -> None:
    """Tell every student with a ballot, once, what became of a round, or of their `ballot`."""
    facts = {"round": found.id, "name": found.name, "state": found.state, **more}
    # A ballot may have several notices: each change of the round has another version.
    seq = found.id if kind == "round" else found.id * VERSIONS + found.version
    notices = (
        select(
            Student.account_id,
            literal(kind).label("kind"),
            cast(null(), BallotRow.round_id.type).label("section_id"),
            cast(null(), BallotRow.round_id.type).label("window_id"),
            literal(facts, JSONB).label("data"),
            func.clock_timestamp().label("made_at"),
            literal(seq, BigInteger).label("seq"),
            literal(0).label("lead"),
        )
        .join(BallotRow, BallotRow.student_id == Student.id)
        .where(BallotRow.round_id == found.id)
    )
    create(session, found.term_id, notices)


def _counts(session: Session, number: int) -> Mapping[str, int]:
    """Return how many seats and waitlist positions were given, and how many could not be."""
    counts = {row[0]: row[1] for row in session.execute(COUNTS, {"round": number})}
    return {name: counts.get(name, 0) for name in ("enrolled", "waitlisted", "refused")}
