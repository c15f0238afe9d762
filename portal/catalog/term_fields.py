"""The rules of a term: one table from which the rest is derived.

Each rule is a column of `terms`. Its label here is that of the admin's form, of differences, of the
audit trail and of imports; a copy of a term has the same rules.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from portal.catalog.models import Term
from portal.core.i18n import _l
from portal.ledger.types import DEADLINES

LABELS = {
    "credit_limit": _l("Credit limit"),
    "drops_per_day": _l("Drops per day"),
    "skip_limit": _l("Skips until removal"),
    "skip_reasons": _l("Reasons that count as skips"),
    "add_deadline": _l("Last day to add"),
    "drop_deadline": _l("Last day to drop"),
    "withdraw_deadline": _l("Last day to withdraw"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
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


def rule_values(term: Term) -> dict[str, Any]:
    """Return the values of a term's rules by name."""
    stored = {name: getattr(term, name) for name in LABELS}
    return stored | {"skip_reasons": tuple(term.skip_reasons)}


def set_rules(term: Term, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(term, name, list(value) if name == "skip_reasons" else value)
