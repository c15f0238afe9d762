"""A plan survives a form unchanged; invalid input is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.registration import plans as pack
from portal.registration.plans import Plan
from tests.registration.plan_makers import line, plans, sound

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=7), inner),
    max_leaves=20,
)


@given(plans())
def test_plan_survives_its_json(plan: Plan) -> None:
    assert pack.read(pack.write(plan)).choices == plan.choices
    assert pack.unpack(pack.pack(plan), plan.version) == plan


@given(JSON)
def test_other_json_is_a_plan_or_refused(value: Any) -> None:
    try:
        plan = pack.unpack(value)
    except ValueError:
        return
    assert sound(plan)
    assert pack.pack(plan) == value


@given(st.text())
def test_text_is_refused_as_a_plan(text: str) -> None:
    try:
        plan = pack.read(text)
    except ValueError:
        return
    assert sound(plan)


@pytest.mark.parametrize(
    "lines",
    [
        {},
        [{}],
        [{"options": [], "wait": True}],
        [{"options": [[]], "wait": True}],
        [{"options": [[[1]]], "wait": 1}],
        [{"options": [[[1]]]}],
        [{"options": [[[1]]], "wait": True, "more": 1}],
        [{"options": [[[0]]], "wait": True}],
        [{"options": [[[True]]], "wait": True}],
        [{"options": [[["1"]]], "wait": True}],
        [{"options": [[[1, -1]]], "wait": True}],
        [{"options": [[[1, 2, 3]]], "wait": True}],
        [{"options": [[[2**31]]], "wait": True}],
        [{"options": [[[1]]], "wait": True}] * 2,
        [{"options": [[[1], [1]]], "wait": True}],
    ],
)
def test_invalid_plan_is_refused(lines: Any) -> None:
    with pytest.raises(ValueError, match=r".*"):
        pack.unpack(lines)


@pytest.mark.parametrize("text", ["", "plan", "[" * 9_000, f"[{' ' * 20_000}]", "NaN", "1e999"])
def test_invalid_field_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        pack.read(text)


def test_a_full_plan_fits_into_a_field() -> None:
    most = [{"options": [[[2**31 - 1 - each, 1500]] * 1 for each in range(6)], "wait": False}]
    assert len(json.dumps(most * 20)) < pack.LONGEST


def test_choice_is_written_briefly() -> None:
    written = '[{"options":[[[1],[2]],[[3]]],"wait":true}]'
    assert pack.write(Plan((line((1, 2), 3),))) == written
