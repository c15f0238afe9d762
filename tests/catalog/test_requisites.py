"""Trees of courses as people write them."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.catalog.requisites import joined, parse, write
from portal.catalog.spellings import Unclear

A, B, C = ({"course": code} for code in ("CSC-1", "MAT-2", "PHY-3X"))
COURSES = st.sampled_from(["CSC-1100", "MAT-2", "A&B-17", "PHY-3X", "BIO-1.5"])
TREES = st.recursive(
    st.builds(lambda code: {"course": code}, COURSES),
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


@given(TREES)
def test_what_is_written_is_read_back(tree: Any) -> None:
    assert parse(write(tree)) == tree
