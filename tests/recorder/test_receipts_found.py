"""A receipt is found by its code."""

from dataclasses import replace

from portal.backend import Backend, backend
from portal.catalog.models import Term
from portal.ledger.types import Outcome
from portal.recorder.receipts import code, find
from portal.recorder.recorder import drain
from tests.cast import Cast
from tests.recorder.student_actions import claim, sections


def test_receipt_is_found_before_and_after_recording(term: Term, cast: Cast) -> None:
    [full] = sections(term, 0)
    counts = backend().ledger.seats(term.id)[full.id]
    answer = claim(cast.ada, full)
    assert answer.outcome == Outcome.REFUSED
    early = find(code(term.id, answer.seq))
    drain(term.id)
    claim(cast.ben, full)
    drain(term.id)  # the journal no longer has it
    late = find(code(term.id, answer.seq).lower())
    assert early
    assert late
    assert (early.recorded, late.recorded) == (False, True)
    assert early.event == late.event
    assert (late.student, late.section, late.at) == (cast.ada.id, full.id, answer.at)
    assert late.seats == replace(counts, seq=answer.seq)
    assert late.reasons == answer.reasons


def test_event_without_a_student_has_no_receipt(backend: Backend, term: Term) -> None:
    [window] = backend.ledger.windows(term.id)
    backend.ledger.close_window(term.id, window.id, "tests")
    assert find(code(term.id, 1)) is None
    assert find(code(term.id, 999)) is None
    assert find(code(2**40, 2**70)) is None
