"""Whatever an admin does leaves an entry: each act is done here, or says where it is tested."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from portal.catalog.deletion import KINDS as CATALOG_KINDS
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.core.flags import NAMES
from portal.core.queue import QUEUES
from portal.core.settings import ROOT
from tests.cast import Cast
from tests.web.http.all_routes import Values, a_values, routes
from tests.web.http.route_rules import MAIL_TEXT, SUBSCRIPTION
from tests.web.visitors import browser_of

Form = Callable[[Values], dict[str, Any]]

# How tests look into the trail.
TRAIL = re.compile(r"AuditEntry|\bentr(?:y|ies)\b")
# By the route of the act: what is sent, or the test that looks for the entry.
ACTS: dict[str, Form | str] = {
    "POST /admin/applications/<int:application_id>": "tests/applications/test_approval.py",
    "POST /admin/applications/<int:application_id>/documents/check": (
        "tests/applications/test_documents.py"
    ),
    "POST /admin/applications/<int:application_id>/refund": "tests/applications/test_privacy.py",
    "POST /admin/applications/retention": "tests/applications/test_privacy.py",
    "POST /admin/operations/applications/<any(document,charge):box>/<int:letter>/retry": (
        "tests/applications/test_privacy.py"
    ),
    "POST /admin/requests/<int:instructor_request_id>": lambda _: {
        "decision": "decline",
        "note": "No.",
    },
    "POST /admin/students/<int:student_id>/privacy": lambda _: {"private": "yes", "reason": "x"},
    "POST /admin/terms/<int:term_id>/windows": "tests/web/admin/windows/test_schedule.py",
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/"
    "<any(move,cancel,extend,close):action>": "tests/web/admin/windows/test_changes.py",
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/room": (
        "tests/web/admin/test_waiting_room.py"
    ),
    **{
        f"POST /admin/terms/<int:term_id>/windows/<int:window_id>/room/{view}": (
            "tests/web/admin/test_room_students.py"
        )
        for view in ("admit", "expire", "empty")
    },
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/room/"
    "<any(pause,resume,off,on,advice,back):control>": "tests/web/admin/test_waiting_room.py",
    **{
        f"POST {address}": "tests/notifications/test_report_mails.py"
        for address in (
            "/admin/report-subscriptions",
            *(f"{SUBSCRIPTION}/{act}" for act in ("edit", "end", "send")),
        )
    },
    **{
        f"POST /admin/terms/<int:term_id>/windows/<int:window_id>/room/{view}": (
            "tests/web/admin/test_draws.py"
        )
        for view in ("draw", "draw/value")
    },
    f"POST {MAIL_TEXT}": "tests/notifications/test_mail_texts.py",
    f"POST {MAIL_TEXT}/standard": "tests/notifications/test_mail_texts.py",
    "POST /admin/exports": "tests/exchange/test_exports.py",
    "POST /admin/imports": "tests/exchange/test_page.py",
    "POST /admin/imports/<int:import_id>/"
    "<any(apply,rest,past,overwrite,discard,again,enroll,resume):step>": (
        "tests/exchange/test_page.py"
    ),
    "POST /admin/imports/<int:import_id>/columns": "tests/exchange/test_columns.py",
    "POST /admin/imports/columns/<int:mapping_id>/delete": "tests/exchange/test_columns.py",
    "POST /admin/imports/<int:import_id>/end": "tests/exchange/test_enrollments_page.py",
    "POST /admin/operations/audits/<int:term_id>": "tests/web/admin/test_operations_audit.py",
    f"POST /admin/operations/flags/<any({','.join(NAMES)}):name>": (
        "tests/web/admin/test_operations_flags.py"
    ),
    f"POST /admin/catalog/<any({','.join(CATALOG_KINDS)}):records>/<int:number>"
    "/<any(delete,restore):act>": "tests/web/admin/test_catalog.py",
    f"POST /admin/operations/queues/<any({','.join(QUEUES)}):queue>": (
        "tests/operations/test_queues.py"
    ),
    "POST /admin/operations/jobs/<job>/<any(retry,discard):remedy>": (
        "tests/web/admin/test_dead_letters.py"
    ),
    "POST /admin/operations/mails/<which>/<any(retry,discard):remedy>": (
        "tests/notifications/test_operations_mails.py"
    ),
    "POST /admin/instructors/<int:instructor_id>/decider": (
        "tests/applications/test_department_deciders.py"
    ),
    **{
        f"POST /admin/accounts/<int:account_id>/{act}": "tests/web/admin/test_accounts.py"
        for act in ("<any(deactivate,activate):wanted>", "recovery", "unlock")
    },
    "POST /admin/accounts/new": "tests/web/admin/test_account_editing.py",
    "POST /admin/accounts/<int:account_id>/edit": "tests/web/admin/test_account_editing.py",
    "POST /admin/staff/<int:account_id>": "tests/web/admin/test_staff.py",
    **{
        f"POST /admin/instructors/{each}": "tests/web/admin/students/test_editing.py"
        for each in ("new", "<int:instructor_id>/edit", "<int:instructor_id>/delete")
    },
    "POST /admin/instructors/<int:instructor_id>/link": (
        "tests/web/admin/students/test_instructors.py"
    ),
    "POST /admin/instructors/<int:instructor_id>/unlink": (
        "tests/web/admin/students/test_instructors.py"
    ),
    "POST /admin/students/<int:student_id>/adviser": "tests/web/admin/test_adviser.py",
    "POST /admin/students/<int:student_id>/completed": "tests/web/admin/students/test_completed.py",
    "POST /admin/students/<int:student_id>/holds/new": "tests/web/admin/students/test_holds.py",
    "POST /admin/students/<int:student_id>/holds/<int:hold_id>/lift": (
        "tests/web/admin/students/test_holds.py"
    ),
    "POST /admin/students/<int:student_id>/holds/<int:hold_id>/take-back": (
        "tests/web/admin/test_adviser.py"
    ),
    "POST /admin/students/<int:student_id>/overrides/new": (
        "tests/web/admin/students/test_permissions.py"
    ),
    "POST /admin/students/<int:student_id>/overrides/<int:override_id>/revoke": (
        "tests/web/admin/students/test_permissions.py"
    ),
    "POST /admin/courses/new": "tests/web/admin/test_courses.py",
    "POST /admin/courses/<int:course_id>/edit": "tests/web/admin/test_courses.py",
    "POST /admin/students/<int:student_id>/view": "tests/web/admin/students/test_viewing.py",
    "POST /admin/viewing/stop": "tests/web/admin/students/test_viewing.py",
    "POST /admin/students/new": "tests/web/admin/students/test_editing.py",
    "POST /admin/students/<int:student_id>/edit": "tests/web/admin/students/test_editing.py",
    "POST /admin/terms/<int:term_id>/adjust": "tests/web/admin/students/test_adjustments.py",
    "POST /admin/terms/<int:term_id>/sections/several": "tests/web/admin/sections/test_several.py",
    "POST /admin/terms/<int:term_id>/rooms/<int:room_id>/seats": "tests/web/admin/test_rooms.py",
    "POST /admin/terms/<int:term_id>/underfilled": "tests/web/admin/students/test_underfilled.py",
    "POST /admin/terms/<int:term_id>/rules": "tests/web/admin/windows/test_term_rules.py",
    "POST /admin/terms/<int:term_id>/rules/bands": "tests/web/admin/windows/test_bands.py",
    "POST /admin/terms/new": "tests/web/admin/test_term_editing.py",
    "POST /admin/terms/<int:term_id>/edit": "tests/web/admin/test_term_editing.py",
    "POST /admin/terms/<int:term_id>/<any(publish,unpublish,archive,reopen):state_change>": (
        "tests/web/admin/test_term_editing.py"
    ),
    # It schedules windows like the form for one.
    "POST /admin/terms/<int:term_id>/windows/copy": "tests/web/admin/test_term_editing.py",
    "POST /admin/terms/<int:term_id>/sections/new": "tests/web/admin/sections/test_new.py",
    "POST /admin/terms/<int:term_id>/sections/<int:section_id>/edit": (
        "tests/web/admin/sections/test_edit.py"
    ),
    "POST /admin/terms/<int:term_id>/sections/<int:section_id>/share": (
        "tests/web/admin/sections/test_share.py"
    ),
    "POST /admin/terms/<int:term_id>/sections/<int:section_id>/"
    "<any(publish,unpublish,confirm,reopen,cancel,reoffer,delete,undelete):change>": (
        "tests/web/admin/sections/test_status.py"
    ),
    "POST /admin/terms/<int:term_id>/windows/drafts/<int:draft>": (
        "tests/web/admin/windows/test_schedule.py"
    ),
    "POST /admin/terms/<int:term_id>/rounds/new": "tests/web/admin/rounds/test_rounds.py",
    **{
        f"POST /admin/terms/<int:term_id>/rounds/<int:round_id>/{page}": (
            "tests/web/admin/rounds/test_rounds.py"
        )
        for page in ("edit", "end", "<any(announce,cancel,publish):round_step>")
    },
    **{
        f"POST /admin/terms/<int:term_id>/rounds/<int:round_id>/{page}": (
            "tests/web/admin/rounds/test_result.py"
        )
        for page in ("value", "trial")
    },
    "POST /admin/service-tokens": "tests/people/test_service_tokens.py",
    "POST /admin/service-tokens/<int:token>/revoke": "tests/people/test_service_tokens.py",
    "POST /admin/webhooks": "tests/notifications/webhooks/test_receivers_page.py",
    "POST /admin/webhooks/<int:webhook_id>/edit": (
        "tests/notifications/webhooks/test_receivers_page.py"
    ),
    "POST /admin/webhooks/<int:webhook_id>/test": (
        "tests/notifications/webhooks/test_receivers_page.py"
    ),
    "POST /admin/webhooks/<int:webhook_id>/<any(on,off,secret,delete):what>": (
        "tests/notifications/webhooks/test_receivers_page.py"
    ),
    "POST /admin/webhooks/<int:webhook_id>/deliveries/<which>/<any(retry,discard):remedy>": (
        "tests/notifications/webhooks/test_deliveries_page.py"
    ),
}


@pytest.fixture
def values(app: Flask, cast: Cast) -> Values:
    return a_values(app, cast)


def number() -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(AuditEntry)) or 0


def test_every_act_of_an_admin_is_accounted_for(app: Flask) -> None:
    found = {name for name, method, _ in routes(app) if " /admin" in name and method != "GET"}
    assert found == ACTS.keys(), "does it leave an entry in the audit trail?"


def test_those_done_here_leave_one(app: Flask, values: Values) -> None:
    admin = browser_of(app, "max")
    for name, method, route in routes(app):
        form = ACTS.get(name)
        if callable(form):
            before, built = number(), route.build({key: values[key] for key in route.arguments})
            assert built
            answer = admin.open(built[1], method=method, data=form(values))
            assert answer.status_code == 303, name
            assert number() > before, name


@pytest.mark.parametrize("place", sorted({each for each in ACTS.values() if isinstance(each, str)}))
def test_other_actions_are_covered_by_the_named_tests(place: str) -> None:
    assert TRAIL.search((Path(ROOT) / place).read_text())
