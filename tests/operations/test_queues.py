"""Queues: what the page and the command show, and that a paused queue starts no job."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flask.testing import FlaskClient
from rq import Queue

from portal.backend import Backend
from portal.core import flags
from portal.operations import workers
from portal.operations.workers import QueueState
from portal.runtime.cli import main
from tests.audit_trail import entries
from tests.cast import Cast
from tests.recorder import slow_jobs
from tests.recorder.processes import ready, running, wait_for

PAUSE = "/admin/operations/queues/notify"


@pytest.fixture(autouse=True)
def _all_go_on() -> Iterator[None]:
    yield
    flags._off = frozenset()  # noqa: SLF001 - as after a start


def queues(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["queues", *arguments])


def notify(backend: Backend) -> QueueState:
    flags.read()
    return next(each for each in workers.queues(backend.redis) if each.name == "notify")


def row(page: str) -> str:
    """Return the row of the queue on the page, without line breaks."""
    _, rest = page.split('data-queue="notify"')
    return " ".join(rest.split("</tr>", 1)[0].split())


def test_paused_queue_starts_no_job_until_it_is_resumed(backend: Backend, tmp_path: Path) -> None:
    end, queue = tmp_path / "end", Queue("notify", connection=backend.redis)
    with running(("worker", "notify"), ("worker", "notify")):
        wait_for(lambda: notify(backend).alive == 2)
        slow_jobs.call("notify", slow_jobs.UNTIL, end)
        wait_for(lambda: notify(backend).busy == 1)
        assert queues("--pause", "notify", "--reason", "The mail server moves.").exit_code == 0
        end.touch()  # the job that runs ends

        def all_stopped() -> bool:
            """Return whether all workers have put back what they took."""
            if not notify(backend).waiting:  # a worker that did not know of the pause yet
                slow_jobs.call("notify", slow_jobs.UNTIL, end)
            return {each.state for each in notify(backend).workers} == {"paused"}

        wait_for(all_stopped)
        done, first = notify(backend).counts.done, queue.job_ids
        other = slow_jobs.call("notify", slow_jobs.UNTIL, end)
        assert queue.job_ids == [*first, other.id]
        assert queues("--resume", "notify").exit_code == 0
        wait_for(lambda: notify(backend).counts.done == done + len(first) + 1)
    assert notify(backend).waiting == 0


def test_worker_of_a_paused_queue_can_be_stopped(backend: Backend) -> None:
    assert queues("--pause", "notify").exit_code == 0  # it knows from its start
    with running(("worker", "notify")) as (worker,):
        wait_for(lambda: {each.state for each in notify(backend).workers} == {"paused"})
        worker.terminate()
        assert worker.wait(60) == 0


def test_admin_pauses_and_resumes_with_a_reason(
    admin: FlaskClient, cast: Cast, backend: Backend
) -> None:
    assert "Workers finish their current job" in admin.get(PAUSE).text
    asked = {"to": "off", "version": 0}
    assert admin.post(PAUSE, data=asked | {"reason": ""}).status_code == 422
    answer = admin.post(PAUSE, data=asked | {"reason": "The mail server moves."})
    assert (answer.status_code, answer.location) == (303, "/admin/operations")
    assert notify(backend).paused
    page = admin.get("/admin/operations").text
    assert "The queue “Send notifications and email” is paused." in page
    assert "The mail server moves." in row(page)
    assert "Resume" in row(page)
    assert admin.post(PAUSE, data=asked | {"reason": "Me too."}).status_code == 303  # sent twice
    assert admin.post(PAUSE, data={"to": "on", "version": 1, "reason": "It is back."}).location
    assert not notify(backend).paused
    one, other = entries()
    assert (one.account_id, one.subject, one.after) == (
        cast.max.id,
        "flag:queue_notify",
        {"on": False},
    )
    assert (other.after, other.reason) == ({"on": True}, "It is back.")
    assert "Send notifications and email" in admin.get("/admin/audit").text


def test_stale_form_is_refused(admin: FlaskClient) -> None:
    assert queues("--pause", "notify").exit_code == 0
    assert queues("--resume", "notify").exit_code == 0
    answer = admin.post(PAUSE, data={"to": "off", "version": 0, "reason": "Late."})
    assert answer.status_code == 409
    assert "Someone else has paused or resumed this queue" in answer.text


def test_command_says_why_in_the_audit_trail(backend: Backend) -> None:
    assert queues("--pause", "notify", "--reason", "The mail server moves.").exit_code == 0
    assert "notify " in queues().stdout
    assert queues().stdout.count("paused") == 1
    assert "already paused" in queues("--pause", "notify").stderr
    assert queues("--pause", "notify", "--resume", "notify").exit_code == 2
    assert notify(backend).paused
    (entry,) = entries()
    assert (entry.account_id, entry.reason) == (None, "The mail server moves.")


def test_throughput_and_error_rate_are_shown(
    admin: FlaskClient, backend: Backend, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    done.touch()
    with running(("worker", "notify")):
        ready("notify")
        for _ in range(3):
            slow_jobs.call("notify", slow_jobs.UNTIL, done)
        slow_jobs.call("notify", "tests.recorder.slow_jobs.fail", tmp_path / "tries")
        wait_for(lambda: (notify(backend).counts.done, notify(backend).counts.failed) == (3, 1), 30)
    assert "25%" in row(admin.get("/admin/operations").text)
    assert "25%" in next(line for line in queues().stdout.splitlines() if "notify" in line)
