"""The worker of notices, the clock that calls it, and kill -9 of everyone."""

import os
import signal
import time
from collections import Counter

import pytest
from rq import Queue
from sqlalchemy import func, select, text, update

from jobs.notify import notify
from portal.backend import backend
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.notifications.models import Notification, OutboxEntry
from portal.recorder.journal import last_seq
from portal.recorder.models import LoggedEvent
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from tests import cast as builders
from tests.cast import Cast
from tests.notifications.mail_server import Postman
from tests.notifications.stories import Story, give_addresses, outbox
from tests.recorder.processes import caught_up, ready, recorded, running, start, wait_for
from tests.recorder.rush import Rush, a_rush, claims, spec
from tests.recorder.slow_recorder import slowly
from tests.recorder.test_kill import busy

pytestmark = pytest.mark.slow

MANY = 600  # so that a slow recorder sleeps amid them


def called() -> int:
    """How many jobs wait for the worker of notices."""
    return queue().count


def queue() -> Queue:
    return Queue("notify", connection=backend().redis)


def sweep(sweeper: Sweeper) -> None:
    sweeper.read_terms()
    sweeper.enqueue_due()


def a_full_section(waiting: int) -> Rush:
    """With so many who wait for a seat, and can be reached by mail."""
    rush = a_rush(sections=1, students=waiting, capacity=0, waitlist=waiting)
    claims(rush, [(student, rush.sections[0]) for student in rush.students])
    give_addresses()
    drain(rush.term, seconds=0)
    return rush


def all_promoted(rush: Rush) -> None:
    """A seat for everyone who waits."""
    size = len(rush.students)
    roomy = spec(rush.sections[0], capacity=size, waitlist=size, version=2)
    backend().ledger.put_section(rush.term, roomy)
    promote(rush.term, "tests")


def count(what: type[Notification | OutboxEntry]) -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(what)) or 0


def test_the_recorder_calls_it(story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    assert called() == 1


def test_the_clock_calls_it_where_the_call_was_lost(story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    queue().empty()
    sweep(Sweeper())
    assert called() == 1


def test_the_clock_calls_it_again_when_a_mail_is_due_again(story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    sweeper = Sweeper()
    queue().empty()
    with transaction() as session:
        session.execute(update(OutboxEntry).values(due_at=func.now() + text("interval '1 hour'")))
    sweep(sweeper)
    assert called() == 0
    with transaction() as session:
        session.execute(update(OutboxEntry).values(due_at=func.now()))
    sweep(sweeper)
    assert called() == 1


def test_the_clock_calls_it_when_a_reminder_is_due(cast: Cast) -> None:
    assert cast
    term = builders.a_term()
    window = builders.a_coming_window(term, 15.2)
    due = window.opens - 15 * builders.MINUTE
    drain(term.id, seconds=0)
    sweeper = Sweeper()
    sweep(sweeper)
    assert called() == 0
    wait_for(lambda: backend().ledger.now() >= due)
    wait_for(lambda: sweep(sweeper) or called())
    notify(term.id)
    assert count(Notification) == 4
    queue().empty()
    sweep(Sweeper())
    assert called() == 0


@pytest.mark.usefixtures("backend")
def test_a_recorder_that_is_killed_leaves_one_notification_for_each_event() -> None:
    rush = a_full_section(waiting=MANY)
    all_promoted(rush)
    killed = 0
    with slowly(1.0), running(("worker", "record"), ("scheduler",)) as processes:
        ready("record")
        enqueue(rush.term, ["record"])
        while recorded(rush.term) < last_seq(rush.term) and len(processes) < 5:
            wait_for(lambda: busy(backend()) or caught_up(rush.term))
            time.sleep(0.05)
            for pid in busy(backend()):
                os.kill(pid, signal.SIGKILL)
                killed += 1
            processes.append(start("worker", "record"))
        wait_for(lambda: caught_up(rush.term))
    assert killed
    with transaction() as session:
        causes = session.execute(select(Notification.seq, Notification.account_id)).all()
        events = session.scalars(
            select(LoggedEvent.seq).where(LoggedEvent.name == "promoted")
        ).all()
    assert Counter(seq for seq, _ in causes) == Counter(events)
    assert len({account for _, account in causes}) == count(OutboxEntry) == MANY


@pytest.mark.usefixtures("backend")
def test_a_sender_that_is_killed_loses_no_mail(
    postman: Postman, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRSEAT_SMTP", f"smtp://127.0.0.1:{postman.port}")
    rush = a_full_section(waiting=100)
    all_promoted(rush)
    drain(rush.term, seconds=0)
    with running(("scheduler",)):
        for sent in (25, 50):
            with running(("worker", "notify")):  # which kills it at the end
                wait_for(lambda sent=sent: len(postman.mails) >= sent)
        with running(("worker", "notify")):
            wait_for(lambda: all(mail.sent_at for mail in outbox()))
    assert len(set(postman.recipients)) == len(set(postman.ids)) == 100
    assert len(postman.mails) <= 102  # at most the one in hand, at each kill
