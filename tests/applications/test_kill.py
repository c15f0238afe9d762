"""Workers of documents and approvals, the scheduler that calls them, and kill -9."""

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import select, text, update

from portal import backend as connections
from portal.applications import documents, fees, service
from portal.applications.models import Application, ApplicationEntry
from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.core.settings import Settings
from portal.people.models import Account
from portal.recorder.consistency.audit import audit_term
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from tests.applications.clamd import Handler, clamd
from tests.applications.files import a_pdf
from tests.applications.stories import (
    a_draft,
    a_visiting_application,
    an_application,
    audit_actions,
    charges,
    decider,
    has_seat,
    history,
    steps,
    the,
)
from tests.applications.stripe_api import SECRET, stripe_api
from tests.cast import Cast
from tests.recorder.processes import ready, running, wait_for

pytestmark = pytest.mark.slow

heard: list[float] = []


class Slow(Handler):
    """Takes a while, so that its client can be killed meanwhile."""

    def handle(self) -> None:
        heard.append(time.monotonic())
        if len(heard) == 1:
            time.sleep(20)
        else:
            super().handle()


def test_a_worker_killed_during_a_check_leaves_it_to_the_next(
    free: Section, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard.clear()
    with TemporaryDirectory() as folder, clamd(Path(folder), Slow) as address:
        monkeypatch.setenv("FAIRSEAT_CLAMD", address)
        draft = a_draft("permission", cast.ada, free)
        sent = documents.NewDocument("record", "letter.pdf", a_pdf())
        documents.add(draft, cast.ada.account_id, sent)
        service.submit(draft, cast.ada.account_id)
        with running(("worker", "documents"), ("scheduler",)) as (worker, _):
            ready("documents")
            wait_for(lambda: heard)
            worker.kill()
            worker.wait()
            assert _state(draft) == "waiting"
            with running(("worker", "documents")):
                wait_for(lambda: _state(draft) == "ok")
    assert len(heard) == 2


def test_the_scheduler_has_an_approval_carried_out_that_was_left(free: Section, cast: Cast) -> None:
    made = an_application("late_add", cast.ada, free)
    service.approve(made, decider(made, cast.max.id))
    drain(free.term_id, seconds=0)
    event = the(made).event
    left = {"state": "acting", "event": None}  # as by a process that died with the answer
    with transaction() as session:
        session.execute(update(Application).where(Application.id == made).values(left))
    with running(("worker", "background"), ("scheduler",)):
        wait_for(lambda: the(made).state == "approved")
    assert the(made).event == event
    assert has_seat(cast.ada, free)
    drain(free.term_id, seconds=0)
    assert audit_actions().count("selection.add") == 1


def test_a_worker_killed_after_the_ledger_decided_gives_the_seat_once(
    free: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ada, free)
    with transaction() as session:  # as by a process that died before it acted
        entry = ApplicationEntry(application_id=made, account_id=cast.max.id, action="approve")
        session.add(entry)
        session.flush()
        approval = {"entry": entry.id, "by": cast.max.id, "note": "Fine.", "overrides": []}
        left = {"state": "acting", "stage": 1, "approval": {**approval, "correlation": "tests"}}
        session.execute(update(Application).where(Application.id == made).values(left))
    with running(("worker", "background"), ("scheduler",)) as (worker, _):
        with transaction() as session:
            session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            # The worker can't store the outcome that it has from the ledger.
            session.execute(text("LOCK TABLE application_entries IN SHARE MODE"))
            wait_for(lambda: has_seat(cast.ada, free))
            worker.kill()
            worker.wait()
        assert the(made).state == "acting"
        with running(("worker", "background")):
            wait_for(lambda: the(made).state == "approved")
    drain(free.term_id, seconds=0)
    assert history(made) == ["submit", "approve", "done"]
    assert steps(cast.ada.account_id) == ["sent", "approved"]
    with transaction() as session:
        seats = select(LoggedEvent.seq).where(
            LoggedEvent.name == "enrolled", LoggedEvent.student_id == cast.ada.id
        )
        given = session.scalars(seats.where(LoggedEvent.payload["section"].as_integer() == free.id))
        assert given.all() == [the(made).event]
    assert audit_actions().count("selection.add") == 1
    assert not audit_term(free.term_id)["differences"]


def _state(draft: int) -> str:
    with transaction() as session:
        (found,) = session.get_one(Application, draft).documents
        return found.state


@pytest.mark.parametrize("call", ["open", "refund"])
def test_a_worker_killed_during_a_call_to_the_provider_doubles_nothing(
    free: Section,
    vera: Account,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
) -> None:
    with stripe_api() as stripe:
        monkeypatch.setenv("FAIRSEAT_PAYMENTS", "stripe")
        monkeypatch.setenv("FAIRSEAT_STRIPE_KEY", "sk_test_x")
        monkeypatch.setenv("FAIRSEAT_STRIPE_WEBHOOK_SECRET", SECRET)
        monkeypatch.setenv("FAIRSEAT_STRIPE_URL", stripe.url)
        fees.breaker.cache_clear()
        connections.use(replace(backend, settings=Settings.read()))
        made = a_visiting_application(vera, free.term_id, paid=False)
        if call == "open":
            stripe.fails = 500
            fees.pay(made, vera.id)
            stripe.fails = 0
        else:
            fees.pay(made, vera.id)
            stripe.pays("cs_1")
            fees.look(made, vera.id)
            service.withdraw(made, vera.id)
        stripe.hangs, before = 30.0, len(stripe.calls)
        with running(("worker", "charges"), ("scheduler",)) as (worker, _):
            wait_for(lambda: len(stripe.calls) > before)
            worker.kill()
            worker.wait()
            stripe.hangs = 0.0
            with running(("worker", "charges")):
                ended = {"open": "open", "refund": "refunded"}[call]
                wait_for(lambda: charges(made)[0].state == ended)
        assert len(stripe.calls) > before + 1  # it was asked again
        assert len(charges(made)) == len(stripe.sessions) == 1
        assert len(stripe.refunds) == (call == "refund")
