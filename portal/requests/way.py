"""What stands between a student and a section as things are, beside what a request names."""

from collections.abc import Iterator
from dataclasses import dataclass

from portal.backend import backend
from portal.catalog.term_catalog import SectionView, catalog_of
from portal.people import student_profile
from portal.recorder import read_with_fallback
from portal.registration import limits, precheck
from portal.registration.credits import hundredths
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import Explanation, explain
from portal.requests.models import Request

UNDER = {"corequisite_not_offered": "corequisite"}  # by code, the rule that it comes of


@dataclass(frozen=True)
class Way:
    """What the student would read now: of what the request puts aside, and of what stays."""

    asked: list[Explanation]
    other: list[Explanation]


def way(request: Request) -> Way | None:
    """What stands in the way of an override's student; None where that can't be known."""
    offered = catalog_of(request.section.term_id)
    card = offered.section(request.section_id)
    if card is None or request.student_id is None:
        return None
    who = student_profile.read(request.student_id)
    standing = read_with_fallback.standing(offered.term.id, who.student)
    held = {each.section: each.credits for each in standing.enrolled}
    case = RefusalContext(offered, card, backend().settings.zone, held)
    limit = hundredths(limits.credit_limit(who, offered))
    found = explain(precheck.likely_refusals(who, card, offered, standing, limit), case)
    asked = [each for each in found if UNDER.get(each.code, each.code) in request.waives]
    return Way(asked, [each for each in found if each not in asked])


def without(card: SectionView) -> Iterator[str]:
    """Codes of the rules that the section does not have, whoever asks."""
    has = {
        "prerequisite": card.prerequisites,
        "corequisite": card.corequisites,
        "restriction": card.restrictions,
        "not_for_you": not card.public,
        "time_conflict": card.meetings,
    }
    return (code for code, rule in has.items() if not rule)
