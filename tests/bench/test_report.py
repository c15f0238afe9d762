"""What `make bench` says of what it measured."""

from pathlib import Path

import pytest

from bench import plots, report, subjects, waits
from bench.report import figure, missing

FOLDER = Path(subjects.__file__).parent
HELLO = figure([0.4, 0.6, 0.5], "ratio", "claims over hellos")
LOCK = figure([0.3], "ratio", "99 % are answered within")


def test_a_figure_is_the_median_of_its_runs_with_their_spread() -> None:
    assert (HELLO["value"], HELLO["low"], HELLO["high"], HELLO["runs"]) == (0.5, 0.4, 0.6, 3)


def test_a_figure_is_held_against_its_bar() -> None:
    assert report.said("claim_vs_hello", HELLO)[2] == "≥ 0.5: reached"
    assert report.said("claim_p99_vs_row_lock", LOCK)[2] == "≤ 0.2: not reached"


def test_a_subject_that_fails_is_told_as_failed_and_not_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(_run: int, *, quick: bool) -> dict[str, float]:
        raise SystemExit(f"The audit is not clean, quick or not: {quick}")

    monkeypatch.setattr(waits, "figures", fails)
    found = subjects.measured(["waits"], 1, quick=True)
    assert found.keys() == waits.FIGURES.keys()
    assert all("The audit is not clean" in each["failed"] for each in found.values())


def test_the_page_shows_figures_with_how_they_were_measured() -> None:
    failed = missing("ratio", "claims over a row lock", "no server")
    page = report.page(FOLDER, {"claim_vs_hello": HELLO, "claim_vs_row_lock": failed})
    assert "| `claim_vs_hello` | 0.5 | 0.4 to 0.6 | 3 | ratio | ≥ 0.5: reached |" in page
    assert "| `claim_vs_row_lock` | failed |" in page
    assert "### `bench/hot.py`" in page
    assert "1 of 1 bars reached: claim_vs_hello" in page


def test_the_picture_has_a_row_for_each_figure_with_a_bar(tmp_path: Path) -> None:
    plots.write(tmp_path, {"claim_vs_hello": HELLO, "claim_p99_vs_row_lock": LOCK})
    drawn = (tmp_path / "bars.svg").read_text(encoding="utf-8")
    assert drawn.count("<circle") == 2
    assert plots.GOOD in drawn
    assert plots.BAD in drawn
