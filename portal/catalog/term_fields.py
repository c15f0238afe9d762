"""The rules of a term: one table from which the rest is derived.

Each attribute of `TermRules` describes a rule completely; it has the name of its column in `terms`.
These parts are derived from it: the admin's form and its checks, the differences on the
confirmation page, the audit trail with its labels; copies of a term, the records that imports
compare, exports, and the term in the API.

`docs/developers-guide.md` shows how to add a rule.
"""

# ruff: noqa: RUF009 - the calls in the class below give immutable defaults
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from portal.core.i18n import _l

if TYPE_CHECKING:
    from portal.catalog.models import Term


@dataclass(frozen=True, kw_only=True)
class TermRule:
    """The description of a rule; `name` is its key in forms, records and the audit trail."""

    name: str = ""
    label: str
    kind: Literal["credits", "number", "day", "reasons"]
    part: Literal["limits", "skips", "deadlines"]  # of the form
    default: Any = None  # in a term that an import makes
    question: str = ""  # the label in the form, if it is another
    hint: str = ""
    least: int = 0
    most: int = 0
    in_api: bool = True
    meaning: str = ""  # in the document of the API, if its name does not say enough

    @property
    def optional(self) -> bool:
        """Return whether a term can do without it."""
        return self.default is None


def limit(label: str, **more: Any) -> Any:
    """Define a limit: a whole number, or an amount of credits."""
    return _define(label=label, **{"kind": "number", "part": "limits"} | more)


def about_skips(label: str, **more: Any) -> Any:
    """Define a rule about skipped students; the form asks for it if they can lose a position."""
    return _define(label=label, part="skips", in_api=False, **more)


def deadline(label: str, **more: Any) -> Any:
    """Define a last day."""
    return _define(label=label, kind="day", part="deadlines", **more)


def _define(**known: Any) -> Any:
    rule = TermRule(**known)
    return field(default=rule.default, metadata={"rule": rule})


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRules:
    """A term's rules: `skip_limit` None keeps all positions; no `skip_reasons` means any reason."""

    credit_limit: Decimal = limit(
        _l("Credit limit"),
        kind="credits",
        default=Decimal(21),
        most=100,
        hint=_l("The maximum per student, unless the student’s record has another limit."),
        meaning="The most credits, unless you may take more.",
    )
    drops_per_day: int = limit(
        _l("Drops per day"),
        default=3,
        most=1000,
        hint=_l("How many seats a student can drop per day. Swaps don’t count."),
    )
    skip_limit: int | None = about_skips(
        _l("Skips until removal"),
        kind="number",
        least=1,
        most=100,
        hint=_l("The student is removed after this many skips."),
    )
    skip_reasons: tuple[str, ...] = about_skips(
        _l("Reasons that count as skips"),
        kind="reasons",
        default=(),
        question=_l("Count only skips for these reasons (choose none to count all)"),
    )
    add_deadline: date | None = deadline(
        _l("Last day to add"),
        hint=_l("Also to swap or join a waitlist. Waitlists stop after it."),
        meaning="The last day to add.",
    )
    drop_deadline: date | None = deadline(
        _l("Last day to drop"),
        hint=_l("After it, students must ask to withdraw."),
        meaning="The last day to drop.",
    )
    withdraw_deadline: date | None = deadline(
        _l("Last day to withdraw"),
        hint=_l("The last day to ask for a withdrawal or a late drop."),
        meaning="The last day to withdraw.",
    )


TERM_RULES: Mapping[str, TermRule] = {
    each.name: replace(each.metadata["rule"], name=each.name) for each in fields(TermRules)
}


def rule_values(term: "Term") -> dict[str, Any]:
    """Return the values of a term's rules by name."""
    stored = {name: getattr(term, name) for name in TERM_RULES}
    return {name: tuple(each) if isinstance(each, list) else each for name, each in stored.items()}


def set_rules(term: "Term", values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(term, name, list(value) if isinstance(value, tuple) else value)
