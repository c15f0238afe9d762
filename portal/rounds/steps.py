"""The steps of a round after its end, each in a job: freezing, computing, comparing, applying.

Each may run again: it checks the state in the transaction that stores what it found.
"""

import json
import logging
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from threading import Condition
from typing import Any

from cachetools import LRUCache, cached
from sqlalchemy import Connection, Select, bindparam, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from portal.allocation.compact import compact
from portal.allocation.measures import by_cohort, gain, measures
from portal.allocation.mechanisms import allocate, run
from portal.allocation.problem import MECHANISMS, Ballot, Problem
from portal.allocation.problem import to_json as json_of
from portal.allocation.proof import (
    canonical,
    path,
    published,
    root,
    seed_of,
    sha256,
    tree,
)
from portal.allocation.result import Why, reasons, reserves
from portal.backend import backend
from portal.core.db import transaction
from portal.core.queue import attempt_each, enqueue
from portal.recorder.signals import DueJob
from portal.rounds.giving import apply, hold, notify_students
from portal.rounds.models import BallotRow, RoundFile, RoundTrial
from portal.rounds.problem import Frozen, build
from portal.rounds.store import frozen_problem
from portal.waiting_room import draw_codes
from portal.windows import rounds
from portal.windows.models import Round
from portal.windows.rounds import RoundRefused

log = logging.getLogger(__name__)
SAMPLE = 500  # students; envy is measured for them
# A trial computes the round again with other ballots, for at most MOST_TRIED students. Students
# times ballots are at most TRIED: it takes about a minute. Other steps of the term’s rounds wait.
TRIED, MOST_TRIED = 10_000, 20
BATCH = 1000  # ballots that are written at once


def due_jobs(look: Connection, terms: Sequence[int]) -> list[DueJob]:
    """Return a job for each term with a step of a round that is due, or codes of a draw."""
    due = {term: int(why) for term, why in look.execute(_due_terms(), {"terms": terms})}
    for window, term in draw_codes.due(look, terms):
        due[term] = due.get(term, 0) + window
    return [DueJob(term, "rounds", why) for term, why in due.items()]


def work(term: int) -> None:
    """Do every step that is due in a term, and fix the codes of draws; each may fail alone.

    Raises RuntimeError if some failed, and the errors of ENDS_JOB.
    """
    steps: dict[str, Callable[[int], None]] = {
        "open": close,
        "closed": after_end,
        "published": apply,
        "canceled": release,
    }
    with transaction() as session:
        query = select(Round.id, Round.state).where(Round.term_id == term, _due())
        found = session.execute(query.order_by(Round.id)).all()
        requested = select(RoundTrial.id).join(Round, Round.id == RoundTrial.round_id)
        trials = session.scalars(
            requested.where(Round.term_id == term, RoundTrial.measures.is_(None))
        ).all()
        draws = [window for window, _ in draw_codes.due(session, [term])]
    # Codes first: after some minutes they are too late.
    failed = attempt_each(draws, draw_codes.fix, "The codes of window %s are not fixed.")
    due = {number: steps[state] for number, state in found if state in steps}
    failed += attempt_each(due, lambda each: due[each](each), "A step of round %s failed.")
    failed += attempt_each(trials, make_trial, "Comparison %s of rounds failed.")
    if failed:
        raise RuntimeError(f"Steps of rounds failed: {failed}")


def close(number: int) -> None:
    """Fix the ballots of a round that has ended, then freeze its problem."""
    with transaction() as session:
        found = rounds.locked(session, number)
        if found.state == "open" and rounds.is_over(session, found):
            found.state, found.version = "closed", found.version + 1
    after_end(number)


def after_end(number: int) -> None:
    """Freeze the problem of an ended round, or compute it once its public value is known."""
    found = rounds.read(number)
    if found.state == "closed" and found.root is None:
        _freeze(found)
    elif found.state == "closed" and found.public_value is not None:
        compute(number)


def move_end(number: int, version: int, ends: int, by: int, reason: str) -> None:
    """Move the end of a round (ms), and notify students with a ballot.

    Raise as `rounds.move_end` does.
    """

    def notify(session: Session, found: Round) -> None:
        notify_students(session, found, "ballot", ends=ends)

    rounds.move_end(number, version, ends, by, reason, notify)


