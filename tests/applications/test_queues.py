"""Checks of documents, charges and mail have queues of their own: none holds up another."""

import socket
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock

import pytest
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import func, select

from portal import backend as connections
from portal.applications import fees, service
from portal.applications.models import REFUNDING, Application
from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.core.queue import JOBS, NO_TERM, QUEUE_OF, enqueue
from portal.core.settings import Settings
from portal.notifications.models import OutboxEntry
from portal.operations.workers import workers
from portal.people.models import Account, Student
from tests.applications.clamd import Handler, clamd
from tests.applications.files import a_pdf
from tests.applications.stories import a_draft, a_visiting_application, an_application, charges
from tests.applications.stripe_api import SECRET, stripe_api
from tests.cast import Cast
from tests.recorder.processes import ready, running, wait_for

QUEUES = {"check": "documents", "charge": "charges", "notify": "notify"}


def test_each_kind_of_work_has_a_queue_of_its_own() -> None:
    assert {job: QUEUE_OF.get(job, job) for job in QUEUES} == QUEUES
    for job, queue in QUEUES.items():
        sharing = [each for each in JOBS if QUEUE_OF.get(each, each) == queue]
        assert sharing == [job]


@pytest.mark.slow
def test_a_provider_that_hangs_delays_neither_documents_nor_mail(
    free: Section,
    vera: Account,
    cast: Cast,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAIRSEAT_PAYMENTS", "stripe")
    monkeypatch.setenv("FAIRSEAT_STRIPE_KEY", "sk_test_x")
    monkeypatch.setenv("FAIRSEAT_STRIPE_WEBHOOK_SECRET", SECRET)
    with stripe_api() as stripe:
        monkeypatch.setenv("FAIRSEAT_STRIPE_URL", stripe.url)
        fees.breaker.cache_clear()
        connections.use(replace(backend, settings=Settings.read()))
        withdrawn = a_visiting_application(vera, free.term_id, paid=False)
        fees.pay(withdrawn, vera.id)
        stripe.pays("cs_1")
        fees.look(withdrawn, vera.id)
        service.withdraw(withdrawn, vera.id)
    before = sent_mails()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("FAIRSEAT_STRIPE_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with running(*(("worker", queue) for queue in QUEUES.values()), ("scheduler",)):
            ready(*QUEUES.values())
            silent.settimeout(60)
            _call, _ = silent.accept()  # the worker waits for an answer from now on
            application = with_document(cast.ada, free)
            wait_for(lambda: checked(application), 60)
            wait_for(lambda: sent_mails() > before, 60)
            assert charges(withdrawn)[0].state == REFUNDING
            _call.close()


class Held(Handler):
    """Gives no verdict until it is told to, and counts the checks that wait for one."""

    released = Event()
    lock = Lock()
    now = most = 0

    @classmethod
    def reset(cls) -> None:
        cls.released.clear()
        cls.now = cls.most = 0

    def handle(self) -> None:
        with Held.lock:
            Held.now += 1
            Held.most = max(Held.most, Held.now)
        try:
            while not Held.released.wait(5):
                self.wfile.write(b" ")  # the worker need not fear that the scanner is gone
        finally:
            with Held.lock:
                Held.now -= 1
        super().handle()


@pytest.mark.slow
def test_at_most_five_documents_are_checked_at_once(
    free: Section, cast: Cast, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    Held.reset()
    queue = Queue("documents", connection=backend.redis, serializer=JSONSerializer)
    with TemporaryDirectory() as folder, clamd(Path(folder), Held) as address:
        monkeypatch.setenv("FAIRSEAT_CLAMD", address)
        contents = [a_pdf(text=b"%d" % number) for number in range(4)]
        drafts = [
            a_draft("permission", student, free, contents) for student in (cast.ada, cast.ben)
        ]
        queue.empty()  # so that each worker below gets its job when all are ready
        with running(*[("worker", "documents")] * 6):
            wait_for(lambda: len(workers(backend.redis, queue)) == 6)
            for _ in range(6):
                enqueue(NO_TERM, ["check"])
                wait_for(lambda: not queue.job_ids)
            try:
                wait_for(lambda: Held.now == 5)
                # The sixth worker found no place, so its job is done.
                wait_for(
                    lambda: sum(each.successful_job_count for each in workers(backend.redis, queue))
                )
                assert Held.most == 5
            finally:
                Held.released.set()
            wait_for(lambda: all(map(checked, drafts)))
    assert Held.most == 5


def with_document(student: Student, section: Section) -> int:
    return an_application("permission", student, section, documents=[a_pdf()])


def checked(application: int) -> bool:
    with transaction() as session:
        found = session.get_one(Application, application).documents
        return all(each.state == "ok" for each in found)


def sent_mails() -> int:
    with transaction() as session:
        sent = select(func.count()).where(OutboxEntry.sent_at.is_not(None))
        return session.scalar(sent) or 0
