"""A rush in which web, recorders, ledger and PostgreSQL are killed one after the other."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

OWN = ("DATABASE_URL", "REDIS_URL", "QUEUE_REDIS_URL", "FAIRSEAT_VAR", "PORT")


@pytest.mark.timeout(900)  # a whole portal; several of its parts are killed
def test_answers_to_students_survive_the_death_of_any_part() -> None:
    """`python -m tests.faults --short --students 3`, in a process that has settings of its own."""
    env = {name: value for name, value in os.environ.items() if name not in OWN}
    command = [sys.executable, "-m", "tests.faults", "--short", "--students", "3"]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
