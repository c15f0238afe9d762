"""Students' requests: the types that forms, the API and plans build, and the ledger's input.

A submission is a list of choices. A choice ranks its alternatives; an alternative names the
sections that are taken together or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from portal.catalog import linked_courses, requisites
from portal.ledger.types import Claim, LedgerChoice, Reason
from portal.registration import rules
from portal.registration.credits import hundredths
from portal.windows import bands

if TYPE_CHECKING:
    from portal.catalog.term_catalog import TermCatalog
    from portal.people.student_profile import StudentProfile


@dataclass(frozen=True)
class SectionRequest:
    """One section; `credits` (hundredths) only matter for a range; None is its minimum."""

    section: int
    credits: int | None = None


Alternative = tuple[SectionRequest, ...]  # sections to be taken together or not at all


@dataclass(frozen=True)
class Choice:
    """Ranked alternatives: the first one that has all seats is taken.

    With `wait`, the student takes a waitlist position if none has seats. `swap_out` is a held
    section that is dropped once the student has the new seat, and not before (a swap).
    """

    alternatives: tuple[Alternative, ...]
    wait: bool = False
    swap_out: int | None = None

    @property
    def sections(self) -> tuple[int, ...]:
        """Every section of the choice, by rank, once."""
        named = (request.section for each in self.alternatives for request in each)
        return tuple(dict.fromkeys(named))


def idempotency_content(choices: Sequence[Choice]) -> list[Any]:
    """Return the request as the content of an idempotency key.

    It leaves out what the catalog adds, which may change between two attempts.
    """
    return [
        [
            [[[one.section, one.credits or 0] for one in each] for each in choice.alternatives],
            choice.wait,
            choice.swap_out or 0,
        ]
        for choice in choices
    ]


class SeveralSwaps(ValueError):
    """Corequisites would be taken for several sections; `choice` is the last one's index."""

    def __init__(self, choice: int) -> None:
        super().__init__(choice)
        self.choice = choice


def taken_together(choices: Sequence[Choice], catalog: "TermCatalog") -> list[Choice]:
    """Return the choices, those of courses that are corequisites as one. Raise SeveralSwaps.

    Such a choice may wait if all of its sections may.
    """
    together = []
    for group in _corequisite_groups(choices, catalog):
        swaps = {at: choices[at].swap_out for at in group if choices[at].swap_out}
        if len(set(swaps.values())) > 1:
            raise SeveralSwaps(max(swaps))
        alternative = tuple(one for at in group for one in choices[at].alternatives[0])
        wait = all(choices[at].wait for at in group)
        together.append(Choice((alternative,), wait, next(iter(swaps.values()), None)))
    return together


def _corequisite_groups(choices: Sequence[Choice], catalog: "TermCatalog") -> list[list[int]]:
    sections = catalog.some(choice.sections[0] for choice in choices)
    groups: list[list[int]] = []
    for at, section in enumerate(sections):
        needed = set(linked_courses.courses(section, catalog))
        for group in groups:
            courses = {sections[each].course_id for each in group}
            if section.course_id not in courses and courses & needed:
                group.append(at)
                break
        else:
            groups.append([at])
    return groups


def decision_order(choices: Sequence[Choice], catalog: "TermCatalog") -> list[int]:
    """Return the order to decide in: corequisites before what needs them, else as given."""
    sections = [catalog.some(choice.sections) for choice in choices]
    gives = [{requisites.key(each.course_code) for each in found} for found in sections]
    needs = [
        {requisites.key(code) for each in found for code in requisites.codes(each.corequisites)}
        for found in sections
    ]
    left, order = list(range(len(choices))), []
    while left:
        others = {each: set().union(*(gives[one] for one in left if one != each)) for each in left}
        ready = (each for each in left if needs[each].isdisjoint(others[each]))
        order.append(next(ready, left[0]))
        left.remove(order[-1])
    return order


def for_ledger(choice: Choice, student: "StudentProfile", catalog: "TermCatalog") -> LedgerChoice:
    """Return the choice with everything the ledger needs to decide it."""
    alternatives = (_claims(each, student, catalog) for each in choice.alternatives)
    return LedgerChoice(tuple(alternatives), choice.wait, choice.swap_out)


def claim(request: SectionRequest, student: "StudentProfile", catalog: "TermCatalog") -> Claim:
    """Return one section with everything the ledger needs to decide it."""
    section = catalog.section(request.section)
    if section is None:
        return Claim(request.section, credits=0, rules=(Reason("section_unknown"),))
    least = hundredths(section.credits_min)
    return Claim(
        section=section.id,
        credits=least if request.credits is None else request.credits,
        **vars(rules.facts(student, section, catalog)),
        band=bands.band_of(student, section, catalog.term.bands) if catalog.term.bands else None,
    )


def _claims(
    alternative: Alternative, student: "StudentProfile", catalog: "TermCatalog"
) -> tuple[Claim, ...]:
    """Return the claims of an alternative; refuse a section that is not linked with the others."""
    named = catalog.some([each.section for each in alternative])
    unlinked = {each.id for each in linked_courses.unlinked(named)}
    claims = (claim(each, student, catalog) for each in alternative)
    return tuple(
        replace(each, rules=(*each.rules, Reason("not_partner")))
        if each.section in unlinked
        else each
        for each in claims
    )
