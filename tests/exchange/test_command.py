"""`fairseat import`, run as people run it."""

import csv
import os
import re
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import select

from portal.backend import Backend
from portal.catalog.models import Term
from portal.core.db import transaction
from tests import commands
from tests.exchange.campus import Campus


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, on the servers of the tests."""
    env = {**os.environ, "COLUMNS": "200", **environment}
    return commands.run("import", *map(str, arguments), env=env)


@pytest.fixture
def folder(tmp_path: Path, backend: Backend) -> Path:  # noqa: ARG001
    campus = Campus(capacity="10", enrolled="12", remaining="-2").section("10002", {"days": "XX"})
    return campus.restriction("must_be", "level", "=1+1", crn="99").write(tmp_path / "in")


def test_the_command_prints_findings_and_updates_the_ledger(
    folder: Path, tmp_path: Path, backend: Backend
) -> None:
    report = tmp_path / "out" / "report.csv"
    done = run(folder, "--term", "Spring 2021", "--report", report)
    assert done.returncode == 0, done.stderr
    assert re.search(r"section +2 +0 +0 +0", done.stdout)
    assert re.search(r"refused +1 +orphan +No section has this", done.stdout)
    assert re.search(r"kept +1 +over_capacity", done.stdout)
    assert f"Full report: {report}" in done.stdout
    assert "New or changed sections in the ledger: 2." in done.stdout
    with transaction() as session:
        [term] = session.scalars(select(Term.id)).all()
    assert len(backend.ledger.seats(term)) == 2


def test_the_report_names_every_row_in_full(folder: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.csv"
    assert run(folder, "--term", "Spring 2021", "--report", report).returncode == 0
    rows = {row["kind"]: row for row in csv.DictReader(report.read_text("utf-8").splitlines())}
    assert set(rows) == {"over_capacity", "days_unreadable", "orphan"}
    days = rows["days_unreadable"]
    place = (days["file"], days["line"], days["key"], days["column"], days["value"])
    assert place == ("meetings.csv", "3", "10002", "days", "XX")
    assert days["why"].startswith("The days can’t be read. The meeting is TBA, and a new section")
    assert days["why"].endswith(" is a draft. 'XX' is not a list of days.")


def test_without_a_place_for_it_the_report_goes_to_the_data_folder(
    folder: Path, tmp_path: Path
) -> None:
    done = run(folder, "--term", "Spring 2021", FAIRSEAT_VAR=str(tmp_path / "var"))
    assert done.returncode == 0
    [report] = (tmp_path / "var" / "imports").iterdir()
    assert str(report) in done.stdout


def test_a_failure_says_where_and_imports_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "courses.csv").write_bytes(b"course_id\n\0")
    done = run(folder, "--term", "Spring 2021", "--report", tmp_path / "report.csv")
    assert done.returncode == 1
    assert "courses.csv, line 2, column 1: U+0000" in done.stderr
    assert "Nothing was imported." in done.stderr
    assert "Traceback" not in done.stderr
    with transaction() as session:
        assert session.scalar(select(Term.id)) is None


def test_a_report_that_can_not_be_written_stops_it_before_it_begins(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = run(folder, "--term", "Spring 2021", "--report", tmp_path / "file" / "report.csv")
    assert done.returncode == 1
    assert "Can't write" in done.stderr
    with transaction() as session:
        assert session.scalar(select(Term.id)) is None


def test_without_the_ledger_its_update_is_left_to_the_scheduler(
    folder: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.csv"
    nowhere = f"unix://{tmp_path}/nobody.sock"
    done = run(folder, "--term", "Spring 2021", "--report", report, REDIS_URL=nowhere)
    assert done.returncode == 0, done.stderr
    assert "It gets the sections when it is back" in done.stdout
    with transaction() as session:
        assert session.scalar(select(Term.name)) == "Spring 2021"
