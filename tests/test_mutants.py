"""`make mutants` leaves no changed file behind."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recorder.processes import wait_for

CODE = "def three():\n    return 1 + 2\n"
# Passes if nothing is changed; else it leaves a mark, and takes long.
TEST = f"""
import time
from pathlib import Path

def test_it():
    here = Path(__file__)
    if here.with_name("code.py").read_text() != {CODE!r}:
        here.with_name("changed").touch()
        time.sleep(60)
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that has changed the file, and waits for its test."""
    code, test = tmp_path / "code.py", tmp_path / "test_it.py"
    code.write_text(CODE)
    test.write_text(TEST)
    command = [sys.executable, "-m", "tests.mutants", str(code), "--tests", str(test)]
    # A signal that these tests ignore, as under nohup, would be ignored there as well.
    heeding = ["env", "--default-signal=HUP", *command]
    with subprocess.Popen(heeding, stderr=subprocess.DEVNULL) as found:
        try:
            wait_for((tmp_path / "changed").exists)
            yield found
        finally:
            found.kill()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_file_is_restored_if_the_run_is_ended(
    run: subprocess.Popen[bytes], tmp_path: Path, sent: signal.Signals
) -> None:
    run.send_signal(sent)
    run.wait(20)
    assert (tmp_path / "code.py").read_text() == CODE
