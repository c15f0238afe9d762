"""The wheel, installed in an empty environment, starts the same portal in an empty folder."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import psycopg2
import pytest
import requests
from packaging.requirements import Requirement

from portal.core.settings import ROOT
from portal.runtime.data_folder import DataFolder, Run
from portal.runtime.listener import not_ready
from tests.ports import free_port
from tests.recorder.processes import wait_for
from tests.runtime.test_up import FEW, GIVEN

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
RESOURCES = ("templates/", "static/", "migrations/")
ADDED = (
    *("static/build/style.css", "static/build/office.css"),
    *("static/build/script.js", "static/build/start.js", "static/vendor/altcha.min.js"),
)
TRANSLATIONS = "portal/translations/es/LC_MESSAGES/messages.mo"


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the files that git knows, and those that make has fetched."""
    source = tmp_path_factory.mktemp("source")
    for name in [*files(), *ADDED, TRANSLATIONS]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    target = tmp_path_factory.mktemp("dist")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "-w", target)
    run(sys.executable, "-m", "pip", "wheel", "-q", *options, source)
    [made] = target.glob("*.whl")
    return made


def files() -> list[str]:
    """The files of the product, as git knows them."""
    names = ["portal", "jobs", *(name.rstrip("/") for name in RESOURCES), "setup.cfg", "setup.py"]
    names += ["pyproject.toml", "LICENSE"]
    listed = subprocess.run(
        ["/usr/bin/env", "git", "ls-files", *names],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def test_it_has_everything_that_the_portal_needs(wheel: Path) -> None:
    packed = set(ZipFile(wheel).namelist())
    needed = {
        f"portal/resources/{name}" if name.startswith(RESOURCES) else name
        for name in [*files(), *ADDED, TRANSLATIONS]
        if name.startswith(("portal/", "jobs/", *RESOURCES)) and not name.endswith(".po")
    }
    assert needed - packed == set()


def add_dependencies(place: Path) -> None:
    """Copy the locked dependencies, and nothing else, from where the tests run."""
    [target] = place.glob("lib/python*/site-packages")
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if not line[:1].isalnum():
            continue
        requirement = Requirement(line.removesuffix("\\"))
        if requirement.marker and not requirement.marker.evaluate():
            continue
        found = metadata.distribution(requirement.name)
        assert found.version in requirement.specifier, f"{requirement} is locked"
        for file in found.files or ():
            if ".." not in file.parts:
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file.locate(), target / file)


@dataclass
class Installed:
    """A portal that was started by the wheel."""

    address: str
    place: Path  # its environment
    folder: Path
    said: Path
    process: subprocess.Popen[bytes]


def surroundings() -> dict[str, str]:
    """Return the environment without what leads to another portal or other packages."""
    left_out = {*GIVEN, "DATABASE_OWNER_URL", "FAIRSEAT_VAR", "PYTHONPATH", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in left_out}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """`fairseat up` in an empty folder, of an environment with the wheel and its dependencies."""
    place, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("empty")
    run(sys.executable, "-m", "venv", "--without-pip", place)
    add_dependencies(place)
    pip = (sys.executable, "-m", "pip", "--python", place / "bin" / "python", "-q")
    run(*pip, "install", "--disable-pip-version-check", "--no-index", wheel, cwd=folder)
    port, said = free_port(), folder.with_name("said")
    with said.open("w") as output:
        process = subprocess.Popen(
            [place / "bin" / "fairseat", "up"],
            cwd=folder,
            env={**surroundings(), "PORT": str(port), "FAIRSEAT_WORKERS": FEW},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    yield Installed(f"http://127.0.0.1:{port}", place, folder, said, process)
    process.terminate()
    process.wait(120)


def test_it_starts_the_portal_with_its_demo(installed: Installed) -> None:
    deadline = time.monotonic() + 300
    while missing := not_ready(installed.address):
        assert installed.process.poll() is None, installed.said.read_text()
        assert time.monotonic() < deadline, missing
        time.sleep(0.2)
    password = (installed.folder / "var" / "demo-password").read_text()
    with requests.Session() as browser:
        page = browser.get(f"{installed.address}/login", timeout=60).text
        [token] = set(re.findall(r'name="csrf_token" value="([^"]+)"', page))
        form = {"csrf_token": token, "username": "student0001", "password": password}
        headers = {"Referer": f"{installed.address}/login"}
        home = browser.post(f"{installed.address}/login", form, headers=headers, timeout=60)
        assert home.url != f"{installed.address}/login"
        for address in set(re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css)[^"]*)"', home.text)):
            assert browser.get(installed.address + address, timeout=60).ok, address
        spanish = browser.get(
            f"{installed.address}/", headers={"Accept-Language": "es"}, timeout=60
        )
        assert '<html lang="es"' in spanish.text
        assert "Cerrar sesión" in spanish.text


def test_what_a_first_start_sets_up_does_not_count_as_recorded_late(installed: Installed) -> None:
    run = DataFolder(installed.folder / "var").own()
    assert run
    wait_for(lambda: set_up(run))
    token = subprocess.run(
        [installed.place / "bin" / "fairseat", "token", "admin"],
        cwd=installed.folder,
        env=surroundings(),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    spans = requests.get(
        f"{installed.address}/api/v1/metrics/lag",
        headers={"Authorization": f"Bearer {token.strip()}"},
        timeout=60,
    ).json()["data"]["spans"]
    assert {(each["events"], each["p99"]) for each in spans} == {(0, None)}


def set_up(run: Run) -> bool:
    """Return whether the sections and the window of the demo are recorded."""
    with psycopg2.connect(run.database_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) > 100 AND count(*) = max(seq) FROM events")
        (done,) = cursor.fetchone() or (False,)
        cursor.execute("SELECT count(*) FROM events WHERE name = 'window_set'")
        (windows,) = cursor.fetchone() or (0,)
    connection.close()
    return bool(done and windows)
