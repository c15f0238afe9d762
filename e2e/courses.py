"""Courses of stories, with codes that no other story and no imported semester has."""

from itertools import count
from typing import Any

from portal.catalog.models import Course, Section
from portal.core.db import transaction
from tests import cast as builders

# Imported courses have numbers of at most four digits. A story may search for a CRN: those begin at
# 1000, so that no number here contains one.
NUMBERS = count(50_001)


def a_course(subject: str = "CSC", **fields: Any) -> Course:
    """Return a new course of a subject; its number is higher than those before."""
    return builders.a_course(f"{subject}-{next(NUMBERS)}", **fields)


def name_of(section: Section) -> str:
    """Return what pages call a section, such as CSC 50001-02."""
    with transaction() as session:
        code = session.get_one(Course, section.course_id).code
    return f"{code.replace('-', ' ')}-{section.number}"