def enter_value(number: int, version: int, value: str, by: int, reason: str) -> None:
    """Store the public value of a frozen round, once. Raise RoundRefused or ChangedMeanwhile."""
    with transaction() as session:
        found = rounds.locked(session, number, version)
        if found.state != "closed" or found.root is None or found.public_value is not None:
            raise RoundRefused("state")
        if not rounds.may_be_known(session, found.public_at):
            raise RoundRefused("early")
        before, value = rounds.facts(found), rounds.normal_value(value)
        found.public_value = value
        rounds.record(session, "round.value", found, by, reason, before, public_value=value)


def compute(number: int) -> None:
    """Compute a round, and store the file to publish and what each student will read."""
    found = rounds.read(number)
    if found.state != "closed" or found.public_value is None:
        return
    problem = frozen_problem(number)
    altered = root(problem) != found.root or rounds.commitment(found) != problem.settings.commitment
    if altered != found.altered:
        with transaction() as session:
            rounds.locked(session, number).altered = altered
    if altered:
        raise ValueError(f"Round {number}: its ballots are not those under its root.")
    result = allocate(problem, seed_of(found.secret, found.public_value))
    contents = published(problem, found.secret, found.public_value, result)
    text = canonical(contents)
    file, digest = _compressed(text), sha256(text)
    read = {
        ballot.pseudonym: [
            [[each.why.value, each.turn, each.other] for each in line]
            for line in reasons(result, student)
        ]
        for student, ballot in enumerate(problem.ballots)
    }
    reserved = _compressed(canonical(reserves(result)))
    # All of it before the transaction, which PostgreSQL ends if it is idle for seconds.
    trial = _trial(number, problem, seed_of(found.secret, found.public_value))
    with transaction() as session:
        found = rounds.locked(session, number)
        if found.state != "closed":
            return
        _store(session, number, "published", file)
        _store(session, number, "reserves", reserved)
        _store_results(session, number, problem, read)
        session.add(trial)
        found.state, found.version = "computed", found.version + 1
        rounds.record(session, "round.compute", found, None, "", None, sha256=digest)


def publish(number: int, version: int, by: int, reason: str) -> None:
    """Publish the result of a computed round, once. Raise RoundRefused or ChangedMeanwhile."""
    with transaction() as session:
        found = rounds.locked(session, number, version)
        if found.state != "computed":
            raise RoundRefused("state")
        before = rounds.facts(found)
        found.state = "published"
        rounds.record(session, "round.publish", found, by, reason, before)


def cancel(number: int, version: int, by: int, reason: str) -> None:
    """End a round without a result, at any time before it is published; notify its students.

    Raise RoundRefused or ChangedMeanwhile.
    """
    with transaction() as session:
        found = rounds.locked(session, number, version)
        if found.state not in {"draft", "open", "closed", "computed"}:
            raise RoundRefused("state")
        before = rounds.facts(found)
        # The ledger knows the end of an announced round, so a job lets it go.
        found.held = found.held or found.state != "draft"
        found.state = "canceled"
        rounds.record(session, "round.cancel", found, by, reason, before)
        notify_students(session, found)


def request_trial(number: int, by: int) -> None:
    """Ask for a comparison of the mechanisms on the ballots so far."""
    with transaction() as session:
        found = rounds.locked(session, number)
        if found.state not in {"open", "closed"}:
            raise RoundRefused("state")
        pending = RoundTrial.round_id == number, RoundTrial.measures.is_(None)
        if session.scalar(select(RoundTrial.id).where(*pending)) is None:
            session.add(RoundTrial(round_id=number))
            rounds.record(session, "round.trial", found, by, "", None)


