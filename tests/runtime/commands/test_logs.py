"""`fairseat logs` finds what every process logged under a correlation id."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from portal.runtime import child_process
from portal.runtime.child_process import rotate
from portal.runtime.cli import main

CODE = "0f3c5a7e9b1d4f60"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the logs of a portal that has run in this data folder."""
    monkeypatch.setenv("FAIRSEAT_VAR", str(tmp_path))
    found = tmp_path / "log"
    found.mkdir()
    return found


def logs(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, ["logs", *arguments], input=stdin)


def line(second: int, process: str, message: str, code: str = CODE, **more: object) -> str:
    fields = {"time": f"2026-11-22T02:45:{second:02}.120+00:00", "level": "info", "pid": 1}
    fields |= {"correlation": code, "process": process, "message": message}
    return json.dumps(fields | more) + "\n"


def test_lines_of_all_processes_are_shown_in_order(folder: Path) -> None:
    (folder / "web.log").write_text(
        line(1, "web", "POST /pick: 200", ms=4.1) + line(2, "web", "x", "other")
    )
    (folder / "notify.log").write_text(line(9, "notify", "A mail was sent"))
    (folder / "record.log").write_text(
        line(4, "record", "Recorded up to 7", "", of=[CODE, "other"])
    )
    result = logs("--correlation", CODE)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "2026-11-22 02:45:01.120  web        POST /pick: 200  ms=4.1",
        "2026-11-22 02:45:04.120  record     Recorded up to 7",
        "2026-11-22 02:45:09.120  notify     A mail was sent",
    ]


def test_rotated_files_are_searched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "LOG_LIMIT", 10)
    web = folder / "web.log"
    web.write_text(line(1, "web", "the first"))
    rotate(web)
    web.write_text(line(2, "web", "the second"))
    rotate(web)
    web.write_text(line(3, "web", "the third"))
    said = logs("--correlation", CODE).stdout
    assert [row.split()[-1] for row in said.splitlines()] == ["first", "second", "third"]


def test_id_is_matched_as_a_whole(folder: Path) -> None:
    (folder / "web.log").write_text(line(1, "web", "longer", f"{CODE}-2") + line(2, "web", "exact"))
    assert "longer" not in logs("--correlation", CODE).stdout
    assert "exact" in logs("--correlation", CODE).stdout
    assert logs("--correlation", CODE[:8]).exit_code == 1


def test_text_logs_keep_their_tracebacks(folder: Path) -> None:
    (folder / "web.log").write_text(
        f"2026-11-22 02:45:01,500 web: It failed [{CODE}]\nTraceback (most recent call last):\n"
        "ValueError: no\n2026-11-22 02:45:02,500 web: Another [else-0123]\n"
    )
    said = logs("--correlation", CODE).stdout
    assert said.endswith("ValueError: no\n")
    assert "Another" not in said


def test_times_without_an_offset_and_of_other_zones_are_put_in_order(folder: Path) -> None:
    (folder / "web.log").write_text(
        line(1, "web", "no offset", time="2026-11-24T02:45:01")
        + line(1, "web", "Central Time", time="2026-11-21T20:45:09-06:00")
        + line(5, "web", "UTC")
    )
    result = logs("--correlation", CODE)
    assert result.exit_code == 0
    utc, central, bare = result.stdout.splitlines()
    assert utc.endswith("UTC")
    assert central.startswith("2026-11-22 02:45:09.000")
    assert bare.endswith("no offset")


def test_errors_show_their_trace_and_level(folder: Path) -> None:
    (folder / "web.log").write_text(
        line(1, "web", "It failed", level="error", exc_info="Traceback …\nValueError: no")
    )
    said = logs("--correlation", CODE).stdout
    assert "ERROR It failed" in said
    assert said.endswith("Traceback …\nValueError: no\n")
    assert json.loads(logs("--correlation", CODE, "--raw").stdout)["level"] == "error"


def test_nothing_found_says_what_was_searched(folder: Path) -> None:
    (folder / "web.log").write_text(line(1, "web", "x", "other-0123"))
    result = logs("--correlation", CODE)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"No log line names the correlation ID {CODE}." in result.stderr
    assert f"Searched {folder}: 1 file, from 2026-11-22 02:45 UTC on." in result.stderr
    assert "Older lines are deleted" in result.stderr


def test_logs_of_containers_are_read_from_standard_input() -> None:
    said = (
        f"web-1      | {line(2, 'web', 'here')}workers-1  | {line(1, 'record', 'there', 'no-1234')}"
    )
    result = logs("--correlation", CODE, "-", stdin=said)
    assert result.stdout.splitlines() == ["2026-11-22 02:45:02.120  web        here"]
    assert "standard input" in logs("--correlation", "none-0123", "-", stdin=said).stderr


def test_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = logs("--correlation", CODE, str(tmp_path / "nowhere"))
    assert result.exit_code == 1
    assert "There are no logs at" in result.stderr
