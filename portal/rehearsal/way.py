"""What real students do meanwhile: a rehearsal takes of the portal what an opening takes."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term


class WindowInTheWay(Exception):  # noqa: N818  a state of the world, not a mistake
    """Real students choose seats before it would be over."""

    def __init__(self, window: str, term: str) -> None:
        super().__init__(window, term)
        self.window, self.term = window, term


def clear(session: Session, seconds: int) -> None:
    """Raise WindowInTheWay where a window is open, or opens within so many seconds."""
    ledger = backend().ledger
    now = ledger.now()
    real = select(Term).where(Term.deleted_at.is_(None), Term.practice.is_(False))
    for term in session.scalars(real.order_by(Term.id)):
        for window in ledger.windows(term.id):
            soon = window.opens < now + 1000 * seconds and now < window.closes
            if soon and window.state == "scheduled":
                raise WindowInTheWay(window.name, term.name)
