"""A rehearsal as a whole, by its command: one at a time, never beside real students by mistake."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from portal.backend import Backend
from portal.catalog.models import Term
from portal.catalog.term_catalog import live_terms
from portal.core.db import transaction
from portal.operations.rehearsal import play, practice_term
from portal.operations.rehearsal.play import RefusedError
from portal.runtime.cli import main
from tests import cast as builders
from tests import commands
from tests.audit_trail import entries
from tests.live.nodes import Node
from tests.recorder.processes import ready, running, wait_for

STUDENTS = "3"


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rehearsals that were begun, in tests of whether one begins: none is played."""
    begun: list[int] = []

    def begin(students: int, _seconds: int, _tell: play.Tell) -> dict[str, object]:
        begun.append(students)
        return {}

    monkeypatch.setattr(play, "_play", begin)
    return begun


def rehearse(seconds: int = 60 * 60, *, anyway: bool = False) -> None:
    play.play(3, seconds, lambda _: None, anyway=anyway)


def options(report: Path, minutes: str = "60") -> list[str]:
    return ["--students", STUDENTS, "--minutes", minutes, "--report", str(report)]


def command(node: Node, report: Path) -> subprocess.Popen[str]:
    """The command in a Python of its own, which hears Ctrl-C."""
    return subprocess.Popen(
        [sys.executable, "-m", "portal.runtime.cli", "rehearse", *options(report)],
        env={**os.environ, "FAIRSEAT_URL": node.origin},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_hear_ctrl_c,  # noqa: PLW1509  no threads are needed after it
    )


def refused(node: Node, report: Path) -> str:
    """The message of the command if it refuses to begin."""
    env = {**os.environ, "FAIRSEAT_URL": node.origin}
    done = commands.run("rehearse", *options(report), env=env)
    assert done.returncode == 1
    return done.stdout + done.stderr


def _hear_ctrl_c() -> None:
    """Accept SIGINT even if the tests themselves run in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_it_and_its_report_stays(
    portal: Node, backend: Backend, tmp_path: Path
) -> None:
    report = tmp_path / "reports" / "one.html"
    with running(("worker", "record"), ("worker", "promote")):
        ready("record", "promote")
        process = command(portal, report)
        wait_for(lambda: [each.practice for each in live_terms()] == [True])
        [term] = live_terms()
        wait_for(lambda: bool(backend.ledger.windows(term.id)))
        second = refused(portal, tmp_path / "second.html")
        assert "Another rehearsal is running." in second
        wait_for(lambda: bool(entries()))
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=200)
    assert process.returncode == 0, said
    assert live_terms() == []
    assert [each.state for each in backend.ledger.windows(term.id)] == ["canceled"]
    assert re.search(r"Audit: 0 differences in \d+ events", said)
    assert f"Report: {report}" in said
    assert "stopped the rehearsal early" in report.read_text()
    began, ended = entries()
    assert (began.action, began.after) == ("rehearsal.begin", {"students": 3, "seconds": 3600})
    assert ended.action == "rehearsal.end"
    assert ended.after
    assert ended.after["audit"]["differences"] == 0
    assert portal.child.alive


def test_it_is_not_played_against_a_portal_that_is_not_ready(portal: Node, tmp_path: Path) -> None:
    said = refused(portal, tmp_path / "report.html")
    assert f"is not ready at {portal.origin}" in said
    assert entries() == []


@pytest.mark.parametrize("wrong", ["0.1", "121"])
def test_it_is_bounded(tmp_path: Path, wrong: str) -> None:
    done = CliRunner().invoke(main, ["rehearse", *options(tmp_path / "report.html", wrong)])
    assert done.exit_code == 2
    assert "is not in the range" in done.output


def test_what_one_that_was_killed_has_left_is_deleted(backend: Backend) -> None:  # noqa: ARG001
    practice_term.make(3, "let us practise")
    play.delete_leftovers()
    assert live_terms() == []


def test_one_that_runs_keeps_its_term(backend: Backend) -> None:  # noqa: ARG001
    with play._the_only_one():  # noqa: SLF001
        practice_term.make(3, "let us practise")
        play.delete_leftovers()
        assert len(live_terms()) == 1


@pytest.mark.parametrize(("minutes", "in_the_way"), [(30, True), (24 * 60, False)])
def test_it_is_not_begun_before_a_window_of_real_students(
    backend: Backend,  # noqa: ARG001
    played: list[int],
    minutes: float,
    in_the_way: bool,  # noqa: FBT001
) -> None:
    window = builders.a_coming_window(builders.a_term(), minutes)
    if not in_the_way:
        rehearse()
        assert played == [3]
        return
    with pytest.raises(RefusedError, match=window.name):
        rehearse()
    rehearse(seconds=60)  # it would be over by then
    assert played == [3]


def test_it_is_begun_beside_an_open_window_only_if_that_is_meant(
    backend: Backend, played: list[int]
) -> None:
    term = builders.a_term()
    window = builders.an_open_window(term)
    with pytest.raises(RefusedError, match=f"{window.name}” of {term.name} is open"):
        rehearse()
    rehearse(anyway=True)
    backend.ledger.close_window(term.id, window.id, "registrar")
    rehearse()
    assert played == [3, 3]


def test_a_window_for_practice_is_in_nobodys_way(backend: Backend, played: list[int]) -> None:
    practice = practice_term.make(3, "let us practise")
    now = backend.ledger.now()
    practice_term.open_window(practice, now - 1000, now + 600_000)
    rehearse()
    assert played == [3]
    with transaction() as session:
        term = session.get_one(Term, practice.id)
    assert term.deleted_at
