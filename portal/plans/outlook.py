"""What can be told of a plan before it is submitted: each option beside all that comes first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from portal.ledger.types import Reason, Standing
from portal.plans.plan import Option, Plan
from portal.seats import foresight
from portal.seats.wishes import hundredths

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog
    from portal.people.student_profile import StudentProfile

Reasons = dict[int, list[Reason]]  # by section

UNKNOWN = [Reason("section_unknown")]


def outlook(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing, limit: int, plan: Plan
) -> list[list[Reasons]]:
    """For each option of each line, what stands in its way; `limit` is in hundredths.

    An option is looked at beside the first options of the other lines, since those are meant.
    """

    def against(options: Sequence[Option], about: Option | None = None) -> Reasons:
        told = None if about is None else {part.section for part in about}
        wishes = wished(options, catalog)
        return foresight.plan(profile, catalog, standing, limit, wishes, about=told)

    def beside(at: int, option: Option) -> list[Option]:
        return [*firsts[:at], option, *firsts[at + 1 :]]

    firsts = [line.options[0] for line in plan.lines]
    meant = against(firsts)
    return [
        [
            _of(option, against(beside(at, option), option) if rank else meant)
            for rank, option in enumerate(line.options)
        ]
        for at, line in enumerate(plan.lines)
    ]


def wished(options: Sequence[Option], catalog: "TermCatalog") -> list[tuple["SectionView", int]]:
    """The sections of all the options that are still offered, with their credits (hundredths)."""
    parts = [part for option in options for part in option]
    known = [(card, part) for part in parts if (card := catalog.section(part.section))]
    return [
        (card, hundredths(card.credits_min) if part.credits is None else part.credits)
        for card, part in known
    ]


def load(plan: Plan, catalog: "TermCatalog") -> int:
    """The credits (hundredths) of all first options."""
    return sum(adds for _, adds in wished([line.options[0] for line in plan.lines], catalog))


def _of(option: Option, reasons: Reasons) -> Reasons:
    return {part.section: reasons.get(part.section, UNKNOWN) for part in option}
