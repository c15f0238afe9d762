"""The systemd unit, as systemd reads it where it is installed."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import Context

from portal.core.settings import ROOT
from portal.runtime.cli import main

UNIT = ROOT / "docker" / "systemd" / "fairseat.service"


def lines(section: str) -> Iterator[tuple[str, str]]:
    """The settings of a section, which may name one several times."""
    inside = ""
    for line in UNIT.read_text().splitlines():
        if line.startswith("["):
            inside = line.strip("[]")
        elif inside == section and line and not line.startswith("#"):
            name, separator, value = line.partition("=")
            assert separator, line
            yield name, value


def test_systemd_understands_every_line(tmp_path: Path) -> None:
    systemd = shutil.which("systemd-analyze")
    if systemd is None:
        pytest.skip("systemd is not installed")
    unit = tmp_path / UNIT.name
    text = UNIT.read_text().replace("/srv/fairseat/.venv/bin", str(Path(sys.executable).parent))
    unit.write_text(text.replace("/srv/fairseat", str(ROOT)))
    command = [systemd, "verify", "--man=no", "--recursive-errors=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_comes_back_whatever_ends_it() -> None:
    assert dict(lines("Service"))["Restart"] == "always"
    assert dict(lines("Unit"))["StartLimitIntervalSec"] == "0"


def test_it_runs_commands_that_there_are() -> None:
    for name in ("ExecStart", "ExecReload"):
        program, command = dict(lines("Service"))[name].split()
        assert program == "/srv/fairseat/.venv/bin/fairseat"
        assert main.get_command(Context(main), command)


def test_it_is_a_user_of_its_own_without_privileges() -> None:
    service = dict(lines("Service"))
    assert service["User"] == "fairseat"
    assert service["CapabilityBoundingSet"] == service["AmbientCapabilities"] == ""
    assert service["NoNewPrivileges"] == "yes"
    assert service["StateDirectoryMode"] == service["RuntimeDirectoryMode"] == "0700"
    assert service["UMask"] == "0077"
