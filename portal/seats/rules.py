"""What keeps a student from a section, apart from what can race: pure functions."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from portal.catalog import requisites
from portal.ledger.types import Reason
from portal.seats.restrictions import grouped
from portal.windows.phases import in_cohort

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog
    from portal.people.student_profile import StudentProfile

NOT_OFFERED = 0  # stands for a course that no student can hold this term
LEDGERS_OWN = ("same_course", "time_conflict", "credit_limit", "corequisite")
WAIVABLE = ("prerequisite", "restriction", "not_for_you", *LEDGERS_OWN)


def refusals(profile: "StudentProfile", card: "SectionView") -> list[Reason]:
    """Every rule of PostgreSQL that stands between the student and the section."""
    reasons = [Reason("hold", hold.facts) for hold in profile.holds if hold.stands]
    if card.status == "OPEN" and not visible(profile, card):
        reasons.append(Reason("not_for_you"))
    completed = {requisites.key(code) for code in profile.completed}
    lacking = requisites.missing(card.prerequisites, lambda code: requisites.key(code) in completed)
    if lacking:
        reasons.append(Reason("prerequisite", {"missing": lacking}))
    reasons += _restrictions(profile, card.restrictions)
    passes = permitted(profile, card)
    return [reason for reason in reasons if reason.code not in passes]


def visible(profile: "StudentProfile", card: "SectionView") -> bool:
    """Whether the list shows the section: OPEN, and of a course for this student."""
    if card.status != "OPEN":
        return False
    return (
        card.public
        or _meet(card.restricted_to, profile.majors | profile.minors)
        or _meet(card.levels, [profile.level])
        or _meet(card.years, [profile.year])
        or "not_for_you" in permitted(profile, card)
    )


def permitted(profile: "StudentProfile", card: "SectionView") -> frozenset[str]:
    """Codes of the reasons that the registrar permits the student to pass, for this section."""
    return profile.overrides.get(card.id, frozenset())


def waived(profile: "StudentProfile", card: "SectionView") -> tuple[str, ...]:
    """Those of them that are the ledger's to give."""
    passes = permitted(profile, card)
    return tuple(code for code in LEDGERS_OWN if code in passes)


def reserves(profile: "StudentProfile", card: "SectionView") -> tuple[int, ...]:
    """Those of the section's reserves whose cohort the student is in."""
    return tuple(each.id for each in card.reserves if in_cohort(profile, each.cohort))


def corequisites(
    profile: "StudentProfile", card: "SectionView", catalog: "TermCatalog"
) -> dict[str, Any] | None:
    """What must be held in the same term, as a tree of course ids; None where nothing must."""
    return _by_id(_lacking(profile, card), catalog)


def unoffered(
    profile: "StudentProfile", card: "SectionView", catalog: "TermCatalog"
) -> list[Reason]:
    """A refusal where the corequisites can't be met, as no section of them is offered."""
    lacking = _lacking(profile, card)
    beyond = requisites.missing(lacking, lambda code: _course(code, catalog) != NOT_OFFERED)
    return [Reason("corequisite_not_offered", {"missing": beyond})] if beyond else []


def _lacking(profile: "StudentProfile", card: "SectionView") -> requisites.Tree | None:
    """The corequisites that were not passed in an earlier term."""
    if "corequisite" in permitted(profile, card):
        return None
    completed = {requisites.key(code) for code in profile.completed}
    return requisites.missing(card.corequisites, lambda code: requisites.key(code) in completed)


def _by_id(tree: requisites.Tree | None, catalog: "TermCatalog") -> dict[str, Any] | None:
    if not tree:
        return None
    if "course" in tree:
        return {"course": _course(tree["course"], catalog)}
    joint = "any" if "any" in tree else "all"
    return {joint: [_by_id(node, catalog) for node in tree[joint]]}


def _course(code: str, catalog: "TermCatalog") -> int:
    return catalog.course_id(requisites.key(code)) or NOT_OFFERED


def _restrictions(
    profile: "StudentProfile", restrictions: Iterable[tuple[str, str, str]]
) -> Iterator[Reason]:
    for (rule, kind), values in grouped(restrictions).items():
        have = [word for word in _attributes(profile, kind) if word.strip()]
        if _meet(values, have) != (rule == "must_be"):
            # A subject is matched by code and by name, and told by its name.
            told = [word for word in profile.fields if word in have] or have
            facts = {"rule": rule, "kind": kind, "values": values, "have": told}
            yield Reason("restriction", facts)


def _attributes(profile: "StudentProfile", kind: str) -> Iterable[str]:
    """What the student's record says under a kind of restriction; nothing where unknown."""
    match kind:
        case "major":
            return profile.majors
        case "field_of_study":
            return profile.majors | profile.minors
        case "classification":
            return [profile.year]
        case "level" | "degree" | "campus" | "college":
            return [getattr(profile, kind)]
        case _:
            return []


def _meet(wanted: Iterable[str], have: Iterable[str]) -> bool:
    return not _folded(wanted).isdisjoint(_folded(have))


def _folded(words: Iterable[str]) -> set[str]:
    return {" ".join(word.casefold().split()) for word in words if word.strip()}
