"""Whatever a command writes is for its own user alone."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from portal.backend import Backend
from portal.core.private_files import owner_only
from portal.exchange.importing.report import Report
from portal.notifications.mail import Mail
from portal.notifications.mail_transport import MailFolder as Mails
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder, FolderError
from portal.runtime.embedded_servers import Servers

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fairseat(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "portal.runtime.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        umask=0,
    )


def test_an_export_is(backend: Backend, tmp_path: Path) -> None:  # noqa: ARG001
    target = tmp_path / "all.zip"
    done = fairseat("export", str(target))
    assert done.returncode == 0, done.stderr
    assert mode(target) == 0o600


def test_an_export_writes_into_no_file_that_someone_else_has_made(
    backend: Backend,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    target = tmp_path / "all.zip"
    target.touch(mode=0o666)
    done = fairseat("export", str(target))
    assert "Can't write" in done.stderr
    assert "File exists" in done.stderr
    assert target.read_bytes() == b""


def test_a_backup_is(backend: Backend, tmp_path: Path) -> None:  # noqa: ARG001
    target = tmp_path / "backups" / "copy"
    done = fairseat("backup", str(target))
    assert done.returncode == 0, done.stderr
    assert mode(target.parent) == mode(target) == 0o700
    assert {mode(each) for each in target.iterdir()} == {0o600}


@pytest.mark.parametrize("name", ["report.csv", "report.json"])
def test_the_report_of_an_import_is_even_in_a_file_that_was_open(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch(mode=0o666)
    Report().write(tmp_path / name)
    assert mode(tmp_path / name) == 0o600


def test_a_file_that_was_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "old").touch(mode=0o666)
    for name in ("old", "new"):
        with open(tmp_path / name, "a", opener=owner_only):
            assert mode(tmp_path / name) == 0o600


def test_a_log_is_even_one_that_was_open(tmp_path: Path) -> None:
    (tmp_path / "old").touch(mode=0o644)
    for name in ("old", "new"):
        child = Child("x", [sys.executable, "-S", "-c", ""], tmp_path / name)
        child.start()
        child.stop()
        assert mode(tmp_path / name) == 0o600


def test_everything_in_the_data_folder_is(servers: Servers) -> None:
    files = [each for each in servers.folder.path.rglob("*") if "postgres" not in each.parts]
    assert len(files) > 4
    assert [each for each in files if mode(each) & 0o077] == []
    assert mode(servers.folder.path) == mode(servers.folder.path / "postgres") == 0o700


def test_an_open_data_folder_is_closed(tmp_path: Path) -> None:
    var = tmp_path / "var"
    folder = DataFolder(var)
    folder.own()
    folder.release()
    for path in (var, var / "log"):
        path.chmod(0o755)
    DataFolder(var)
    assert mode(var) == 0o700


def test_an_empty_one_is_closed(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir(mode=0o777)
    DataFolder(tmp_path / "var")
    assert mode(tmp_path / "var") == 0o700


def test_a_folder_of_other_things_is_refused_with_what_to_do(tmp_path: Path) -> None:
    var = tmp_path / "home"
    var.mkdir(mode=0o755)
    (var / "letter").touch()
    with pytest.raises(FolderError, match=f"chmod 700 {var}"):
        DataFolder(var)
    assert mode(var) == 0o755
    var.chmod(0o700)
    DataFolder(var)


@as_root
def test_a_folder_of_someone_else_is_refused_with_what_to_do(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir(mode=0o700)
    os.chown(var, 65_533, 65_533)
    with pytest.raises(FolderError, match=f"chown -R 0 {var}"):
        DataFolder(var)


def test_mails_in_a_folder_are(tmp_path: Path) -> None:
    Mails(tmp_path / "mail").send(Mail("1", "example.edu", "ada@example.edu", EmailMessage()))
    assert mode(tmp_path / "mail") == 0o700
    assert mode(tmp_path / "mail" / "1.eml") == 0o600
