"""What stands between students and the seats that an import is to give them, seats apart."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, islice

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.term_catalog import TermCatalog, read_catalog
from portal.catalog.views import SectionView
from portal.exchange.importing.seating.moves import NO_MATTER, Move
from portal.ledger.types import HeldSeat, Standing
from portal.people.profile import Profile, read_all
from portal.recorder.models import Enrollment
from portal.seats import desk, foresight, rules
from portal.seats.wishes import hundredths

AT_ONCE = 500  # students
SHUT = {"NEW": "section_new", "CANCELED": "section_canceled"}

Judged = Iterator[tuple[Move, list[str], tuple[int, ...]]]
Batch = list[tuple[int | None, list[Move]]]  # additions and removals by student


def judge(session: Session, moves: Iterable[Move], *, past: bool) -> Judged:
    """Each addition with the codes of what refuses it, and the reserves that it may be under.

    With `past` only what makes no sense refuses. The moves are sorted by term and student.
    """
    offered = cache(lambda term: read_catalog(session, term))
    for term, of_term in groupby(moves, lambda move: move.term):
        students = groupby(of_term, lambda move: move.student)
        while batch := [(who, list(theirs)) for who, theirs in islice(students, AT_ONCE)]:
            yield from _judge(session, offered(term) if term else None, batch, past=past)


def _judge(session: Session, offered: TermCatalog | None, batch: Batch, *, past: bool) -> Judged:
    students = [who for who, _ in batch if who]
    people = read_all(session, students)
    held = _held(session, offered, students) if offered and not past else {}
    for student, moves in batch:
        who = people.get(student or 0)
        firm = {move: _firm(move, who, offered) for move in moves if not move.removes}
        against: dict[int, list[str]] = {}
        if offered and who and not past:
            gone = {move.section for move in moves if move.removes}
            kept = [each for each in held[who.student] if each.section not in gone]
            against = _against(who, offered, kept, [move for move in firm if not firm[move]])
            if not any([*firm.values(), *against.values()]):
                against = _in_turn(who, offered, held[who.student], moves)
        for move, codes in firm.items():
            card = offered.section(move.section) if offered and move.section else None
            reserves = rules.reserves(who, card) if who and card else ()
            yield move, codes or against.get(move.section or 0, []), reserves


def _firm(move: Move, who: Profile | None, offered: TermCatalog | None) -> list[str]:
    card = offered.section(move.section) if offered and move.section else None
    if card is None:
        return ["section_unknown"]
    if who is None:
        return ["student_unknown"]
    return [SHUT[card.status]] if card.status in SHUT else []


def _against(
    who: Profile, offered: TermCatalog, kept: list[HeldSeat], moves: list[Move]
) -> dict[int, list[str]]:
    """By section, what stands against a student's having all of it."""
    wished = []
    for move in moves:
        card = offered.section(move.section or 0)
        if card:
            wished.append((card, _credits(move, card)))
    limit = hundredths(desk.limit(who, offered))
    standing = Standing(enrolled=tuple(kept), waiting=())
    found = foresight.plan(who, offered, standing, limit, wished)
    return {
        card.id: _codes([each.code for each in found[card.id]], card, credits_)
        for card, credits_ in wished
    }


def _in_turn(
    who: Profile, offered: TermCatalog, held: list[HeldSeat], moves: list[Move]
) -> dict[int, list[str]]:
    """By section, what stands against changes that can't be done one by one in any order.

    All of it together may be had. So it matters only where seats are kept until their turn: two
    changes by which a student's courses swap hours would wait for each other.
    """
    left, later = [each for each in moves if not each.removes], _later(moves)
    gone = {each.section for each in moves if each.removes} - later
    held = [each for each in held if each.section not in gone]
    while later and len(left) > 1:
        against = {move: _now(who, offered, held, move) for move in left}
        done = next((move for move in left if not against[move]), None)
        if done is None:
            return {move.section or 0: codes for move, codes in against.items()}
        held = _after(held, done, offered)
        left.remove(done)
    return {}


def _later(moves: list[Move]) -> set[int | None]:
    """The sections that are left in the step that gives another."""
    return {move.old.section for move in moves if move.old}


def _now(who: Profile, offered: TermCatalog, held: list[HeldSeat], move: Move) -> list[str]:
    kept = [each for each in held if each.section not in _later([move])]
    codes = _against(who, offered, kept, [move])[move.section or 0]
    return [code for code in codes if code not in NO_MATTER]


def _after(held: list[HeldSeat], move: Move, offered: TermCatalog) -> list[HeldSeat]:
    kept = [each for each in held if each.section not in _later([move])]
    card = offered.section(move.section or 0)
    return [*kept, HeldSeat(card.id, _credits(move, card), registration=0, at=0)] if card else kept


def _codes(found: list[str], card: SectionView, credits_: int) -> list[str]:
    if not card.credits_min * 100 <= credits_ <= card.credits_max * 100:
        found = [*found, "credit_range"]
    # Of what doesn't matter here, a corequisite does: it is looked at with all that is to be had.
    return list(dict.fromkeys(code for code in found if code not in NO_MATTER - {"corequisite"}))


def _credits(move: Move, card: SectionView) -> int:
    return hundredths(card.credits_min) if move.credits is None else move.credits


def _held(session: Session, offered: TermCatalog, students: list[int]) -> dict[int, list[HeldSeat]]:
    """The seats of those students in the term."""
    found: defaultdict[int, list[HeldSeat]] = defaultdict(list)
    seats = select(Enrollment.student_id, Enrollment.section_id, Enrollment.credits).where(
        Enrollment.term_id == offered.term.id,
        Enrollment.student_id.in_(students),
        Enrollment.state == "enrolled",
    )
    for student, section, credits_ in session.execute(seats):
        found[student].append(HeldSeat(section, credits_, registration=0, at=0))
    return found
