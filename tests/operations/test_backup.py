"""`fairseat backup` and `fairseat restore`, rehearsed on servers that lose everything."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from portal.backend import Backend
from portal.catalog.models import Section
from portal.core import schema
from portal.core.checkpoints import checkpoint as recorded
from portal.core.db import transaction
from portal.people.models import Student
from portal.recorder import event_log, journal
from portal.recorder.consistency.audit import audit
from portal.recorder.journal import last_seq
from portal.recorder.models import Enrollment
from portal.recorder.recorder import drain
from portal.runtime import backup
from portal.runtime.commands.backups import backup_command
from portal.windows.warmup import warm_up
from tests.cast import a_course, a_section, a_student, a_term, an_open_window
from tests.ledger_claims import claim
from tests.recorder.processes import wait_for
from tests.second_portal import fairseat, held, leave, lose_everything, spare, surroundings

pytestmark = pytest.mark.slow

__all__ = ["spare"]


def test_what_was_acknowledged_before_a_backup_is_there_after_all_was_lost(
    spare: Backend, tmp_path: Path
) -> None:
    term = a_term()
    an_open_window(term)
    sections = [a_section(a_course(f"CSC-{1100 + n}"), term, capacity=30) for n in range(2)]
    students = [a_student(f"student{number}") for number in range(40)]
    warm_up(term.id)
    enough, stop = Event(), Event()

    def rush(student: Student) -> None:
        for section in sections:
            if not stop.is_set():
                claim(student, section)
        if len(held(term.id)) > 10:
            enough.set()

    with ThreadPoolExecutor(4) as pool:
        for student in students:
            pool.submit(rush, student)
        assert enough.wait(60)
        before = held(term.id)
        made = fairseat(spare, "backup", str(tmp_path / "copy"))
        stop.set()
    assert made.returncode == 0, made.stderr
    assert json.loads((tmp_path / "copy" / "backup.json").read_text())["events"][term.name] > 10

    lose_everything(spare)
    back = fairseat(spare, "restore", str(tmp_path / "copy"))
    assert back.returncode == 0, back.stdout + back.stderr
    assert before <= held(term.id)
    assert audit()["clean"]
    assert claim(a_student("late"), sections[0]).seq


@pytest.mark.parametrize("recorded", [False, True])
def test_what_was_decided_since_the_backup_comes_back_out_of_the_journal(
    spare: Backend, tmp_path: Path, *, recorded: bool
) -> None:
    term, section = an_offer(3)
    ada, ben = a_student("ada"), a_student("ben")
    assert claim(ada, section).seq
    assert fairseat(spare, "backup", str(tmp_path / "copy")).returncode == 0
    assert claim(ben, section).seq
    if recorded:
        drain(term)
    leave()
    back = fairseat(spare, "restore", "--yes", str(tmp_path / "copy"))
    assert back.returncode == 0, back.stderr
    assert held(term) == {(ada.id, section.id), (ben.id, section.id)}
    assert audit()["clean"]


def test_a_postgresql_brought_back_by_other_means_is_caught_up_by_the_recorder(
    spare: Backend, tmp_path: Path
) -> None:
    term, section = an_offer(30)
    students = [a_student(f"student{number}") for number in range(40)]
    for student in students[:10]:
        claim(student, section)
    assert fairseat(spare, "backup", str(tmp_path / "copy")).returncode == 0
    for student in students[10:]:
        claim(student, section)
        drain(term)
    whole, before = recorded_of(term), held(term)
    leave()
    backup.load(spare.settings.owner_url, tmp_path / "copy")
    schema.upgrade(spare.settings.owner_url, portal=spare.settings.database_url)
    assert recorded(term) < last_seq(term)
    drain(term)
    assert recorded_of(term) == whole
    assert held(term) == before
    assert audit()["clean"]


def recorded_of(term: int) -> list[tuple[object, ...]]:
    """The event log and who has a seat, as PostgreSQL tells it."""
    seats = Enrollment.section_id, Enrollment.student_id, Enrollment.state, Enrollment.seq
    with transaction() as session:
        facts = list(event_log.read_events(session, term, 0, recorded(term)))
        rows = session.execute(select(*seats).order_by(*seats)).all()
    return [*((fact.seq, fact.at, fact.payload) for fact in facts), *map(tuple, rows)]


def test_what_was_recorded_since_the_backup_is_deleted_only_on_request(
    spare: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "KEPT_EVENTS", 0)
    term, section = an_offer(3)
    ada, *others = a_student("ada"), a_student("ben"), a_student("cleo")
    assert claim(ada, section).seq
    assert fairseat(spare, "backup", str(tmp_path / "copy")).returncode == 0
    for student in others:
        assert claim(student, section).seq
        drain(term)  # so the journal does not go on where the backup ends
    before = held(term)
    leave()
    back = fairseat(spare, "restore", "--yes", str(tmp_path / "copy"))
    assert back.returncode == 1
    assert "--forget to discard them" in back.stderr
    assert held(term) == before
    back = fairseat(spare, "restore", "--yes", "--forget", str(tmp_path / "copy"))
    assert back.returncode == 0, back.stderr
    assert held(term) == {(ada.id, section.id)}


def test_decisions_on_what_a_backup_lacks_are_deleted_only_on_request(
    spare: Backend, tmp_path: Path
) -> None:
    term, section = an_offer(3)
    assert claim(ada := a_student("ada"), section).seq
    assert fairseat(spare, "backup", str(tmp_path / "copy")).returncode == 0
    assert claim(a_student("ben"), section).seq
    leave()
    back = fairseat(spare, "restore", "--yes", str(tmp_path / "copy"))
    assert "--forget to discard them" in back.stderr
    back = fairseat(spare, "restore", "--yes", "--forget", str(tmp_path / "copy"))
    assert back.returncode == 0, back.stderr
    assert held(term) == {(ada.id, section.id)}
    assert audit()["clean"]


def an_offer(capacity: int) -> tuple[int, Section]:
    """A term whose window is open, and a section."""
    term = a_term()
    an_open_window(term)
    section = a_section(a_course(), term, capacity=capacity)
    warm_up(term.id)
    return term.id, section


def test_of_those_made_again_and_again_the_last_is_kept_and_brings_all_back(
    spare: Backend, tmp_path: Path
) -> None:
    term, section = an_offer(3)
    assert claim(ada := a_student("ada"), section).seq
    made, folder = set[str](), tmp_path / "backups"
    (folder / "before an upgrade").mkdir(parents=True)
    (folder / "2026-01-01T000000Z.part").mkdir()

    def several() -> bool:
        made.update(each.parent.name for each in folder.glob("*Z/backup.json"))
        return len(made) >= 2

    with going_on(spare, str(folder), "--every", "1s", "--keep", "1"):
        wait_for(several, seconds=300)
    (newest,) = {each.name for each in folder.iterdir()} - {"before an upgrade"}
    assert newest > min(made)
    lose_everything(spare)
    back = fairseat(spare, "restore", str(folder / newest))
    assert back.returncode == 0, back.stderr
    assert held(term) == {(ada.id, section.id)}


def test_one_that_can_not_be_made_is_reported_and_tried_again(
    spare: Backend, tmp_path: Path
) -> None:
    spare.settings = replace(spare.settings, database_url="postgresql://fairseat@127.0.0.1:1/away")
    with going_on(spare, str(tmp_path), "--every", "1s") as process:
        assert process.stderr
        said = [json.loads(process.stderr.readline())["message"] for _ in range(2)]
    assert all(line.startswith("ALARM backup: the backup failed: ") for line in said)


@contextmanager
def going_on(spare: Backend, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`fairseat backup` in a process that ends by itself once it is told to."""
    command = [sys.executable, "-m", "portal.runtime.cli", "backup", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=surroundings(spare), text=True, stderr=pipe) as process:
        try:
            yield process
            process.terminate()
            assert process.wait(300) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("every", ["6", "0h", "h", "6 hours"])
