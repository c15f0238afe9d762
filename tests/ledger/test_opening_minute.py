"""Only the ledger's clock opens and closes windows, to the millisecond, for every client."""

from itertools import chain

from portal.ledger.types import Outcome, WindowView
from tests.ledger.crowd import hammer, schedule, together
from tests.ledger.requests import TERM, Desk, codes

CLIENTS = 4
WINDOW = 2


def test_no_claim_or_drop_is_granted_outside_the_window(desk: Desk, address: str) -> None:
    desk.section(12, capacity=3, waitlist=0)
    shares = [(hammer, address, student, WINDOW) for student in range(501, 501 + CLIENTS)]
    _, *heard = together([(schedule, address, WINDOW), *shares])
    answers = list(chain.from_iterable(heard))
    window = the_window(desk)
    accepted = [each.at for each in answers if each.outcome != Outcome.REFUSED]
    early = [each.at for each in answers if "window_before" in codes(each)]
    late = [each.at for each in answers if "window_ended" in codes(each)]
    assert max(early) < window.opens <= min(accepted)
    assert max(accepted) < window.closes <= min(late)


def the_window(desk: Desk) -> WindowView:
    return next(each for each in desk.ledger.windows(TERM) if each.id == WINDOW)
