"""Courses that name each other are taken together."""

from typing import Any

import pytest

from portal.catalog import linked_courses
from tests.registration.makers import a_catalog, a_view, course, every, some

LECTURE = a_view("PHY-1", corequisites=course("PHY-2"))
LAB = a_view("PHY-2", corequisites=course("PHY-1"))


def partners(view: Any, *others: Any) -> list[list[int]]:
    return [
        [each.id for each in one] for one in linked_courses.sections(view, a_catalog(view, *others))
    ]


def test_a_lecture_and_its_lab_are_linked() -> None:
    offered = a_catalog(LECTURE, LAB)
    assert linked_courses.courses(LECTURE, offered) == [LAB.course_id]
    assert linked_courses.courses(LAB, offered) == [LECTURE.course_id]


def test_one_sided_corequisite_is_no_link() -> None:
    view, other = a_view("CSC-1", corequisites=course("MAT-1")), a_view("MAT-1")
    assert linked_courses.courses(view, a_catalog(view, other)) == []
    assert partners(view, other) == []


def test_a_section_without_corequisites_is_not_linked() -> None:
    view = a_view()
    assert linked_courses.courses(view, a_catalog(view)) == []


def test_open_sections_of_the_linked_course_are_offered() -> None:
    second = a_view("PHY-2", number="02", corequisites=course("PHY-1"))
    gone = a_view("PHY-2", number="03", status="CANCELED")
    assert partners(LECTURE, LAB, second, gone) == [[LAB.id, second.id]]


def test_each_of_two_linked_courses_is_chosen_separately() -> None:
    lecture = a_view("PHY-1", corequisites=every("PHY-2", "PHY-3"))
    recitation = a_view("PHY-3", corequisites=course("PHY-1"))
    assert partners(lecture, LAB, recitation) == [[LAB.id], [recitation.id]]


def test_one_of_interchangeable_linked_courses_is_chosen() -> None:
    lecture = a_view("PHY-1", corequisites=some("PHY-2", "PHY-3"))
    studio = a_view("PHY-3", corequisites=course("PHY-1"))
    assert partners(lecture, LAB, studio) == [[LAB.id, studio.id]]


def test_linked_course_without_open_section_offers_nothing() -> None:
    lab = a_view("PHY-2", corequisites=course("PHY-1"), status="CONFIRMED")
    assert partners(LECTURE, lab) == []
    assert linked_courses.courses(LECTURE, a_catalog(LECTURE, lab)) == [lab.course_id]


def all_shown(_: Any) -> bool:
    return True


CLOSED = a_view("PHY-4", corequisites=course("PHY-1"), status="CONFIRMED")
UNLINKED = a_view("PHY-5")
OTHER = a_view("PHY-6", corequisites=course("PHY-1"))


@pytest.mark.parametrize(
    ("needs", "missing", "enough"),
    [
        (course("PHY-2"), [LAB], True),
        (course("PHY-4"), [CLOSED], False),
        (every("PHY-2", "PHY-4"), [LAB, CLOSED], False),
        (every("PHY-2", "PHY-4"), [LAB], True),  # the other is held
        (every("PHY-2", "PHY-5"), [LAB, UNLINKED], False),
        (every("PHY-2", "PHY-5"), [UNLINKED], False),
        (every("PHY-2", "PHY-5"), [LAB], True),
        (some("PHY-2", "PHY-4"), [LAB, CLOSED], True),
        (some("PHY-2", "PHY-5"), [LAB, UNLINKED], True),
        (some("PHY-4", "PHY-5"), [CLOSED, UNLINKED], False),
        ({"any": [every("PHY-2", "PHY-6"), course("PHY-5")]}, [LAB, OTHER, UNLINKED], False),
        ({"any": [every("PHY-2", "PHY-6"), course("PHY-5")]}, [LAB, UNLINKED], True),
        ({"all": [some("PHY-2", "PHY-4"), course("PHY-6")]}, [LAB, CLOSED, OTHER], True),
    ],
)
def test_missing_courses_are_added_together_if_open_sections_of_linked_ones_are_enough(
    needs: Any, missing: list[Any], *, enough: bool
) -> None:
    lecture = a_view("PHY-1", corequisites=needs)
    offered = a_catalog(lecture, LAB, CLOSED, UNLINKED, OTHER)
    courses = [each.course_id for each in missing]
    assert linked_courses.can_be_met(lecture, courses, offered, all_shown) == enough
    assert not linked_courses.can_be_met(lecture, courses, offered, lambda _: False)


def test_a_course_that_is_not_offered_is_not_needed_beside_a_linked_one() -> None:
    lecture = a_view("PHY-1", corequisites=some("PHY-2", "PHY-9"))
    offered = a_catalog(lecture, LAB)
    assert linked_courses.can_be_met(lecture, [LAB.course_id, 0], offered, all_shown)
    without = a_catalog(lecture)
    assert not linked_courses.can_be_met(lecture, [LAB.course_id, 0], without, all_shown)
