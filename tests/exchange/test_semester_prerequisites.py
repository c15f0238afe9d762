"""Trees of prerequisites: simplified, in canonical codes, refused whole where unreadable."""

from pathlib import Path
from typing import Any

import pytest

from portal.exchange.importing import tables
from tests.exchange.campus import Campus, kinds, read


def node(kind: str, *solo: str, nested: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {"type": kind, "solo": list(solo), "nested": list(nested)}


A, B, C = {"course": "MAT-1"}, {"course": "MAT-2"}, {"course": "MAT-3"}


pytestmark = pytest.mark.usefixtures("connected")


@pytest.mark.parametrize(
    ("source", "tree"),
    [
        (node("solo"), None),
        (node("solo", "MAT 1"), A),
        (node("solo", nested=(node("solo", "MAT 1"),)), A),
        (node("and", "MAT 1", "mat-2"), {"all": [A, B]}),
        (node("or", "MAT 1", "MAT 2"), {"any": [A, B]}),
        (node("or", "MAT 1", "MAT 1"), A),
        (node("or", "MAT 1 with c", "MAT 1"), {"any": [A | {"grade": "C"}, A]}),
        (node("solo", "MAT 1 Minimum Grade of B-"), A | {"grade": "B-"}),
        (node("and", "MAT 1", nested=(node("or", "MAT 2", "MAT 3"),)),
         {"all": [A, {"any": [B, C]}]}),
        (node("and", "MAT 1", nested=(node("and", "MAT 2", "MAT 3"),)), {"all": [A, B, C]}),
        (node("or", nested=(node("and", "MAT 1", "MAT 2"), node("solo", "MAT 3"))),
         {"any": [{"all": [A, B]}, C]}),
    ],
)  # fmt: skip
def test_a_tree_is_simplified(tmp_path: Path, source: Any, tree: Any) -> None:
    campus = Campus()
    campus.prerequisites = {"10001": {"prerequisites": source, "corequisites": ["MAT 3", "mat2"]}}
    records, _ = read(campus.write(tmp_path))
    assert records.sections["10001"]["prerequisites"] == tree
    assert records.sections["10001"]["corequisites"] == {"all": [C, B]}


@pytest.mark.parametrize(
    "entry",
    [
        7,
        {"prerequisites": 7},
        {"prerequisites": {"type": "xor", "solo": []}},
        {"prerequisites": {"type": "and", "solo": "MAT 1"}},
        {"prerequisites": node("solo", "instructor's permission")},
        {"prerequisites": node("and", "MAT 1"), "corequisites": ["?"]},
        {"prerequisites": node("and", "MAT 1 with E")},
        {"corequisites": ["MAT 1 with C"]},
    ],
)
def test_a_tree_that_can_not_be_read_is_refused_and_named(tmp_path: Path, entry: Any) -> None:
    campus = Campus(has_prereqs="Y")
    campus.prerequisites = {"10001": entry, "999": {}}
    records, report = read(campus.write(tmp_path))
    assert records.sections["10001"]["prerequisites"] is None
    assert records.sections["10001"]["corequisites"] is None
    assert kinds(report) == {"no_tree": 1, "orphan": 1, "prerequisites_unnamed": 1}


def test_a_large_file_may_be_one_line(tmp_path: Path) -> None:
    campus = Campus()
    entry = {"prerequisites": node("solo", "MAT 1"), "unused": "x" * tables.LONGEST_LINE}
    campus.prerequisites = {"10001": entry}
    records, _ = read(campus.write(tmp_path))
    assert records.sections["10001"]["prerequisites"] == A


def test_an_empty_group_round_one_course_is_named(tmp_path: Path) -> None:
    campus = Campus()
    wrapper = node("solo", nested=(node("solo", "CSC 225"),))
    campus.prerequisites = {"10001": {"prerequisites": wrapper}}
    _, report = read(campus.write(tmp_path))
    assert kinds(report) == {"empty_group": 1}