def make_trial(trial: int) -> None:
    """Compare the mechanisms on the ballots so far, with a draw that is for the trial alone."""
    with transaction() as session:
        row = session.get_one(RoundTrial, trial)
    found = rounds.read(row.round_id)
    problem = frozen_problem(found.id) if found.root else build(found).problem
    made = _trial(found.id, problem, f"trial {trial}")
    _add_gains(made, problem, [f"trial {trial}", f"trial {trial} again"])
    with transaction() as session:
        values = {"measures": made.measures, "ballots": made.ballots}
        done = update(RoundTrial).where(RoundTrial.id == trial, RoundTrial.measures.is_(None))
        session.execute(done.values(**values, made_at=func.clock_timestamp()))


def trials(number: int) -> list[RoundTrial]:
    """Return the comparisons of a round, the newest first."""
    with transaction() as session:
        query = select(RoundTrial).where(RoundTrial.round_id == number)
        return list(session.scalars(query.order_by(RoundTrial.id.desc())))


def proof_of(number: int, pseudonym: str) -> dict[str, Any]:
    """Return the proof that a ballot is under the root of a frozen round. Raise ValueError."""
    rows, ballots = _tree_of(number, rounds.read(number).root)
    if pseudonym not in ballots:
        raise ValueError(f"There is no ballot {pseudonym}.")
    at, ballot = ballots[pseudonym]
    proof = path(rows, at)
    return {"ballot": json.loads(zlib.decompress(ballot)), "proof": proof, "root": rows[-1][0]}


@cached(LRUCache(maxsize=4), condition=Condition())
def _tree_of(
    number: int, _root: str | None
) -> tuple[list[list[str]], dict[str, tuple[int, bytes]]]:
    """Return the hash tree of a frozen round, and each ballot's place in it and compressed JSON.

    It takes seconds for 30,000 ballots, and many students ask at once: the others wait.
    """
    problem = frozen_problem(number)
    ballots = {
        each.pseudonym: (at, zlib.compress(canonical(json_of(each)).encode()))
        for at, each in enumerate(problem.ballots, start=1)
    }
    return tree(problem), ballots


def release(number: int) -> None:
    """Let the sections of a canceled round go."""
    found = rounds.read(number)
    change = backend().ledger.end_round(found.term_id, number)
    enqueue(found.term_id, change.wake)
    with transaction() as session:
        session.execute(update(Round).where(Round.id == number).values(held=False))


def _freeze(found: Round) -> None:
    """Hold the seats back, then store the problem and its root; ballots can't change any more.

    A round waits for another one of the term that holds seats back, as its free seats are not
    known. The other sections of its ballots are held back at once. Once the public value may be
    known, it is too late: someone who knows it could still choose the ballots.
    """
    first = _is_first(found)
    if not hold(found):
        return
    with transaction() as session:
        session.execute(update(Round).where(Round.id == found.id).values(hold_stored=True))
    if not first:
        return
    frozen = build(found)
    named = {each for ballot in frozen.problem.ballots for each in ballot.sections}
    sections = [each for each in frozen.problem.settings.sections if each.id in named]
    # All of it before the transaction, which PostgreSQL ends if it is idle for seconds.
    file = {
        "settings": json_of(frozen.problem.settings),
        "ballots": [json_of(each) for each in frozen.problem.ballots],
    }
    problem, offered = (
        _compressed(canonical(each)) for each in (file, [asdict(each) for each in sections])
    )
    top = root(frozen.problem)
    with transaction() as session:
        again = rounds.locked(session, found.id)
        if again.state != "closed" or again.root is not None:
            return
        if _is_late(session, again):
            return
        _store(session, found.id, "problem", problem)
        _store(session, found.id, "sections", offered)
        _store_refusals(session, found.id, frozen)
        again.root, again.ballots = top, len(frozen.problem.ballots)
        again.version += 1
        rounds.record(session, "round.close", again, None, "", None, root=top)
        notify_students(session, again, "ballot", root=top)


def _is_first(found: Round) -> bool:
    """Return whether a round may freeze its problem: in time, and no other one does, or gives."""
    with transaction() as session:
        again = rounds.locked(session, found.id)
        rounds.lock_term(session, found.term_id)
        other = Round.term_id == found.term_id, Round.held, Round.id != found.id
        if session.scalar(select(Round.id).where(*other).limit(1)) or _is_late(session, again):
            return False
        again.held = again.state == "closed"
        return again.held


