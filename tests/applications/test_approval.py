"""What an approval does: through the ledger, once, with a receipt and the audit trail."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest
from rq.timeouts import JobTimeoutException, UnixSignalDeathPenalty
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from portal.applications import service
from portal.applications.models import Application
from portal.applications.service import ApplicationRefused
from portal.catalog import term_catalog
from portal.catalog.models import Restriction, Section
from portal.core.db import transaction
from portal.people.models import Account, CompletedCourse, Permission
from portal.recorder.consistency.audit import audit_term
from portal.recorder.receipt_texts import receipt_text
from portal.recorder.receipts import code, find
from portal.recorder.recorder import drain
from tests.applications.stories import (
    an_application,
    audit_actions,
    decider,
    has_seat,
    history,
    require,
    set_answer,
    steps,
    the,
)
from tests.audit_trail import entries
from tests.cast import Cast
from tests.notifications.stories import a_letter, set_section, told
from tests.registration.database_outage import settled
from tests.runtime.cluster.replicated_ledger import until


def approve(application: int, by: int, overrides: tuple[str, ...] = ()) -> str:
    return service.approve(application, decider(application, by), overrides).state


def pointless(application: int) -> str:
    """Return the code of why an approval would change nothing."""
    with transaction() as session:
        return service.pointless(session.get_one(Application, application))


def restrict(section: Section) -> None:
    """Restrict the section to a major that no student has."""
    with transaction() as session:
        session.add(
            Restriction(section_id=section.id, rule="must_be", kind="major", value="Alchemy")
        )
    set_section(section)
    term_catalog.expire(section.term_id)


def test_one_that_cant_be_carried_out_leaves_the_others(
    free: Section, held: Section, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    first = an_application("late_drop", cast.ada, held)
    second = an_application("late_add", cast.ben, free)
    with transaction() as session:  # as by processes that died with the answers
        for each, approval in ((first, {"broken": True}), (second, left(cast, second))):
            found = session.get_one(Application, each)
            found.state, found.stage, found.approval = "acting", 1, approval
    with pytest.raises(RuntimeError, match=str(first)):
        service.act_all()
    assert the(second).state == "approved"
    assert has_seat(cast.ben, free)
    assert f"Application {first}" in caplog.text


def test_the_time_limit_of_a_job_ends_it(free: Section, cast: Cast) -> None:
    asked, is_locked = left_over(free, cast), Event()

    def hold() -> None:
        """Keep it locked until the time is over."""
        with locked(asked):
            is_locked.set()
            until(lambda: not signal.getitimer(signal.ITIMER_REAL)[0])

    def work() -> None:
        with ThreadPoolExecutor(1) as pool, UnixSignalDeathPenalty(1, JobTimeoutException):
            pool.submit(hold)
            is_locked.wait()
            service.act_all()

    with pytest.raises(JobTimeoutException):
        work()
    assert the(asked).state == "acting"


def test_an_outage_of_postgresql_is_no_failure_of_an_application(free: Section, cast: Cast) -> None:
    asked = left_over(free, cast)
    with locked(asked), ThreadPoolExecutor(1) as pool:
        acting = pool.submit(service.act_all)
        until(lambda: bool(end_waiting()))
        with pytest.raises(OperationalError):
            acting.result(10)
    service.act_all()
    assert the(asked).state == "approved"


def left_over(section: Section, cast: Cast) -> int:
    """An approved application that was not carried out."""
    asked = an_application("late_add", cast.ada, section)
    with transaction() as session:
        found = session.get_one(Application, asked)
        found.state, found.stage, found.approval = "acting", 1, left(cast, asked)
    return asked


@contextmanager
def locked(application: int) -> Iterator[None]:
    """Another process works on the application."""
    with transaction() as session:
        session.get(Application, application, with_for_update=True)
        yield


def end_waiting() -> list[bool]:
    """End the connections that wait for a lock, as an end of PostgreSQL does."""
    waiting = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    with transaction() as session:
        return list(session.scalars(waiting))


def left(cast: Cast, application: int) -> dict[str, Any]:
    """An approval that was stored and not carried out."""
    facts = {"entry": application, "by": cast.max.id, "note": "Fine."}
    return {**facts, "overrides": [], "correlation": "tests"}


def test_a_late_add_gives_the_seat_after_the_window(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    assert approve(asked, cast.max.id) == "approved"
    assert has_seat(cast.ada, free)
    assert history(asked) == ["submit", "approve", "done"]


def test_a_late_drop_takes_the_seat(held: Section, cast: Cast) -> None:
    asked = an_application("late_drop", cast.ada, held)
    assert approve(asked, cast.max.id) == "approved"
    assert not has_seat(cast.ada, held)


def test_the_receipt_says_that_an_application_was_approved(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    approve(asked, cast.max.id)
    drain(free.term_id, seconds=0)
    receipt = find(code(free.term_id, the(asked).event or 0))
    assert receipt
    said = receipt_text(receipt).text
    assert said == "Your application was approved: you have a seat in MAT 1-02."


def test_a_withdrawal_leaves_its_mark_on_the_receipt(held: Section, cast: Cast) -> None:
    asked = an_application("withdrawal", cast.ada, held)
    approve(asked, cast.max.id)
    drain(held.term_id, seconds=0)
    receipt = find(code(held.term_id, the(asked).event or 0))
    assert receipt
    assert "Your record shows it as W." in receipt_text(receipt).text
    assert not has_seat(cast.ada, held)


def test_the_audit_trail_names_the_application(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    approve(asked, cast.max.id)
    drain(free.term_id, seconds=0)
    [entry] = entries("selection.add")
    assert entry.account_id == cast.max.id
    assert f"application:{asked}" in entry.subject
    assert entry.reason == "Fine."
    assert audit_actions()[-3:] == ["application.approve", "application.done", "selection.add"]


def test_ledger_and_record_agree_afterwards(held: Section, free: Section, cast: Cast) -> None:
    approve(an_application("late_add", cast.ada, free), cast.max.id)
    approve(an_application("withdrawal", cast.ada, held), cast.max.id)
    drain(free.term_id, seconds=0)
    assert audit_term(free.term_id)["clean"]


def test_the_student_is_notified_once_with_the_reason(free: Section, cast: Cast) -> None:
    approve(an_application("late_add", cast.ada, free), cast.max.id)
    drain(free.term_id, seconds=0)
    assert steps(cast.ada.account_id) == ["sent", "approved"]
    letter = a_letter()
    assert letter.to == "ada@u.example"
    assert letter.message["Subject"].startswith("Your application for MAT 1-02 is approved")


def test_a_permission_lifts_the_rules_that_were_asked_for(free: Section, cast: Cast) -> None:
    require(free)
    assert approve(an_application("permission", cast.ada, free), cast.max.id) == "approved"
    with transaction() as session:
        (given,) = session.scalars(select(Permission))
    assert (given.student_id, given.section_id) == (cast.ada.id, free.id)
    assert (given.waives, given.granted_by) == (["prerequisite"], cast.max.id)


def test_the_record_of_a_permission_names_the_application_once(free: Section, cast: Cast) -> None:
    require(free)
    asked = an_application("permission", cast.ada, free)
    approve(asked, cast.max.id)
    with transaction() as session:  # as by a process that died before it could say so
        found = session.get_one(Application, asked)
        found.state, found.approval = "acting", left(cast, asked)
    service.act(asked)
    with transaction() as session:
        (given,) = session.scalars(select(Permission))
    [entry] = entries("override.grant")
    about = [("student", cast.ada.id), ("section", free.id), ("override", given.id)]
    assert entry.subjects == [(kind, str(key)) for kind, key in [*about, ("application", asked)]]
    assert (entry.account_id, entry.reason, entry.before) == (cast.max.id, given.reason, None)
    assert entry.after
    assert entry.after["waives"] == ["prerequisite"]
    assert told(cast.ada).count("permitted") == 1
    assert the(asked).event is None  # a permission moves no seat
    assert not audit_term(free.term_id)["differences"]


def test_an_overload_needs_two_people(free: Section, cast: Cast, mia: Account) -> None:
    asked = an_application("credit_overload", cast.ada, free)
    assert approve(asked, cast.max.id) == "review"
    with pytest.raises(ApplicationRefused, match="same_person"):
        approve(asked, cast.max.id)
    assert approve(asked, mia.id) == "approved"
    assert history(asked) == ["submit", "forward", "approve", "done"]
    with transaction() as session:
        assert session.scalars(select(Permission)).one().waives == ["credit_limit"]


def test_no_one_decides_an_application_of_their_own(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    for decide in (service.ask_more, service.decline, service.approve):
        with pytest.raises(ApplicationRefused, match="own"):
            decide(asked, decider(asked, cast.ada.account_id or 0))
    assert the(asked).state == "review"


def test_a_full_section_refuses_and_the_application_returns(
    held: Section, cast: Cast, mia: Account
) -> None:
    asked = an_application("late_add", cast.ben, held)
    assert approve(asked, cast.max.id) == "review"
    assert history(asked) == ["submit", "approve", "refused"]
    assert not has_seat(cast.ben, held)
    assert approve(asked, mia.id, ("full",)) == "approved"
    assert has_seat(cast.ben, held)


def test_a_section_canceled_meanwhile_makes_it_pointless(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    set_section(free, status="CANCELED")
    with pytest.raises(ApplicationRefused, match="canceled"):
        approve(asked, cast.max.id)
    assert the(asked).state == "review"
    service.decline(asked, decider(asked, cast.max.id))
    assert the(asked).state == "declined"


def test_a_drop_of_a_seat_that_is_gone_is_pointless(held: Section, cast: Cast) -> None:
    first = an_application("late_drop", cast.ada, held)
    second = an_application("withdrawal", cast.ada, held)
    approve(first, cast.max.id)
    with pytest.raises(ApplicationRefused, match="no_seat"):
        approve(second, cast.max.id)


def test_a_prerequisite_that_was_passed_meanwhile_makes_it_pointless(
    free: Section, cast: Cast
) -> None:
    require(free)
    asked = an_application("permission", cast.ada, free)
    assert pointless(asked) == ""
    with transaction() as session:
        session.add(CompletedCourse(student_id=cast.ada.id, course_code="MAT-0"))
    settled()
    with pytest.raises(ApplicationRefused, match="met"):
        approve(asked, cast.max.id)
    assert the(asked).state == "review"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [(["prerequisite"], "met"), (["prerequisite", "time_conflict"], ""), (["restriction"], "")],
)
def test_a_rule_that_still_may_refuse_keeps_an_application_useful(
    free: Section, cast: Cast, rules: list[str], expected: str
) -> None:
    restrict(free)
    asked = an_application("permission", cast.ada, free)
    with transaction() as session:
        session.get_one(Application, asked).answers = {"waives": rules, "why": "I took it."}
    assert pointless(asked) == expected


def test_many_approvals_at_once_act_once(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    seen = decider(asked, cast.max.id)

    def press(_: int) -> str:
        try:
            return service.approve(asked, seen).state
        except ApplicationRefused as refused:
            return refused.code

    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(press, range(6)))
    assert said.count("approved") == 1
    assert set(said) <= {"approved", "decided", "changed"}
    drain(free.term_id, seconds=0)
    assert audit_actions().count("selection.add") == 1


def test_withdrawing_and_approving_at_once_ends_in_one_of_them(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    seen = decider(asked, cast.max.id)

    def press(action: str) -> bool:
        try:
            if action == "withdraw":
                service.withdraw(asked, cast.ada.account_id)
            else:
                service.approve(asked, seen)
        except ApplicationRefused:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(press, ["withdraw", "approve"]))
    assert sorted(done) == [False, True]
    assert has_seat(cast.ada, free) == (the(asked).state == "approved")


def test_a_decision_on_what_was_not_seen_is_refused(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    seen = decider(asked, cast.max.id)
    service.ask_more(asked, decider(asked, cast.max.id, "Which class did you miss?"))
    service.save(asked, cast.ada.account_id, {"missed": "One."})
    service.submit(asked, cast.ada.account_id)
    with pytest.raises(ApplicationRefused, match="changed"):
        service.approve(asked, seen)


def test_an_act_repeated_after_a_kill_takes_no_second_seat(free: Section, cast: Cast) -> None:
    asked = an_application("late_add", cast.ada, free)
    approve(asked, cast.max.id)
    before = the(asked)
    with transaction() as session:  # as if the process had died before it stored the answer
        found = session.get_one(type(before), asked)
        found.state, found.event = "acting", None
    service.act_all()
    assert (the(asked).state, the(asked).event) == ("approved", before.event)
    drain(free.term_id, seconds=0)
    assert audit_actions().count("selection.add") == 1


def test_a_permission_is_approved_in_part(free: Section, cast: Cast) -> None:
    require(free)
    asked = an_application("permission", cast.ada, free)
    set_answer(asked, waives=["prerequisite", "time_conflict"])
    done = service.approve(asked, decider(asked, cast.max.id), (), ["prerequisite", "nonsense"])
    assert done.state == "approved"
    with transaction() as session:
        (given,) = session.scalars(select(Permission))
    [trail] = entries("application.done")
    assert given.waives == ["prerequisite"]
    assert (trail.after or {})["waives"] == ["prerequisite"]
    letter = a_letter().message
    assert letter["Subject"] == "Your application for MAT 1-02 is approved in part"
    assert "These rules no longer apply to you: Prerequisites." in " ".join(
        str(letter.get_content()).split()
    )


@pytest.mark.parametrize("given", [[], ["nonsense"]])
def test_a_part_that_the_application_does_not_name_lifts_nothing(
    free: Section, cast: Cast, given: list[str]
) -> None:
    require(free)
    asked = an_application("permission", cast.ada, free)
    set_answer(asked, waives=["prerequisite", "time_conflict"])
    with pytest.raises(ApplicationRefused) as refused:
        service.approve(asked, decider(asked, cast.max.id), (), given)
    assert refused.value.code == "changed"
    assert (the(asked).state, the(asked).approval) == ("review", None)


def test_a_part_that_changes_nothing_is_refused(free: Section, cast: Cast) -> None:
    require(free)
    asked = an_application("permission", cast.ada, free)
    set_answer(asked, waives=["prerequisite", "restriction"])
    with pytest.raises(ApplicationRefused) as refused:
        service.approve(asked, decider(asked, cast.max.id), (), ["restriction"])
    assert refused.value.code == "met"
    assert (the(asked).state, the(asked).approval) == ("review", None)
    assert approve(asked, cast.max.id) == "approved"  # all of it
    with transaction() as session:
        (given,) = session.scalars(select(Permission))
    assert given.waives == ["prerequisite", "restriction"]
