"""The rules of a term: credit limit, drops a day, and when a waitlist position is lost."""

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from portal.catalog.models import Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction


class RulesChanged(Exception):  # noqa: N818  an expected state, not an error
    """The rules have changed since the page was shown."""


@dataclass(frozen=True)
class TermRules:
    """A term's rules: `skip_limit` None keeps all positions; no `skip_reasons` means any reason."""

    credit_limit: Decimal
    drops_per_day: int
    skip_limit: int | None = None
    skip_reasons: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """Return the rules as the audit trail stores them."""
        return {**asdict(self), "credit_limit": str(self.credit_limit)}


def rules(term: Term) -> TermRules:
    """Return the term's rules."""
    codes = tuple(term.skip_reasons)
    return TermRules(term.credit_limit, term.drops_per_day, term.skip_limit, codes)


def change(term_id: int, seen: TermRules, wanted: TermRules, by: int, reason: str) -> None:
    """Set the rules; raises RulesChanged if they are no longer as `seen`."""
    with transaction() as session:
        term = session.get_one(Term, term_id, with_for_update=True)
        if rules(term) != seen:
            raise RulesChanged
        term.credit_limit, term.drops_per_day = wanted.credit_limit, wanted.drops_per_day
        term.skip_limit, term.skip_reasons = wanted.skip_limit, list(wanted.skip_reasons)
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
