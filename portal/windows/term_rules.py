"""Changes of a term's rules: credit limit, drops a day, lost waitlist positions, and deadlines."""

from contextlib import suppress
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from typing import Any

from portal.catalog import term_catalog
from portal.catalog.models import Term
from portal.catalog.term_fields import TermRules, rule_values, set_rules
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.windows import deadlines


class RulesChanged(Exception):
    """The rules have changed since the page was shown."""


def rules(term: Term) -> TermRules:
    return TermRules(**rule_values(term))


def change(term_id: int, seen: TermRules, wanted: TermRules, by: int, reason: str) -> None:
    """Set the rules; raises RulesChanged if they are no longer as `seen`.

    If the ledger is away, the scheduler sends the deadlines later, as the catalog's version is
    newer.
    """
    with transaction() as session:
        term = session.get_one(Term, term_id, with_for_update=True)
        if rules(term) != seen:
            raise RulesChanged
        set_rules(term, asdict(wanted))
        term.catalog_version += 1
        add_audit_entry(
            session,
            "term.rules",
            f"term:{term_id}",
            by=by,
            before=_facts(seen),
            after=_facts(wanted),
            reason=reason,
        )
    term_catalog.expire(term_id)
    with suppress(LedgerBehind, LedgerUnavailable):
        deadlines.send(term_id, f"account:{by}")


def _facts(rules: TermRules) -> dict[str, Any]:
    """Return the rules as the audit trail stores them."""
    return {
        name: str(value) if isinstance(value, Decimal | date) else value
        for name, value in asdict(rules).items()
    }
