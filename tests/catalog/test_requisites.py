"""Trees of courses as people write them."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.catalog.requisites import joined, parse, parse_ungraded, shown, split_grade, write
from portal.catalog.spellings import Unclear

A, B, C = ({"course": code} for code in ("CSC-1", "MAT-2", "PHY-3X"))
COURSES = st.sampled_from(["CSC-1100", "MAT-2", "CON-8", "A&B-17", "PHY-3X", "BIO-1.5"])
GRADES = st.sampled_from([{}, *({"grade": each} for each in ("A+", "A", "C-", "D", "P"))])
TREES = st.recursive(
    st.builds(lambda code, grade: {"course": code, **grade}, COURSES, GRADES),
    lambda inner: st.builds(joined, st.sampled_from(["all", "any"]), st.lists(inner, min_size=1)),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", None),
        ("  \n ", None),
        ("CSC-1", A),
        ("csc 1", A),
        ("(CSC-1)", A),
        ("CSC-1 and MAT-2", {"all": [A, B]}),
        ("CSC-1 AND mat2 and\nphy 3x", {"all": [A, B, C]}),
        ("CSC-1 or CSC-1", A),
        ("CSC-1 and (MAT-2 or PHY-3X)", {"all": [A, {"any": [B, C]}]}),
        ("(CSC-1 y MAT-2) o PHY-3X", {"any": [{"all": [A, B]}, C]}),
        ("CSC-1 and (MAT-2 and PHY-3X)", {"all": [A, B, C]}),
    ],
)
def test_a_text_is_read_as_a_tree(text: str, tree: Any) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("CSC-1 and MAT-2 or PHY-3X", "are mixed"),
        ("CSC-1 MAT-2", "is not a course code"),
        ("calculus", "“calculus” is not a course code"),
        ("CSC-1 and", "A course is missing here: CSC-1 and"),
        ("or CSC-1", "A course is missing here"),
        ("()", "A course is missing here"),
        ("(CSC-1 or MAT-2", "A parenthesis is not closed: or MAT-2"),
        ("CSC-1)", "A closing parenthesis has no opening one"),
        ("CSC-1 (MAT-2)", "“and” or “or” is missing here"),
        ("(" * 30 + "CSC-1" + ")" * 30, "Too many nested parentheses"),
        ("CSC-1 or " * 400, "longer than 2000 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(Unclear, match=re.escape(why)):
        parse(text)


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize(
    "text",
    [
        "MAT-2 with C",
        "MAT 2 with c",
        "MAT 2 with a C or better",
        "MAT 2, with a grade of C or higher",
        "MAT 2 with a minimum grade of C",
        "MAT 2 with a grade of “C” or better",
        "MAT 2 Minimum Grade of C",
        "Undergraduate level MAT 2 Minimum Grade of C",
        "MAT 2 (minimum grade of C)",
        "MAT 2 (min. grade: C)",
        "MAT 2 (C or better)",
        "(MAT 2 with C)",
        "MAT-2 con C",
        "MAT-2 con una nota mínima de C",
    ],
)
def test_a_minimum_grade_is_read_as_people_write_it(text: str) -> None:
    leaf = {"course": "MAT-2", "grade": "C"}
    assert parse(text) == leaf
    assert parse(f"CSC-1 and {text}") == {"all": [A, leaf]}
    assert parse(f"{text} or CSC-1") == {"any": [leaf, A]}


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize(
    "text",
    [
        "MAT-2 with A",
        "MAT-2 with a A",
        "MAT-2 with a grade of A or better",
        "MAT-2 minimum grade of A",
        "MAT-2 (minimum grade of A)",
        "MAT-2 con una nota de A",
    ],
)
def test_the_grade_a_is_no_article(text: str) -> None:
    leaf = {"course": "MAT-2", "grade": "A"}
    assert parse(text) == leaf
    assert parse(f"{text} and CSC-1") == {"all": [leaf, A]}
    assert parse(f"{text} or CSC-1") == {"any": [leaf, A]}


@pytest.mark.usefixtures("connected")
def test_a_course_of_the_subject_con_is_no_grade() -> None:
    con = {"course": "CON-101"}
    assert parse("CON 101 and CSC 1") == {"all": [con, A]}
    assert parse("CSC 1 or  CON 101") == {"any": [A, con]}
    assert parse("(CON 101 or CSC 1)") == {"any": [con, A]}
    assert split_grade("CON 101") == ("CON 101", "")
    assert parse("CON 101 con C") == con | {"grade": "C"}


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("MAT-2 with E", "“E” is not a grade. The grades are A+, A, A-"),
        ("MAT-2 with C with B", "MAT-2 has two minimum grades"),
        ("with C", "A course is missing here"),
        ("MAT-2 with", "“MAT-2 with” is not a course code"),
    ],
)
def test_a_minimum_grade_that_makes_no_sense_is_named(text: str, why: str) -> None:
    with pytest.raises(Unclear, match=re.escape(why)):
        parse(text)


@pytest.mark.usefixtures("connected")
def test_a_corequisite_has_no_minimum_grade() -> None:
    with pytest.raises(Unclear, match="can’t have a minimum grade"):
        parse_ungraded("CSC-1 or MAT-2 with C")


@pytest.mark.usefixtures("connected")
@given(TREES)
def test_what_is_written_is_read_back(tree: Any) -> None:
    assert parse(write(tree)) == parse(write(tree, shown)) == tree