def _is_late(session: Session, found: Round) -> bool:
    """Return whether it is too late to freeze the ballots, and log it."""
    late = rounds.may_be_known(session, found.public_at)
    if late:
        log.warning("Round %s is not frozen: its public value may be known.", found.id)
    return late


def _trial(number: int, problem: Problem, seed: str) -> RoundTrial:
    """Return the comparison of the mechanisms on a problem."""
    table, found = compact(problem), {}
    for name in MECHANISMS:
        result = run(table, seed, name)
        cohorts = {each: asdict(one) for each, one in by_cohort(result).items()}
        found[name] = asdict(measures(result, SAMPLE)) | {"cohorts": cohorts}
    return RoundTrial(round_id=number, ballots=len(problem.ballots), measures=found)


def _add_gains(made: RoundTrial, problem: Problem, seeds: Sequence[str]) -> None:
    """Add to a comparison what some students could gain by another ballot, by mechanism."""
    students = min(MOST_TRIED, TRIED // max(1, len(problem.ballots)))
    for name, found in (made.measures or {}).items() if students else ():
        by_others = gain(problem, name, seeds, students)
        found |= {"better_ballot": by_others.beforehand, "gain": by_others.mean}


def _compressed(file: str) -> bytes:
    return zlib.compress(file.encode())


def _store(session: Session, number: int, kind: str, content: bytes) -> None:
    values = {"round_id": number, "kind": kind, "content": content}
    session.execute(insert(RoundFile).values(**values).on_conflict_do_nothing())


def _store_refusals(session: Session, number: int, frozen: Frozen) -> None:
    rows = [
        {"round_id": number, "student_id": student, "refused": why}
        for student, why in frozen.refused.items()
    ]
    for start in range(0, len(rows), BATCH):
        session.execute(update(BallotRow), rows[start : start + BATCH])


def _store_results(
    session: Session, number: int, problem: Problem, read: dict[str, list[Any]]
) -> None:
    ballots = {each.pseudonym: each for each in problem.ballots}
    query = select(BallotRow.student_id, BallotRow.code).where(BallotRow.round_id == number)
    rows = [
        {
            "round_id": number,
            "student_id": student,
            "result": lines,
            "unmet_first": _missed_first(problem, ballots[sha256(code)], lines),
        }
        for student, code in session.execute(query)
        if (lines := read.get(sha256(code))) is not None
    ]
    for start in range(0, len(rows), BATCH):
        session.execute(update(BallotRow), rows[start : start + BATCH])


def _missed_first(problem: Problem, ballot: Ballot, lines: list[Any]) -> bool:
    """Return whether others took all seats of a student's first choice, which had some."""
    if not lines or any(why == Why.SEATED for why, _turn, _other in lines[0]):
        return False
    sections = problem.settings.by_id
    return any(
        why == Why.FULL and all(sections[each].capacity for each in names)
        for names, (why, _turn, _other) in zip(
            ballot.choices[0].alternatives, lines[0], strict=True
        )
    )


@cache
def _due_terms() -> Select[int, Any]:
    return (
        select(Round.term_id, func.sum(Round.id * 8 + Round.version))
        .where(Round.term_id.in_(bindparam("terms", expanding=True)), _due())
        .group_by(Round.term_id)
    )


def _due() -> Any:
    """Return a condition: a step of the round is due."""
    requested = select(RoundTrial.id).where(
        RoundTrial.round_id == Round.id, RoundTrial.measures.is_(None)
    )
    other = aliased(Round)
    waits = (
        select(other.id)
        .where(other.term_id == Round.term_id, other.held, other.id != Round.id)
        .correlate(Round)
        .exists()
    )
    now = func.clock_timestamp()
    return or_(
        (Round.state == "open") & (Round.ends_at <= now),
        (Round.state == "closed") & Round.root.is_(None) & ~Round.hold_stored,
        (Round.state == "closed") & Round.root.is_(None) & ~waits & (Round.public_at > now),
        (Round.state == "closed") & Round.public_value.is_not(None),
        Round.state == "published",
        (Round.state == "canceled") & Round.held,
        requested.correlate(Round).exists(),
    )
