"""Installs pretix from its lock file, and times how long set-up takes on both sides."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench.stage import ROOT, free_port
from portal.runtime.child_process import Child

HERE = Path(__file__).resolve().parent
LOCK = HERE / "pretix.lock"
VENV = ROOT / ".venv-peers"
STEPS = "steps.json"  # in the environment
LONGEST = 1800.0  # seconds until the portal must have started


@dataclass(frozen=True)
class Step:
    """One command of a set-up or several, joined by semicolons, and the seconds that they took."""

    command: str
    seconds: float


def install() -> list[Step]:
    """Install the locked pretix unless it is there; return the steps that this took."""
    if _known().get("lock") != LOCK.read_text(encoding="utf-8"):
        shutil.rmtree(VENV, ignore_errors=True)
    pip = [program("python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    return [
        once("python -m venv", [sys.executable, "-m", "venv", str(VENV)]),
        once("pip install pretix gunicorn", [*pip, "--require-hashes", "-r", str(LOCK)]),
    ]


def once(name: str, command: Sequence[str], env: Mapping[str, str] | None = None) -> Step:
    """Run a command unless it was run since the installation began; return the step."""
    known = _known()
    return Step(name, known[name]) if name in known else kept(timed(name, command, env))


def kept(step: Step) -> Step:
    """Store the time of a step, and return it as it was stored first."""
    known = {"lock": LOCK.read_text(encoding="utf-8"), step.command: step.seconds} | _known()
    (VENV / STEPS).write_text(json.dumps(known), encoding="utf-8")
    return Step(step.command, known[step.command])


def timed(name: str, command: Sequence[str], env: Mapping[str, str] | None = None) -> Step:
    """Run a command; raise SystemExit with its last lines if it fails."""
    began = time.monotonic()
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    if done.returncode:
        output = (done.stdout + done.stderr).strip().splitlines()
        raise SystemExit("\n".join([f"{name} failed:", *output[-15:]]))
    return Step(name, time.monotonic() - began)


def _known() -> dict[str, Any]:
    """Return the lock file of the installation, and the seconds of each step."""
    file = VENV / STEPS
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def program(name: str) -> str:
    """Return the path of a program of pretix's environment."""
    return str(VENV / "bin" / name)


def fairseat() -> list[Step]:
    """Clone this repository's last commit and start the portal from it, with its demo."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        clone, port = folder / "fairseat", free_port()
        steps = [timed("git clone", ["git", "clone", "-q", str(ROOT), str(clone)])]
        env = {"FAIRSEAT_VAR": str(folder / "var"), "PORT": str(port), "HOST": "127.0.0.1"}
        env |= {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": ""}
        command = ["make", "--no-print-directory", "-C", str(clone), "run"]
        running = Child("make run", command, folder / "run.log", env)
        began = time.monotonic()
        running.start()
        stack.callback(running.stop, timeout=60)
        _wait_for(running, port)
        return [*steps, Step("make run", time.monotonic() - began)]


def _wait_for(running: Child, port: int) -> None:
    deadline = time.monotonic() + LONGEST
    while running.alive and time.monotonic() < deadline:
        with suppress(OSError):
            asking = HTTPConnection("127.0.0.1", port, timeout=5)
            asking.request("GET", "/ready")
            if asking.getresponse().status == 200:
                return
        time.sleep(0.2)
    raise SystemExit(f"make run did not start the portal: {running.last_output()}")
