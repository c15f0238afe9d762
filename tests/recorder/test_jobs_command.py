"""`fairseat jobs` lists, retries and discards dead letters."""

import pytest
from click.testing import CliRunner, Result
from rq import Queue
from rq.serializers import JSONSerializer

from portal.backend import Backend
from portal.operations.dead_letters import DeadLetter
from portal.runtime.cli import main
from tests.audit_trail import entries
from tests.recorder.poisoned_journal import heal, waiting
from tests.recorder.processes import caught_up, running, wait_for
from tests.recorder.rush import Rush


def jobs(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["jobs", *arguments])


def test_command_says_that_no_job_failed(backend: Backend) -> None:  # noqa: ARG001
    result = jobs()
    assert (result.exit_code, result.stdout) == (0, "")
    assert "No failed jobs." in result.stderr


def test_command_lists_each_failed_job_with_its_error(given_up: DeadLetter) -> None:
    result = jobs()
    assert result.exit_code == 1
    assert f"{given_up.id}  {given_up.dead_at:%Y-%m-%d %H:%M}  record" in result.stdout
    assert "    ValueError: poison\n" in result.stdout
    assert "Traceback" not in result.stdout
    assert "Traceback" in jobs(given_up.id).stdout


def test_command_retries_failed_jobs(
    backend: Backend, given_up: DeadLetter, poisoned: Rush
) -> None:
    heal(backend, poisoned)
    assert jobs(given_up.id, "--retry").exit_code == 0
    assert (waiting(backend), jobs().exit_code) == (1, 0)
    with running(("worker", "record")):
        wait_for(lambda: caught_up(poisoned.term))
        wait_for(lambda: not backend.redis.exists(f"rq:job:{given_up.id}"))
    assert jobs().exit_code == 0


def test_retried_job_has_two_attempts(backend: Backend, given_up: DeadLetter) -> None:
    assert jobs("--retry").exit_code == 0
    (job,) = Queue("record", connection=backend.redis, serializer=JSONSerializer).jobs
    assert (job.id, job.retries_left) == (given_up.id, 1)


def test_command_discards_failed_jobs(backend: Backend, given_up: DeadLetter) -> None:
    assert jobs(given_up.id, "--discard").exit_code == 0
    assert not backend.redis.exists(f"rq:job:{given_up.id}", "rq:failed:record")
    assert jobs().exit_code == 0
    (entry,) = entries()
    assert (entry.action, entry.subject) == ("job.discard", f"job:{given_up.id}")


@pytest.mark.usefixtures("backend")
def test_command_refuses_unknown_ids_and_contradictory_options() -> None:
    assert "Unknown job: 7-x" in jobs("7-x").stderr
    assert jobs("--retry", "--discard").exit_code == 2
