"""kill -9 of whoever tells receivers: each event is told, under one id, seldom twice."""

from collections import Counter

import pytest
from sqlalchemy import func, select

from portal.backend import Backend
from portal.core.db import transaction
from portal.notifications.webhooks import outbox
from portal.notifications.webhooks.models import Webhook
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from tests.cast import Cast
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import all_sent
from tests.notifications.webhooks.receiver import Receiver
from tests.recorder.processes import running, wait_for
from tests.recorder.rush import a_rush, claims

pytestmark = pytest.mark.slow

STUDENTS = 150


@pytest.fixture
def rushed(cast: Cast, receiver: Receiver, backend: Backend) -> Webhook:
    """So many seats are given that a receiver is to be told of."""
    assert backend
    rush = a_rush(sections=1, students=STUDENTS, capacity=STUDENTS)
    drain(rush.term, seconds=0)
    webhook = a_webhook(receiver.url, cast, "enrolled")
    claims(rush, [(student, rush.sections[0]) for student in rush.students])
    drain(rush.term, seconds=0)
    return webhook


def test_each_event_is_sent_at_least_once(rushed: Webhook, receiver: Receiver) -> None:
    assert rushed
    with running(("scheduler",)):
        for told in (30, 80):
            with running(("worker", "background")):  # which kills it at the end
                wait_for(lambda told=told: len(receiver.told) >= told)
        with running(("worker", "background")):
            wait_for(all_sent)
    with transaction() as session:
        events = session.execute(
            select(LoggedEvent.term_id, LoggedEvent.seq).where(LoggedEvent.name == "enrolled")
        ).all()
        assert session.scalar(select(func.count()).select_from(LoggedEvent)) or STUDENTS < 0
    times = Counter(receiver.ids)
    assert set(times) == {f"{term}-{seq}" for term, seq in events}
    assert len(times) == STUDENTS
    assert len(receiver.told) <= STUDENTS + 2 * outbox.BATCH  # a batch at each kill, at most
