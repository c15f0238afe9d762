"""Courses that name each other are taken together."""

from typing import Any

from portal.catalog import linked_courses
from tests.registration.makers import a_board, a_card, course, every, some

LECTURE = a_card("PHY-1", corequisites=course("PHY-2"))
LAB = a_card("PHY-2", corequisites=course("PHY-1"))


def partners(card: Any, *others: Any) -> list[list[int]]:
    return [
        [each.id for each in one] for one in linked_courses.sections(card, a_board(card, *others))
    ]


def test_a_lecture_and_its_lab_are_linked() -> None:
    offered = a_board(LECTURE, LAB)
    assert linked_courses.courses(LECTURE, offered) == [LAB.course_id]
    assert linked_courses.courses(LAB, offered) == [LECTURE.course_id]


def test_one_sided_corequisite_is_no_link() -> None:
    card, other = a_card("CSC-1", corequisites=course("MAT-1")), a_card("MAT-1")
    assert linked_courses.courses(card, a_board(card, other)) == []
    assert partners(card, other) == []


def test_a_section_without_corequisites_is_not_linked() -> None:
    card = a_card()
    assert linked_courses.courses(card, a_board(card)) == []


def test_open_sections_of_the_linked_course_are_offered() -> None:
    second = a_card("PHY-2", number="02", corequisites=course("PHY-1"))
    gone = a_card("PHY-2", number="03", status="CANCELED")
    assert partners(LECTURE, LAB, second, gone) == [[LAB.id, second.id]]


def test_each_of_two_linked_courses_is_chosen_separately() -> None:
    lecture = a_card("PHY-1", corequisites=every("PHY-2", "PHY-3"))
    recitation = a_card("PHY-3", corequisites=course("PHY-1"))
    assert partners(lecture, LAB, recitation) == [[LAB.id], [recitation.id]]


def test_one_of_interchangeable_linked_courses_is_chosen() -> None:
    lecture = a_card("PHY-1", corequisites=some("PHY-2", "PHY-3"))
    studio = a_card("PHY-3", corequisites=course("PHY-1"))
    assert partners(lecture, LAB, studio) == [[LAB.id, studio.id]]


def test_linked_course_without_open_section_offers_nothing() -> None:
    lab = a_card("PHY-2", corequisites=course("PHY-1"), status="CONFIRMED")
    assert partners(LECTURE, lab) == []
    assert linked_courses.courses(LECTURE, a_board(LECTURE, lab)) == [lab.course_id]
