"""The rules between a student and a section that the ledger does not check: pure functions."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portal.catalog import grades, requisites
from portal.ledger.types import Reason, RuleFacts
from portal.registration.reasons import LEDGER_CHECKS, PERMISSIONS
from portal.registration.restrictions import grouped
from portal.windows.cohorts import in_cohort

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog
    from portal.people.student_profile import StudentProfile

CHECKED_HERE = frozenset(PERMISSIONS).difference(LEDGER_CHECKS)
NOT_OFFERED = 0  # stands for a course that no student can take this term


def refusals(profile: "StudentProfile", section: "SectionView") -> list[Reason]:
    """Return every reason in PostgreSQL's records why the student can't take the section.

    Leaves out those that a permission lifts.
    """
    return not_permitted(profile, section, before_permissions(profile, section))


def not_permitted(
    profile: "StudentProfile", section: "SectionView", reasons: list[Reason]
) -> list[Reason]:
    """Return the reasons that no permission of the student for the section lifts."""
    if not reasons:
        return reasons
    passes = permitted(profile, section)
    return [each for each in reasons if each.code not in passes]


def before_permissions(profile: "StudentProfile", section: "SectionView") -> list[Reason]:
    """Return the same with those that a permission lifts, for the ledger to lift and name."""
    if not profile.holds and not section.ruled:
        return []
    reasons = [Reason("hold", hold.facts) for hold in profile.holds if hold.is_active]
    if section.status == "OPEN" and not _is_for(profile, section):
        reasons.append(Reason("not_for_you"))
    missing = requisites.missing(section.prerequisites, _passed(profile))
    if missing:
        reasons.append(Reason("prerequisite", {"missing": missing} | _low_grades(profile, missing)))
    reasons += _restrictions(profile, section.restrictions)
    return [*reasons, Reason("consent")] if section.consent else reasons


def facts(profile: "StudentProfile", section: "SectionView", catalog: "TermCatalog") -> RuleFacts:
    """Return what the ledger needs to know of a student and a section."""
    linked = corequisites(profile, section, catalog)
    return RuleFacts(
        corequisites=None if linked.not_offered else linked.needed,
        rules=(*before_permissions(profile, section), *linked.not_offered),
        waived=waived(profile, section),
        reserves=reserves(profile, section),
        waived_corequisites=linked.waived,
    )


def needs_consent(profile: "StudentProfile", section: "SectionView") -> bool:
    """Return whether the student lacks the consent that the section needs."""
    return section.consent and "consent" not in permitted(profile, section)


def unmet(profile: "StudentProfile", section: "SectionView") -> list[Reason]:
    """Return the reasons that are about the section: a hold is not."""
    return [each for each in refusals(profile, section) if each.code != "hold"]


def may_refuse(profile: "StudentProfile", section: "SectionView", codes: frozenset[str]) -> bool:
    """Return whether one of the rules refuses the section to the student, or may do so later.

    A rule that the ledger checks may: its answer depends on the student's other sections.
    """
    open_codes = codes - permitted(profile, section)
    if not open_codes <= CHECKED_HERE:
        return True
    if "not_for_you" in open_codes and not _is_for(profile, section):  # also before it opens
        return True
    return any(reason.code in open_codes for reason in refusals(profile, section))


def visible(profile: "StudentProfile", section: "SectionView") -> bool:
    """Return whether the section list shows the section: open, and of a course for the student."""
    if section.status != "OPEN":
        return False
    return _is_for(profile, section) or "not_for_you" in permitted(profile, section)


def _is_for(profile: "StudentProfile", section: "SectionView") -> bool:
    """Return whether the section is for everyone or for students such as this one."""
    return (
        section.public
        or _meet(section.restricted_to, profile.majors | profile.minors)
        or _meet(section.levels, [profile.level])
        or _meet(section.years, [profile.year])
    )


def permitted(profile: "StudentProfile", section: "SectionView") -> frozenset[str]:
    """Return the codes of the reasons that a permission lifts for the student in this section."""
    return profile.overrides.get(section.id, frozenset())


def waived(profile: "StudentProfile", section: "SectionView") -> tuple[str, ...]:
    """Return the permitted codes in the order of lists, for the ledger."""
    passes = permitted(profile, section)
    return tuple(code for code in PERMISSIONS if code in passes)


def reserves(profile: "StudentProfile", section: "SectionView") -> tuple[int, ...]:
    """Return the section's reserves that the student belongs to."""
    return tuple(each.id for each in section.reserves if in_cohort(profile, each.cohort))


@dataclass(frozen=True)
class Corequisites:
    """The courses to take in the same term, as trees of course ids; None if there are none."""

    needed: dict[str, Any] | None = None
    waived: dict[str, Any] | None = None  # instead of `needed`, if a permission lifts it
    not_offered: tuple[Reason, ...] = ()  # the refusal if the term lacks one


def corequisites(
    profile: "StudentProfile", section: "SectionView", catalog: "TermCatalog"
) -> Corequisites:
    """Return the corequisites that the student has not passed in an earlier term."""
    rest = requisites.missing(section.corequisites, _passed(profile))
    if not rest:
        return Corequisites()
    if "corequisite" in permitted(profile, section):
        return Corequisites(waived=_by_id(rest, catalog))
    beyond = requisites.missing(rest, lambda leaf: _course(leaf["course"], catalog) != NOT_OFFERED)
    refusal = (Reason("corequisite_not_offered", {"missing": beyond}),) if beyond else ()
    return Corequisites(_by_id(rest, catalog), not_offered=refusal)


def _passed(profile: "StudentProfile") -> Callable[[requisites.Tree], bool]:
    """Return whether a course is on the record, with its minimum grade if it has one."""

    def met(leaf: requisites.Tree) -> bool:
        grade = profile.completed.get(requisites.key(leaf["course"]))
        return grade is not None and ("grade" not in leaf or grades.meets(grade, leaf["grade"]))

    return met


def _low_grades(profile: "StudentProfile", missing: requisites.Tree) -> dict[str, Any]:
    """Return the grades of missing courses that are on the record, blank for an unknown grade."""
    keys = {code: requisites.key(code) for code in requisites.codes(missing)}
    low = {code: profile.completed[key] for code, key in keys.items() if key in profile.completed}
    return {"grades": low} if low else {}


def _by_id(tree: requisites.Tree, catalog: "TermCatalog") -> dict[str, Any]:
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
            # A subject is matched by code and by name; the refusal shows its name.
            shown = [word for word in profile.fields if word in have] or have
            facts = {"rule": rule, "kind": kind, "values": values, "have": shown}
            yield Reason("restriction", facts)


def _attributes(profile: "StudentProfile", kind: str) -> Iterable[str]:
    """Return the values of the student's record for a kind of restriction."""
    match kind:
        case "major":
            return profile.majors
        case "field_of_study":
            return profile.majors | profile.minors
        case "program":  # universities name one by its degree or by its subject
            return {profile.degree, *profile.majors}
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
