"""What many students need: told from what was measured, and nothing else."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench import needs, queues, scaling

ROOT = Path(scaling.__file__).parent.parent
FOUND: needs.Figures = json.loads((ROOT / "bench/results.json").read_text(encoding="utf-8"))


@pytest.fixture
def costs() -> needs.Costs:
    found = needs.costs(FOUND)
    assert found
    return found


@pytest.mark.parametrize("path", scaling.PLACES)
def test_the_pages_say_what_follows_from_the_figures(path: str) -> None:
    page = (ROOT / path).read_text(encoding="utf-8")
    assert scaling.put(page, scaling.PLACES[path](FOUND)) == page


def test_a_page_stays_as_it_is_where_a_figure_is_missing(tmp_path: Path) -> None:
    for path in scaling.PLACES:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("as it was", encoding="utf-8")
    scaling.write(tmp_path, {**FOUND, "record_per_s": {"value": None, "failed": "no server"}})
    assert all((tmp_path / path).read_text() == "as it was" for path in scaling.PLACES)


def test_one_plan_is_the_same_on_both_pages(costs: needs.Costs) -> None:
    cores = needs.plan(50_000, costs).cores
    assert f"| 50,000 | 1 | 50,000 | 583 | {cores} |" in scaling.table(FOUND)
    (row,) = (each for each in scaling.one_portal(FOUND).split("\n") if "cores, a process" in each)
    assert row.endswith(f"| {cores} |")


def test_up_to_its_limit_each_part_is_busy_half_of_its_time(costs: needs.Costs) -> None:
    for name, students in needs.limits(costs).items():
        assert needs.ONE[name](needs.plan(students, costs)) <= 0.5
        assert needs.ONE[name](needs.plan(students + needs.STEP, costs)) > 0.5


def test_the_first_limit_is_that_of_the_slowest_part() -> None:
    slow = {**FOUND, "record_per_s": {"value": 100}}
    assert "the first limit is the recorder" in scaling.table(slow)


def test_claims_wait_behind_pages_where_cores_are_few(costs: needs.Costs) -> None:
    enough = needs.plan(20_000, costs)
    few = replace(enough, cores=enough.cores * 2 // 3)
    assert queues.answered(few, costs)[1] > 1.5 * queues.answered(enough, costs)[1]
