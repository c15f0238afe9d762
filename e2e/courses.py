"""Courses of stories, with codes that no other story and no imported semester has."""

from itertools import count
from typing import Any

from portal.catalog.models import Course, Section
from portal.core.db import transaction
from tests import cast as builders

# Numbers of imported courses have at most four digits. None of these contains the CRN of a section,
# which a story may search for: those of tests begin at 1000.
NUMBERS = count(50_001)


def a_course(subject: str = "CSC", **fields: Any) -> Course:
    """Return a new course of a subject; its number is higher than those before."""
    return builders.a_course(f"{subject}-{next(NUMBERS)}", **fields)


def name_of(section: Section) -> str:
    """Return what pages call a section, such as CSC 50001-02."""
    with transaction() as session:
        code = session.get_one(Course, section.course_id).code
    return f"{code.replace('-', ' ')}-{section.number}"
