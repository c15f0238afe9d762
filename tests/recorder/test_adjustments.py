"""Admin adjustments reach the record, the audit trail, the student and the open pages."""

from typing import Any

import pytest
from sqlalchemy import select

from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.ledger.types import Outcome
from portal.live.topics import student as pages_of
from portal.live.updates import Updates
from portal.notifications.models import Notification
from portal.people import permissions
from portal.people.models import Student
from portal.people.permissions import Target
from portal.people.student_profile import read_all
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.restore import restore
from portal.recorder.receipt_texts import receipt_text
from portal.recorder.receipts import history
from portal.recorder.recorder import drain
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment, Batch
from tests import cast as builders
from tests.cast import Cast
from tests.recorder.ledger_dump import dump
from tests.recorder.rush import Rush, claim


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    found = builders.a_term()
    builders.an_open_window(found)
    return found


def adjust(cast: Cast, term: Any, student: Student, **change: Any) -> Any:
    requested = Adjustment(term.id, student.id, **change)
    fields: dict[str, Any] = {"why": "a late request", "by": cast.max.id}
    return adjustments.adjust(requested, **fields, idempotency_key=None, correlation="tests")


def recorded(term: Any) -> None:
    drain(term.id, seconds=0)
    report = audit_term(term.id)
    assert report["clean"], report["differences"]


def rows(what: Any) -> list[Any]:
    with transaction() as session:
        return list(session.scalars(select(what).order_by(what.id)))


def headlines(student: Student) -> list[str]:
    with in_language("en"):
        return [receipt_text(each).text for each in history(student.id).receipts]


