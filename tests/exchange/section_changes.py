"""Students in the sections of one course, and of another, written as `1A 2B`."""

import json
from collections.abc import Mapping
from typing import Any

from tests.exchange.oneroster import School

LECTURE = ("2030-09-01", "2030-12-01", "", True)


def having(
    places: str,
    *,
    meetings: Mapping[str, str] | None = None,
    credits: Mapping[str, int] | None = None,  # noqa: A002  the field's word
    pool: Any = None,
    **seats: int,
) -> School:
    """Files by which students are in those sections, of so many seats; X and Y of another course.

    `meetings` are hours on Mondays, `credits` are 4 unless given; `pool` is a name, how many seats,
    and whose.
    """
    school = School()
    school.rows["classes"] = []
    school.add("courses", sourcedId="other", title="Art", courseCode="ART-1", orgSourcedId="org-cs")
    for section, capacity in seats.items():
        facts: dict[str, Any] = {"capacity": capacity, "status": "OPEN", "waitlist": 5}
        facts["credits"] = [(credits or {}).get(section, 4) * 100] * 2
        if hour := (meetings or {}).get(section):
            facts["meetings"] = [["LEC", 1, f"{hour}:00", f"{hour[:2]}:50:00", *LECTURE]]
        if pool and section in pool[2]:
            facts["pool"] = pool[:2]
        school.add(
            "classes",
            sourcedId=section,
            title=f"Section {section}",
            courseSourcedId="other" if section in "XY" else "crs",
            termSourcedIds="fall",
            **{"metadata.fairseat": json.dumps(facts)},
        )
    school.rows["enrollments"] = []
    for number in range(2, 1 + max(5, *(int(each[:-1]) for each in places.split()))):
        school.student(number)
    for each in places.split():
        user = "u-s" if each[:-1] == "1" else f"u-{each[:-1]}"
        school.enroll(user, each[-1])
    return school
