"""Commands say which portal they work for, and what they can't do there, in a line each."""

import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.core.queue import enqueue
from portal.recorder.journal import last_seq
from portal.runtime.cli import main
from portal.runtime.command_context import served
from portal.runtime.data_folder import DataFolder, Run
from tests import commands
from tests.cast import Cast
from tests.recorder.processes import caught_up, recorded, wait_for
from tests.recorder.student_actions import claim, sections

pytestmark = pytest.mark.slow

THERE = "database fall at db.example:5433"


def surroundings(**more: str) -> dict[str, str]:
    """An environment that tells nothing of the servers of the tests."""
    told = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DATABASE_OWNER_URL")
    return {name: value for name, value in os.environ.items() if name not in told} | more


def run(*arguments: str, **environment: str) -> Result:
    """A command with these settings alone."""
    unset = dict.fromkeys(os.environ.keys() - surroundings().keys())
    return CliRunner().invoke(main, arguments, env=unset | environment)


def run_alone(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, where it may start or use servers."""
    return commands.run(*arguments, env=surroundings(**environment))


@pytest.fixture
def section(term: Term) -> Section:
    return sections(term, 5)[0]


def export(target: Path) -> Result:
    return CliRunner().invoke(main, ["export", str(target)])


def enrolled(target: Path) -> int:
    rows = zipfile.ZipFile(target).read("enrollments.csv").decode().splitlines()
    return sum(",student," in row for row in rows)


def test_an_export_has_what_was_decided_a_moment_ago(
    section: Section, cast: Cast, tmp_path: Path
) -> None:
    claim(cast.ada, section)
    done = export(tmp_path / "all.zip")
    assert (done.exit_code, enrolled(tmp_path / "all.zip")) == (0, 1), done.output
    assert "NOT" not in done.stderr


def test_an_export_names_what_it_lacks_and_fails(
    backend: Backend, section: Section, cast: Cast, tmp_path: Path
) -> None:
    claim(cast.ada, section)
    export(tmp_path / "before.zip")
    known = recorded(section.term_id)
    claim(cast.ben, section)
    last = last_seq(section.term_id)
    backend.redis.xdel(f"{{t:{section.term_id}}}:journal", f"{known + 1}-0")
    done = export(tmp_path / "all.zip")
    assert (done.exit_code, enrolled(tmp_path / "all.zip")) == (1, 1)
    lost = f"{last - known} decisions (events {known + 1} to {last}) of Fall 2030"
    assert f"NOT in the file: {lost} are not recorded: " in done.stderr


@pytest.mark.parametrize(
    ("database", "ledger", "told"),
    [
        (
            "postgresql://registrar:secret@db.example:5433/fall?sslmode=require",
            "redis://:secret@ledger.example:6380/2",
            f"{THERE} (DATABASE_URL), ledger at ledger.example:6380/2 (REDIS_URL).",
        ),
        ("", "", "data folder {var} (not running)."),
    ],
)
def test_an_import_says_first_where_it_goes(
    tmp_path: Path, database: str, ledger: str, told: str
) -> None:
    var = tmp_path / "var"
    place = {"DATABASE_URL": database, "REDIS_URL": ledger, "FAIRSEAT_VAR": str(var)}
    done = run_alone("import", str(tmp_path / "nothing"), **place)
    first, *_ = done.stdout.splitlines()
    assert first == f"Importing into {told.format(var=var)}"
    assert "secret" not in first


@pytest.mark.parametrize("command", [("worker", "record"), ("scheduler",), ("prepare",)])
def test_a_process_without_a_portal_says_what_it_needs(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = run(*command, FAIRSEAT_VAR=str(tmp_path / "var"))
    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: Nothing runs on {tmp_path / 'var'}. Start the portal with `fairseat up`, or set"
        " DATABASE_URL, REDIS_URL and SECRET_KEY.\n"
    )
    done = run(*command, DATABASE_URL="postgresql://a/b", REDIS_URL="redis://a")
    told = "Set SECRET_KEY to the key of the portal that uses these DATABASE_URL and REDIS_URL."
    assert (done.exit_code, done.stderr) == (1, f"Error: {told}\n")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[DataFolder]:
    """A data folder that this process runs, on servers that do not answer."""
    folder = DataFolder(tmp_path / "var")
    assert folder.own() is None
    nowhere = "postgresql://a:b@127.0.0.1:1/c", "redis://127.0.0.1:1"
    folder.announce(Run(os.getpid(), "http://here", *nowhere, ""))
    yield folder
    folder.release()


@pytest.mark.parametrize("own", ["", "the operator's"])
def test_a_worker_signs_with_the_operators_key_else_with_that_of_the_data_folder(
    running: DataFolder, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    kept = running.secret("secret")
    for name, value in surroundings(FAIRSEAT_VAR=str(running.path), SECRET_KEY=own).items():
        monkeypatch.setenv(name, value)
    for name in ("DATABASE_URL", "REDIS_URL", "FAIRSEAT_URL"):
        monkeypatch.setenv(name, "")
    with served():
        assert os.environ["SECRET_KEY"] == (own or kept)


def test_a_worker_without_any_key_is_refused_and_makes_none(running: DataFolder) -> None:
    done = run("scheduler", FAIRSEAT_VAR=str(running.path))
    file = running.path / "secret"
    told = f"Error: Set SECRET_KEY to the key of the running portal: {file} is missing.\n"
    assert (done.exit_code, done.stderr) == (1, told)
    assert not file.exists()


@pytest.fixture
def at_home(backend: Backend, tmp_path: Path) -> Iterator[DataFolder]:
    """A data folder that this process runs, on the servers of the tests."""
    folder, parts = DataFolder(tmp_path / "var"), backend.settings
    assert folder.own() is None
    folder.secret("secret")
    urls = parts.database_url, parts.redis_url, "", parts.owner_url
    folder.announce(Run(os.getpid(), "http://here", *urls))
    yield folder
    folder.release()


def test_a_worker_works_for_the_portal_that_runs_on_the_data_folder(
    at_home: DataFolder, section: Section, cast: Cast
) -> None:
    claim(cast.ada, section)
    enqueue(section.term_id, ["record"])
    there = surroundings(FAIRSEAT_VAR=str(at_home.path))
    worker = commands.start("worker", "record", env=there)
    try:
        wait_for(lambda: caught_up(section.term_id))
    finally:
        worker.kill()
        worker.wait()


def test_prepare_works_for_the_portal_that_runs_on_the_data_folder(
    at_home: DataFolder,
    section: Section,  # noqa: ARG001
) -> None:
    done = run_alone("prepare", FAIRSEAT_VAR=str(at_home.path), FAIRSEAT_DEMO="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "The database is up to date.",
        "All sections are in the ledger.",
    ]


def test_a_command_whose_servers_do_not_answer_says_so_in_a_line(tmp_path: Path) -> None:
    nowhere = {"DATABASE_URL": "postgresql://a:b@127.0.0.1:1/c", "REDIS_URL": "redis://127.0.0.1:1"}
    done = run("export", str(tmp_path / "all.zip"), **nowhere)
    assert done.exit_code == 1
    assert "Error: A server does not respond: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("export", "fall"),
        ("import", "postgresql://me:hidden@db:port/fall"),
        ("restore", "no://me:hidden@db/fall"),
        ("audit", "fall"),
    ],
)
def test_a_command_refuses_what_is_no_address_of_a_database_in_a_line(
    tmp_path: Path, command: str, wrong: str
) -> None:
    targets = {"audit": [], "restore": [str(tmp_path)]}.get(command, [str(tmp_path / "it")])
    given = {"DATABASE_URL": wrong, "REDIS_URL": "redis://127.0.0.1:1"}
    done = run(command, *targets, **given, FAIRSEAT_VAR=str(tmp_path / "var"))
    told = "DATABASE_URL is not a valid database address."
    assert (done.exit_code, done.stderr) == (1, f"Error: {told}\n")
    assert "hidden" not in done.stdout


@pytest.mark.parametrize("command", ["export", "import", "restore"])
def test_a_command_refuses_an_open_data_folder_and_leaves_it_as_it_is(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "letter").touch()
    tmp_path.chmod(0o755)
    target = tmp_path.parent if command == "restore" else tmp_path / "it"
    done = run(command, str(target), FAIRSEAT_VAR=str(tmp_path))
    assert (done.exit_code, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert done.stderr.startswith(f"Error: The data folder {tmp_path} is open to other users")
    assert [each.name for each in tmp_path.iterdir()] == ["letter"]
