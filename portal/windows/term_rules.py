"""The rules of a term: credit limit, drops a day, lost waitlist positions, and deadlines."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from portal.catalog import term_catalog
from portal.catalog.models import Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.ledger.types import DEADLINES
from portal.windows import deadlines


class RulesChanged(Exception):
    """The rules have changed since the page was shown."""


@dataclass(frozen=True)
class TermRules:
    """A term's rules: `skip_limit` None keeps all positions; no `skip_reasons` means any reason."""

    credit_limit: Decimal
    drops_per_day: int
    skip_limit: int | None = None
    skip_reasons: tuple[str, ...] = ()
    add_deadline: date | None = None
    drop_deadline: date | None = None
    withdraw_deadline: date | None = None

    @property
    def deadlines(self) -> dict[str, date | None]:
        """Return the last days to add, drop and withdraw."""
        return {name: getattr(self, name) for name in DEADLINES}

    @property
    def facts(self) -> dict[str, Any]:
        """Return the rules as the audit trail stores them."""
        days = {name: day and day.isoformat() for name, day in self.deadlines.items()}
        return {**asdict(self), "credit_limit": str(self.credit_limit), **days}


def rules(term: Term) -> TermRules:
    """Return the term's rules."""
    codes = tuple(term.skip_reasons)
    days = {name: getattr(term, name) for name in DEADLINES}
    return TermRules(term.credit_limit, term.drops_per_day, term.skip_limit, codes, **days)


def change(term_id: int, seen: TermRules, wanted: TermRules, by: int, reason: str) -> None:
    """Set the rules; raises RulesChanged if they are no longer as `seen`.

    If the ledger is away, the scheduler sends the deadlines later, as the catalog's version is
    newer.
    """
    with transaction() as session:
        term = session.get_one(Term, term_id, with_for_update=True)
        if rules(term) != seen:
            raise RulesChanged
        term.credit_limit, term.drops_per_day = wanted.credit_limit, wanted.drops_per_day
        term.skip_limit, term.skip_reasons = wanted.skip_limit, list(wanted.skip_reasons)
        for name, day in wanted.deadlines.items():
            setattr(term, name, day)
        term.catalog_version += 1
        add_audit_entry(
            session,
            "term.rules",
            f"term:{term_id}",
            by=by,
            before=seen.facts,
            after=wanted.facts,
            reason=reason,
        )
    term_catalog.expire(term_id)
    with suppress(LedgerBehind, LedgerUnavailable):
        deadlines.send(term_id, f"account:{by}")
