"""Asking the ledger for the seats of an import, as for what is done by hand."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby

from portal.catalog.term_catalog import expire
from portal.core.db import transaction
from portal.exchange.importing.models import Import
from portal.exchange.importing.options import Options
from portal.exchange.importing.seating.moves import NO_MATTER, PAST, Move
from portal.ledger.errors import KeyReused
from portal.ledger.types import Decision, Outcome
from portal.people.profile import Profile, read_all
from portal.recorder.events import IMPORT_PREFIX
from portal.seats import by_hand
from portal.seats.by_hand import Adjustment, Many

Decided = tuple[Move, list[str]]  # with the codes of what refuses it; none where it is done


def ask(found: Import, batch: Collection[Move]) -> Iterator[Decided]:
    """Have each of a batch decided by itself, in the order of their terms."""
    people = _people(batch)
    for term, of_term in groupby(sorted(batch, key=_term), key=_term):
        expire(term)  # what the import has just changed must be seen
        known = []
        for move in of_term:
            if move.section and move.student in people:
                known.append(move)
            else:
                yield move, ["student_unknown" if move.section else "section_unknown"]
        answers = _decided(_many(found, term, known), people)
        yield from zip(known, answers, strict=True)


def ask_ring(found: Import, ring: Sequence[Move]) -> list[Decided]:
    """Have changes decided in one step, all or none, each into the seat that the next one leaves.

    Where they are refused, some have nothing against them. Raises KeyReused and NoRing.
    """
    term = _term(ring[0])
    expire(term)
    answers = by_hand.exchange(_many(found, term, ring), _people(ring))
    return [(move, _codes(answer)) for move, answer in zip(ring, answers, strict=True)]


def _people(batch: Collection[Move]) -> Mapping[int, Profile]:
    with transaction() as session:
        return read_all(session, {move.student for move in batch if move.student})


def _term(move: Move) -> int:
    return move.term or 0


def _many(found: Import, term: int, batch: Collection[Move]) -> Many:
    past = Options.read(found.options).past
    return Many(
        term,
        {f"import-{found.id}-{move.id}": _change(move) for move in batch},
        overrides=tuple(sorted(PAST if past else NO_MATTER)),
        why=f"Import {found.id}: {found.name}",
        by=found.account_id,
        correlation=f"{IMPORT_PREFIX}{found.id}",
    )


def _change(move: Move) -> Adjustment:
    term, student = _term(move), move.student or 0
    if move.removes:
        return Adjustment(term, student, drop=move.section)
    worth = None if move.credits is None else Decimal(move.credits) / 100
    gone = move.old.section if move.old else None
    return Adjustment(term, student, add=move.section, drop=gone, credits=worth)


def _decided(many: Many, people: Mapping[int, Profile]) -> list[list[str]]:
    try:
        return [_codes(answer) for answer in by_hand.adjust_all(many, people)]
    except KeyReused:  # decided before it was interrupted, in a ring, or of what has changed since
        if len(many.changes) == 1:
            return [[]]
        each = (replace(many, changes=dict([one])) for one in many.changes.items())
        return [codes for one in each for codes in _decided(one, people)]


def _codes(answer: Decision) -> list[str]:
    refused = answer.outcome == Outcome.REFUSED
    return [reason.code for reason in answer.reasons] if refused else []