def test_a_time_that_makes_no_sense_is_named(every: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(backup_command, [str(tmp_path), "--every", every])
    assert done.exit_code == 2
    assert f"{every} is not a duration such as 30m, 6h or 1d." in done.output


def test_it_replaces_nothing_unasked(spare: Backend, tmp_path: Path) -> None:
    a_student("ada")
    assert fairseat(spare, "backup", str(tmp_path / "copy")).returncode == 0
    running = fairseat(spare, "restore", str(tmp_path / "copy"))
    assert "The portal is running" in running.stderr
    leave()
    unasked = fairseat(spare, "restore", str(tmp_path / "copy"))
    assert unasked.returncode == 1
    assert "Use --yes to do this. Nothing was changed." in unasked.stderr


def test_a_backup_that_was_changed_is_refused(spare: Backend, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert fairseat(spare, "backup", str(copy)).returncode == 0
    (copy / "postgresql.dump").write_bytes(b"something else")
    leave()
    assert "its checksum differs" in fairseat(spare, "restore", str(copy)).stderr


def test_a_backup_of_a_newer_portal_is_refused(spare: Backend, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert fairseat(spare, "backup", str(copy)).returncode == 0
    told = json.loads((copy / "backup.json").read_text())
    (copy / "backup.json").write_text(json.dumps({**told, "revision": "9999"}))
    leave()
    assert "newer than this one" in fairseat(spare, "restore", str(copy)).stderr


def test_a_folder_with_something_in_it_is_left_alone(spare: Backend, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    refused = fairseat(spare, "backup", str(tmp_path))
    assert refused.returncode == 1
    assert "is not empty" in refused.stderr


def test_where_postgresql_refuses_the_backup_all_stays_as_it_was(
    spare: Backend, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    assert fairseat(spare, "backup", str(copy)).returncode == 0
    a_student("ada")
    leave()
    dump = copy / "postgresql.dump"
    dump.write_bytes(dump.read_bytes()[:-2000])
    told = json.loads((copy / "backup.json").read_text())
    told["sha256"] = sha256(dump.read_bytes()).hexdigest()
    (copy / "backup.json").write_text(json.dumps(told))
    assert "nothing was changed" in fairseat(spare, "restore", "--yes", str(copy)).stderr
    assert a_student("ben").id
