"""How each term's record stands: how far behind the ledger, and whether they agree."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.recorder import fence
from portal.recorder.journal import last_seq
from portal.recorder.models import Checkpoint, Reconciled


@dataclass(frozen=True)
class Standing:
    """Events `decided` and `recorded`; `differences` of the standing comparison, `compared_at`."""

    semester_id: int
    name: str
    decided: int
    recorded: int
    recorded_at: datetime | None
    fenced: bool
    differences: int
    compared_at: datetime | None

    @property
    def status(self) -> str:
        """The worst that is true of it: fenced, differs, behind or well."""
        found = {"fenced": self.fenced, "differs": self.differences > 0}
        found["behind"] = self.decided > self.recorded
        return next((name for name, true in found.items() if true), "well")


def standings() -> list[Standing]:
    """Every term; raises LedgerUnavailable."""
    rows = (
        select(Term.id, Term.name, Checkpoint.seq, Checkpoint.moved_at, Reconciled)
        .outerjoin(Checkpoint, Checkpoint.term_id == Term.id)
        .outerjoin(Reconciled, Reconciled.term_id == Term.id)
        .where(Term.deleted_at.is_(None))
        .order_by(Term.id)
    )
    with transaction() as session:
        found = session.execute(rows).all()
    return [
        Standing(
            term,
            name,
            decided=last_seq(backend().redis, term),
            recorded=seq or 0,
            recorded_at=moved,
            fenced=bool(fence.why(term)),
            differences=compared.found if compared else 0,
            compared_at=compared.at if compared else None,
        )
        for term, name, seq, moved, compared in found
    ]
