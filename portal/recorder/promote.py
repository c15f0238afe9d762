"""Free seats to the heads of their waitlists, after the rules of PostgreSQL were asked again."""

from collections.abc import Iterator

from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.ledger.types import Candidate, Promotion, Reason, WindowView
from portal.people import profile
from portal.recorder.wake import wake
from portal.seats import rules
from portal.seats.desk import hundredths, limit
from portal.windows.phases import open_to

AT_ONCE = 20  # waiters a round trip


def promote(term: int, correlation: str) -> int:
    """Fill every free seat of the term that a waiter may have, and give their number.

    Canceled sections give their seats up first, where whoever canceled them has not come so far.
    """
    ledger = backend().ledger
    offered, windows = catalog_of(term), ledger.windows(term)
    ledger.clear_woken(term, "promote")
    for section in sorted(ledger.emptying(term)):
        while ledger.empty(term, section).more:
            continue
    troubles: list[Exception] = []
    placed, called, moved = 0, {"record"}, True
    while moved and not troubles:  # seats of a pool go to one list, then to another
        moved = False
        for section in sorted(ledger.vacant(term)):
            try:
                for done in _fill(offered, section, windows, correlation):
                    placed += len(done.promoted)
                    moved = moved or bool(done.promoted or done.passed or done.aside)
                    called.update(done.wake)  # a swap frees a seat in its turn
            except Exception as error:  # noqa: BLE001  one section must not starve the others
                troubles.append(error)
    wake(term, sorted(called))
    if troubles:
        raise troubles[0]
    return placed


def _fill(
    offered: TermCatalog, section: int, windows: list[WindowView], correlation: str
) -> Iterator[Promotion]:
    ledger, term = backend().ledger, offered.term.id
    while True:
        seats = ledger.seats_of(term, [section])[section]
        heads = ledger.head(term, section, min(max(seats.open, seats.kept, 1), AT_ONCE))
        candidates = [_candidate(offered, section, student, windows) for student in heads]
        done = ledger.promote(term, section, candidates, correlation, offered.term.passes)
        yield done
        # Somebody may have left the head meanwhile; where nothing moved, the clock looks again.
        if not done.more or not (done.promoted or done.passed or done.aside):
            return


def _candidate(
    offered: TermCatalog, section: int, student: int, windows: list[WindowView]
) -> Candidate:
    """The waiter as PostgreSQL knows them now."""
    card = offered.section(section)
    try:
        who = profile.read(student)  # a hold may have been lifted a moment ago
    except LookupError:
        return _hopeless(student, "student_unknown")
    if card is None:
        return _hopeless(student, "section_unknown")
    beyond = rules.unoffered(who, card, offered)
    return Candidate(
        student=student,
        windows=tuple(window.id for window in open_to(who, windows)),
        limit=hundredths(limit(who, offered)),
        corequisites=None if beyond else rules.corequisites(who, card, offered),
        rules=(*rules.refusals(who, card), *beyond),
        waived=rules.waived(who, card),
        reserves=rules.reserves(who, card),
    )


def _hopeless(student: int, code: str) -> Candidate:
    return Candidate(student=student, windows=(), limit=0, rules=(Reason(code),))
