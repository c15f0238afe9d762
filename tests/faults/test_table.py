"""Results are kept row by row, and a run goes on where the last one ended."""

from pathlib import Path

import pytest

from tests.faults.checker import Verdict
from tests.faults.faults import FAULTS
from tests.faults.run import Row
from tests.faults.table import BEGIN, END, Results

FIRST, SECOND = FAULTS[0].name, FAULTS[1].name


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "reliability.md").write_text(f"Before.\n\n{BEGIN}\n{END}\n\nAfter.\n")
    return tmp_path


def a_row(fault: str, number: int, verdict: Verdict | None = None) -> Row:
    return Row(fault, 10, 1, 2, 0.5, 1.5, 0.1 * number, verdict or Verdict(), round=number)


def kept(docs: Path) -> Results:
    results = Results(docs)
    results.read()
    return results


def table(docs: Path) -> list[str]:
    page = (docs / "reliability.md").read_text()
    assert page.startswith("Before.\n\n")
    assert page.endswith("\n\nAfter.\n")
    return [line for line in page.splitlines() if line.startswith("| ")][1:]


def test_what_was_run_is_known_to_the_next_run(docs: Path) -> None:
    kept(docs).add(a_row(SECOND, 1))
    again = kept(docs)
    assert not again.lacks(SECOND, 1)
    assert again.lacks(SECOND, 2)
    assert again.lacks(FIRST, 1)


def test_rows_stand_in_the_order_of_the_faults_with_all_their_rounds(docs: Path) -> None:
    kept(docs).add(a_row(SECOND, 1))
    kept(docs).add(a_row(FIRST, 1))
    kept(docs).add(a_row(FIRST, 2, Verdict(lost=["a seat"], mails=["a mail"])))
    kept(docs).add(a_row(FIRST, 3))
    first, second = table(docs)
    assert first == f"| {FIRST} | 30 | 3 | 6 | 0.5 | 1.5 | 0.2 | 1 | 0 | 0 | 0 | 0 | 1 | 2 of 3 |"
    assert second == f"| {SECOND} | 10 | 1 | 2 | 0.5 | 1.5 | 0.1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 of 1 |"


def test_only_results_of_faults_that_run_again_are_forgotten(docs: Path) -> None:
    kept(docs).add(a_row(FIRST, 1))
    kept(docs).add(a_row(SECOND, 1))
    results = kept(docs)
    results.forget([FIRST])
    assert results.lacks(FIRST, 1)
    results.add(a_row(FIRST, 2))
    assert len(table(docs)) == 2


def test_a_row_that_is_kept_is_not_forgotten_by_a_run_that_is_green(docs: Path) -> None:
    kept(docs).add(a_row(FIRST, 1))
    assert kept(docs).green
    kept(docs).add(a_row(SECOND, 1, Verdict(lost=["a seat"])))
    results = kept(docs)
    results.add(a_row(FIRST, 2))
    assert not results.green
