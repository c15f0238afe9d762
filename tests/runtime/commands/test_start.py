"""Every module of commands starts by itself, in a Python that has imported nothing yet."""

import subprocess
import sys

import pytest

from portal.runtime.cli import MODULES

# One command of each module: most other tests fork a process that has imported them all.
ONE_EACH = {module: name for name, module in MODULES.items()}


@pytest.mark.parametrize("name", ONE_EACH.values(), ids=ONE_EACH)
def test_a_command_starts_alone(name: str) -> None:
    command = [sys.executable, "-m", "portal.runtime.cli", name, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout
