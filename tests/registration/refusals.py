"""A refusal for every reason, with its next step."""

from typing import Any
from zoneinfo import ZoneInfo

from portal.ledger.types import Reason
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import REASONS, Explanation, explain
from tests.registration.makers import a_catalog, a_meeting, a_view, course, every, some

CARD = a_view("CSC-2200", number="02", meetings=(a_meeting(),))
OTHER = a_view("MAT-1010", meetings=(a_meeting(),))
THIRD = a_view("ART-1010")
CASE = RefusalContext(a_catalog(CARD, OTHER, THIRD), CARD, ZoneInfo("America/New_York"))
NINE = 1_914_498_000_000  # 2030-09-01 09:00 in New York

# Example facts of most reasons, and of those that have others.
USUAL = {"section": OTHER.id, "limit": 2, "opens": NINE, "closes": NINE, "resets": NINE}
FACTS_OF: dict[str, dict[str, Any]] = {
    "already_waiting": {"position": 3},
    "credit_range": {"min": 100, "max": 350},
    "credit_limit": {"held": 1900, "adds": 400, "limit": 2100},
    "corequisite": {"missing": [OTHER.course_id]},
    "corequisite_not_offered": {"missing": course("PHY-1100")},
    "full": {"waiting": 2, "waitlist_capacity": 5},
    "waitlist_full": {"waiting": 5, "waitlist_capacity": 5},
    "prerequisite": {"missing": every("CSC-1100", some("MAT-1010", "MAT-1020"))},
    "restriction": {"rule": "must_be", "kind": "level", "values": ["Graduate"], "have": []},
    "hold": {"kind": "fees", "reason": "Unpaid fees.", "office": "the bursar"},
    "needed_by": {"section": OTHER.id, "missing": [CARD.course_id]},
}
FACTS = {code: FACTS_OF.get(code, USUAL) for code in REASONS}


def one(code: str, **facts: Any) -> Explanation:
    return explain([Reason(code, FACTS[code] | facts)], CASE)[0]


def swap(held: Any) -> str:
    return f"/terms/7/sections/{CARD.id}/swap?swap_out={held.id}"
