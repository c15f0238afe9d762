"""Trees of courses: what of them is missing, and how that is said."""

import pytest

from portal.catalog import requisites
from tests.registration.makers import course, every, some


def lacking(tree: requisites.Tree | None, *held: str) -> requisites.Tree | None:
    return requisites.missing(tree, lambda leaf: leaf["course"] in held)


@pytest.mark.parametrize(
    ("tree", "held"),
    [
        (None, ()),
        ({}, ()),
        (course("A-1"), ("A-1",)),
        (every("A-1", "B-1"), ("A-1", "B-1")),
        (some("A-1", "B-1"), ("B-1",)),
        (every("A-1", some("B-1", "C-1")), ("A-1", "C-1")),
        (some(every("A-1", "B-1"), "C-1"), ("C-1",)),
        ({"any": []}, ()),
        ({"all": []}, ()),
    ],
)
def test_nothing_is_missing_once_the_tree_is_met(
    tree: requisites.Tree, held: tuple[str, ...]
) -> None:
    assert lacking(tree, *held) is None


def test_only_what_is_not_met_is_missing() -> None:
    tree = every("A-1", some("B-1", "C-1"), "D-1")
    assert lacking(tree, "A-1") == every(some("B-1", "C-1"), "D-1")


def test_a_joint_of_one_is_that_one() -> None:
    assert lacking(every("A-1", "B-1"), "A-1") == course("B-1")


def test_a_repeated_course_is_named_once() -> None:
    assert lacking(some("MANE-4500", "MANE-4500")) == course("MANE-4500")


def test_nested_trees_of_one_joint_are_one_tree() -> None:
    assert lacking(every("A-1", every("B-1", "C-1"))) == every("A-1", "B-1", "C-1")


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (course("CSC-1100"), "CSC 1100"),
        (
            every("CSC-1100", some("MAT-1010", "MAT-1020")),
            "CSC 1100 and one of MAT 1010 or MAT 1020",
        ),
        (some("A-1", "B-1", "C-1"), "A 1, B 1 or C 1"),
        (some(every("A-1", "B-1"), "C-1"), "(A 1 and B 1) or C 1"),
        (every({"course": "A-1", "grade": "C"}, "B-1"), "A 1 with C or better and B 1"),
    ],
)
def test_a_tree_is_described_in_words(tree: requisites.Tree, words: str) -> None:
    assert requisites.describe(tree) == words


def test_codes_are_compared_however_they_are_written() -> None:
    assert requisites.key("csc 1100") == requisites.key("CSC-1100") == "CSC-1100"