def test_addition_to_a_full_section_keeps_all_records_consistent(cast: Cast, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    assert adjust(cast, term, cast.ada, add=section.id).outcome == Outcome.REFUSED
    answer = adjust(cast, term, cast.ada, add=section.id, overrides=("full",))
    assert answer.outcome == Outcome.ENROLLED
    recorded(term)
    (entry,) = rows(AuditEntry)
    assert (entry.account_id, entry.action) == (cast.max.id, "selection.add")
    assert entry.subject == f"term:{term.id} section:{section.id} student:{cast.ada.id}"
    assert entry.after == {"section": section.id, "overrides": ["full"], "event": answer.seq}
    assert entry.reason == "a late request"


def test_move_is_reported_and_audited_once(cast: Cast, term: Any) -> None:
    old = builders.a_section(builders.a_course("CSC-1"), term)
    new = builders.a_section(builders.a_course("CSC-2"), term)
    adjust(cast, term, cast.ada, add=old.id)
    adjust(cast, term, cast.ada, add=new.id, drop=old.id)
    recorded(term)
    assert [each.action for each in rows(AuditEntry)] == ["selection.add", "selection.move"]
    moved = rows(AuditEntry)[-1]
    assert (moved.before["section"], moved.after["section"]) == (old.id, new.id)
    assert [each.kind for each in rows(Notification)] == ["by_hand", "by_hand"]
    assert headlines(cast.ada) == [
        f"The registrar moved you from CSC 1-{old.number} to CSC 2-{new.number}.",
        f"The registrar gave you a seat in CSC 1-{old.number}.",
    ]


def test_batch_of_swaps_has_one_move_each_and_the_ledger_can_be_restored(
    cast: Cast, term: Any
) -> None:
    course = builders.a_course("CSC-1")
    one, other = (builders.a_section(course, term, capacity=1) for _ in "12")
    adjust(cast, term, cast.ada, add=one.id)
    adjust(cast, term, cast.ben, add=other.id)
    changes = {
        "k1": Adjustment(term.id, cast.ada.id, add=other.id, drop=one.id),
        "k2": Adjustment(term.id, cast.ben.id, add=one.id, drop=other.id),
    }
    with transaction() as session:
        people = read_all(session, [cast.ada.id, cast.ben.id])
    adjustments.adjust_batch(Batch(term.id, changes, (), "a swap", cast.max.id, "tests"), people)
    recorded(term)
    assert [each.action for each in rows(AuditEntry)][2:] == ["selection.move"] * 2
    assert [each.kind for each in rows(Notification)] == ["by_hand"] * 4
    moved = f"The registrar moved you from CSC 1-{one.number} to CSC 1-{other.number}."
    assert headlines(cast.ada)[0] == moved
    before = dump(term.id)
    assert restore(term.id).report["clean"]
    assert dump(term.id) == before


def test_added_waiting_student_gets_one_notification_not_that_of_a_promotion(
    cast: Cast, term: Any
) -> None:
    section = builders.a_section(builders.a_course(credits=3), term, capacity=0)
    window = builders.an_open_window(term)
    rush = Rush(term.id, [section.id], [cast.ada.id], window.id)
    assert claim(rush, cast.ada.id, section.id).outcome == Outcome.WAITLISTED
    adjust(cast, term, cast.ada, add=section.id, overrides=("full",))
    adjust(cast, term, cast.ada, drop=section.id)
    recorded(term)
    assert [each.kind for each in rows(Notification)] == ["by_hand", "by_hand"]
    assert [each.action for each in rows(AuditEntry)] == ["selection.add", "selection.drop"]
    assert headlines(cast.ada)[0].startswith("The registrar dropped you from CSC 1100")


def test_unknown_actor_does_not_stop_the_recorder(cast: Cast, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    requested = Adjustment(term.id, cast.ada.id, add=section.id)
    adjustments.adjust(requested, why="x", by=10**9, idempotency_key=None, correlation="")
    recorded(term)
    assert rows(AuditEntry)[0].account_id is None


def test_preview_includes_the_rules_of_the_student_record(cast: Cast, term: Any) -> None:
    needs = {"prerequisites": {"course": "CSC-1"}}
    section = builders.a_section(builders.a_course("CSC-9"), term, **needs)
    requested = Adjustment(term.id, cast.ada.id, add=section.id)
    assert [reason.code for reason in adjustments.preview(requested)] == ["prerequisite"]
    assert adjust(cast, term, cast.ada, add=section.id).outcome == Outcome.REFUSED
    named = ("prerequisite",)
    assert adjust(cast, term, cast.ada, add=section.id, overrides=named).outcome == Outcome.ENROLLED


@pytest.mark.parametrize("why", ["", "  "])
def test_adjustment_needs_a_reason_and_a_section(cast: Cast, term: Any, why: str) -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        adjustments.adjust(
            Adjustment(term.id, cast.ada.id, 1), why=why, by=1, idempotency_key=None, correlation=""
        )
    with pytest.raises(ValueError, match="needs a section"):
        adjustments.preview(Adjustment(term.id, cast.ada.id))


def test_open_page_refreshes_and_shows_only_the_notification() -> None:
    heard = Updates()
    for name in ("enrolled", "promoted", "dropped"):
        heard.add_event(7, {"name": name, "section": 1, "student": 501, "cause": "adjust"})
    topic = pages_of(7, 501)
    (signal,) = heard.signals[topic].values()
    assert (signal.name, signal.detail["state"]) == ("own", "")
    assert not heard.student_events


def test_audit_trail_names_a_permission_that_counted(cast: Cast, term: Any) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, capacity=0, **needs)
    target = Target("ada", "Fall 2030", section.crn)
    permissions.grant_by_name(target, ["prerequisite"], "By the dean.", None)
    adjust(cast, term, cast.ada, add=section.id, overrides=("full", "prerequisite"))
    adjust(cast, term, cast.ben, add=section.id, overrides=("full", "prerequisite"))
    recorded(term)
    ada, ben = (each.after for each in rows(AuditEntry) if each.action == "selection.add")
    assert (ada["overrides"], ada["permitted"]) == (["full"], ["prerequisite"])
    assert ben["overrides"] == ["full", "prerequisite"]
    assert "permitted" not in ben
    text = "The registrar gave you a seat in CSC 1100-01."
    assert headlines(cast.ada) == [f"{text} Allowed by your permission: prerequisites."]
    assert headlines(cast.ben) == [text]
