"""Courses of stories, with codes that no other story and no imported semester has."""

from itertools import count
from typing import Any

from portal.catalog.models import Course, Section
from portal.core.db import transaction
from tests import cast as builders

NUMBERS = count(10_001)  # numbers of imported courses have at most four digits


def a_course(subject: str = "CSC", **fields: Any) -> Course:
    """Return a new course of a subject; its number is higher than those before."""
    return builders.a_course(f"{subject}-{next(NUMBERS)}", **fields)


def name_of(section: Section) -> str:
    """Return what pages call a section, such as CSC 10001-02."""
    with transaction() as session:
        code = session.get_one(Course, section.course_id).code
    return f"{code.replace('-', ' ')}-{section.number}"
