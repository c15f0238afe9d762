"""What `make bench` says of what it measured."""

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from bench import plots, report, subjects, waits
from bench.bars import BARS
from bench.figures import Figure, figure, missing

FOLDER = Path(subjects.__file__).parent
HELLO = figure([0.4, 0.6, 0.5], "ratio", "claims over hellos")
LOCK = figure([0.3], "ratio", "99 % are answered within")
ALL_FIGURES = """
import json
from importlib import import_module
from bench.subjects import SUBJECTS
modules = [import_module(f"bench.{name}") for row in SUBJECTS for name in row]
print(json.dumps({name: what for each in modules for name, (_, what) in each.FIGURES.items()}))
"""
PARTS = {"began", "cores", "bars", "plots", "subjects", "peers"}  # of the page


def test_a_figure_is_the_median_of_its_runs_with_their_spread() -> None:
    assert (HELLO["value"], HELLO["low"], HELLO["high"], HELLO["runs"]) == (0.5, 0.4, 0.6, 3)


def test_a_figure_is_held_against_its_bar() -> None:
    assert report.bar_text("claim_vs_hello", HELLO)[2] == "≥ 0.2: reached"
    assert report.bar_text("claim_p99_vs_row_lock", LOCK)[2] == "≤ 0.2: not reached"


def test_what_no_one_measured_has_not_reached_its_bar() -> None:
    found = report.with_every_bar({"claim_vs_hello": HELLO})
    assert found.keys() == BARS.keys()
    unmeasured = report.bar_text("rush_oversold", found["rush_oversold"])
    assert unmeasured[0] == "not measured"
    assert unmeasured[2].startswith("≤ 0: not reached")


def test_a_subject_that_fails_is_reported_as_failed_and_not_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(_run: int, *, quick: bool) -> dict[str, float]:
        raise SystemExit(f"The audit is not clean, quick or not: {quick}")

    monkeypatch.setattr(waits, "figures", fails)
    found = subjects.measured(["waits"], 1, quick=True)
    assert found.keys() == waits.FIGURES.keys()
    assert all("The audit is not clean" in each["failed"] for each in found.values())


def test_a_quick_run_measures_every_subject() -> None:
    assert sorted(chain(*subjects.QUICK)) == sorted(chain(*subjects.SUBJECTS))


def test_what_was_measured_is_kept_after_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    once = dict.fromkeys(waits.FIGURES, 0.5)
    monkeypatch.setattr(waits, "figures", lambda _run, *, quick: once)  # noqa: ARG005
    kept: list[dict[str, Figure]] = []
    subjects.measured(["waits"], 2, quick=False, keep=lambda found: kept.append(dict(found)))
    assert [each["wait_width"]["runs"] for each in kept] == [0, 1, 2]
    assert kept[0]["wait_width"]["failed"] == "not finished"


def test_the_page_shows_figures_with_how_they_were_measured() -> None:
    failed = missing("ratio", "claims over a row lock", "no server")
    found = {"claim_vs_hello": HELLO, "claim_vs_row_lock": failed}
    page = report.page(FOLDER, found, "commit 1234567")
    assert "| `claim_vs_hello` | 0.5 | 0.4 to 0.6 | 3 | ratio | ≥ 0.2: reached |" in page
    assert "| `claim_vs_row_lock` | not measured |  | 0 | ratio | ≥ 3: not reached (no ser" in page
    assert "| `rush_oversold` | not measured |" in page
    assert "### `bench/hot.py`" in page
    assert f"1 of {len(BARS)} bars reached: claim_vs_hello" in page
    assert "commit 1234567" in page


def test_the_prose_has_the_figures_and_explains_bars_that_are_not_reached() -> None:
    prose = "**`claim_vs_hello`.** Why.\n\n**`claim_p99_vs_row_lock`.** {claim_vs_hello}, {lost}."
    found = {"claim_vs_hello": HELLO, "claim_p99_vs_row_lock": LOCK}
    told = report.filled(prose, found)
    assert told == "**`claim_p99_vs_row_lock`.** 0.5, (not measured)."


def test_the_picture_has_a_row_for_each_bar(tmp_path: Path) -> None:
    plots.write(tmp_path, {"claim_vs_hello": HELLO, "claim_p99_vs_row_lock": LOCK})
    drawn = (tmp_path / "bars.svg").read_text(encoding="utf-8")
    assert drawn.count("<circle") == 2
    assert drawn.count("not measured") == len(BARS) - 2
    assert plots.GOOD in drawn
    assert plots.BAD in drawn


@pytest.fixture(scope="module")
def all_figures() -> dict[str, str]:
    """What each figure of every subject is; by another process, as one of them patches it."""
    asked = [sys.executable, "-c", ALL_FIGURES]
    told = subprocess.run(asked, cwd=FOLDER.parent, capture_output=True, check=True)
    return dict(json.loads(told.stdout))


def test_every_bar_is_of_a_figure_of_some_subject(all_figures: dict[str, str]) -> None:
    assert BARS.keys() <= all_figures.keys()


def test_every_number_in_the_prose_is_a_figure_of_some_subject(all_figures: dict[str, str]) -> None:
    prose = (FOLDER / "prose.md").read_text(encoding="utf-8")
    assert set(re.findall(r"{(\w+)}", prose)) - PARTS <= all_figures.keys()


def test_the_results_say_of_each_figure_what_its_subject_says(all_figures: dict[str, str]) -> None:
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    assert {name: each["what"] for name, each in results.items()} == all_figures
