"""Test data with everything that pages can show, and the address of every page."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from itertools import islice, product
from typing import Any

from flask import Flask
from sqlalchemy import select, update
from werkzeug.routing import Rule

from portal.applications import documents
from portal.applications import service as applications
from portal.applications.kinds import KINDS
from portal.applications.models import ApplicationDocument
from portal.catalog.models import Instructor, Term
from portal.catalog.sections import STATUS_CHANGES
from portal.catalog.terms import STATE_CHANGES
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.instructor_requests import service
from portal.notifications.models import Notification
from portal.notifications.webhooks import receivers
from portal.notifications.webhooks.models import Delivery
from portal.notifications.webhooks.receivers import ChangedBy
from portal.people import tokens, visitors
from portal.people.models import Hold, Permission
from portal.people.tokens import TokenRequest
from portal.recorder.journal import last_seq
from portal.recorder.promotion import promote
from portal.recorder.receipts import code
from portal.recorder.recorder import drain
from portal.reports.models import ReportSubscription
from portal.web.admin.webhooks import CHANGES as WEBHOOK_CHANGES
from portal.web.admin.windows import ACTIONS
from portal.windows.rounds import database_now
from tests import cast as builders
from tests.applications.files import a_pdf
from tests.applications.stories import an_application, decider
from tests.cast import Cast, Meets
from tests.exchange.makers import a_mapping, an_export, an_import
from tests.rounds.builders import a_round
from tests.web.http.route_rules import rule_for
from tests.web.pages import address, press
from tests.web.student.plans import plan_section
from tests.web.visitors import browser_of

NO_PAGES = (
    *("static", "api.", "api_docs.", "calendar.", "health.", "live.", "oidc."),
    *("captcha.challenge", "login.challenge"),
)
STRICT = {"prerequisites": {"any": [{"course": "MAT-1"}, {"course": "MAT-2"}]}, "note": "Ñ"}

OF_FIRST_TERM = {"section_id", "application_id", "round_id"}
FAR = datetime(2040, 1, 1, tzinfo=UTC)

Values = dict[str, list[Any]]


def pages(app: Flask, values: Values) -> Iterator[str]:
    """Return every page, with each part of the story whose address it may have.

    A window stands with its own term, and what is in OF_FIRST_TERM with the first, where all is.
    """
    for route in _routes(app):
        yield from _filled(route, values)


def pages_of(app: Flask, values: Values, username: str) -> Iterator[str]:
    """Return the pages that someone may open, and one of each blueprint that they may not.

    The others that they may not open are the same error page again.
    """
    refused = set[str]()
    for route in _routes(app):
        blueprint, found = route.endpoint.partition(".")[0], _filled(route, values)
        if rule_for(f"GET {route.rule}").of(username) not in {"login", "no"}:
            yield from found
        elif blueprint not in refused:
            refused.add(blueprint)
            yield from islice(found, 1)


def _routes(app: Flask) -> Iterator[Rule]:
    for route in app.url_map.iter_rules():
        if "GET" in (route.methods or ()) and not route.endpoint.startswith(NO_PAGES):
            yield route


def a_story(app: Flask, cast: Cast) -> Values:
    """Create seats, positions, swaps, refusals, plans and promotions; return ids for addresses."""
    term = builders.a_term("Fall 2030")
    windows = [builders.an_open_window(term)]
    sections = _sections(term, cast)
    _happen(app, sections)
    tokens.create_for("ada", TokenRequest("a script"))
    promote(term.id, "tests")
    drain(term.id)
    others = [builders.a_term(name) for name in ("Fall 2031", "Fall 2032", "Fall 2033")]
    course = builders.a_course("MAT-1")
    for other in others:
        builders.a_section(course, other)
    windows += [builders.a_coming_window(others[0]), builders.an_ended_window(others[1])]
    last = last_seq(term.id)
    _decides(cast.iris)
    applied = _applied(cast, sections)
    return {
        "term_id": [each.id for each in (term, *others)],
        "section_id": [each.id for each in sections.values()],
        "window_id": [each.id for each in windows],
        "round_id": [_a_round(term)],
        "round_step": ["announce", "cancel"],
        "code": [*(code(term.id, seq) for seq in range(1, last + 1)), "nonsense"],
        "notice": _notices(),
        "action": list(ACTIONS),
        "state_change": list(STATE_CHANGES),
        "instructor_request_id": _asked(cast, sections),
        "application_id": applied,
        "document_id": _documents(),
        "kind": list(KINDS),
        "part": ["reason"],
        "link": ["nonsense"],
        "page": [0],
        "box": ["charge"],
        "letter": [1],
        "charge_id": [1],
        "entry_id": _entries(),
        "name": ["captcha", "mail"],
        "job": ["1-gone"],
        "queue": ["notify"],
        "which": ["all"],
        "records": ["course", "term"],
        "course_id": [course.id],
        "room_id": [builders.a_room("Hall 1").id],
        "number": [1],
        "act": ["delete"],
        "wanted": ["deactivate"],
        "remedy": ["retry", "discard"],
        "import_id": [an_import(cast.max)],
        "mapping_id": [a_mapping(cast.max)],
        "export_id": [an_export(cast.max)],
        "suffix": ["zip", "xlsx"],
        "change": list(STATUS_CHANGES),
        "control": ["pause", "off"],
        "mail_kind": ["promoted", "code"],
        "mail_language": ["es"],
        "draft": [1],
        "student_id": [cast.ada.id, cast.cleo.id],
        "account_id": [cast.ada.account_id, cast.max.id],
        "instructor_id": [cast.iris.id, cast.otto.id],
        "hold_id": [_held(cast)],
        "override_id": [_permitted(cast, sections["held"])],
        "webhook_id": [_told(cast)],
        "subscription_id": [_subscribed(cast, term)],
        "what": list(WEBHOOK_CHANGES),
        "token": [key.id for key in tokens.live_tokens(cast.ada.account_id)],
    }


def _sections(term: Term, cast: Cast) -> dict[str, Any]:
    morning = (
        Meets("MR", kind="LEC", room="Hall 1"),
        Meets("W", "14:00", "15:50", kind="LAB", dates=("2030-09-02", "2030-10-18")),
        Meets("F", "08:00", "09:50", clashes=False, kind="TES"),
    )
    made: dict[str, dict[str, Any]] = {
        "held": {"meetings": morning, "instructor": cast.iris},
        "full": {"capacity": 1},
        "freed": {"capacity": 1, "instructor": cast.iris},
        "clash": {"meetings": morning[:1], **STRICT},
        "canceled": {"status": "CANCELED"},
        "closed": {"status": "CONFIRMED"},
        "none": {"capacity": 0, "waitlist": 0},
        "range": {"credits_min": 1, "credits_max": 3, "corequisites": {"course": "CSC-1"}},
    }
    return {
        name: builders.a_section(builders.a_course(f"CSC-{number}"), term, **settings)
        for number, (name, settings) in enumerate(made.items(), 1)
    }


def _happen(app: Flask, sections: dict[str, Any]) -> None:
    ada, ben = browser_of(app, "ada"), browser_of(app, "ben")
    for name in ("full", "freed"):
        press(ben, sections[name], "pick")
    for name in ("held", "full", "freed", "clash", "none"):
        press(ada, sections[name], "pick", wait="1")
        ada.post(address(sections[name], "pick"))
    for name in ("range", "clash", "full"):
        plan_section(ada, sections[name])
    press(ben, sections["freed"], "drop")


def _asked(cast: Cast, sections: dict[str, Any]) -> list[int]:
    """Create a request of each kind by Iris."""
    iris, held = cast.iris.account_id or 0, sections["held"].id
    return [
        service.request_seats(held, 20, "So many wait.", iris),
        service.request_override(held, cast.dan.id, ["prerequisite"], "Knows it all.", iris),
    ]


def _decides(instructor: Instructor) -> None:
    """Let an instructor decide applications for the department of all courses."""
    department = builders.a_department().id
    values = {"department_id": department, "decides_for_id": department}
    with transaction() as session:
        changed = update(Instructor).where(Instructor.id == instructor.id)
        session.execute(changed.values(**values))
    visitors.forget(instructor.account_id or 0)


def _applied(cast: Cast, sections: dict[str, Any]) -> list[int]:
    """An application of Ada's that is in review, and others in the states that follow.

    The last one waits for the department.
    """
    clash, held, other = sections["clash"], sections["held"], sections["range"]
    found = [
        an_application("permission", cast.ada, clash, documents=[a_pdf()]),
        an_application("withdrawal", cast.ada, held),
        an_application("credit_overload", cast.ada, other),
        applications.start(KINDS["late_add"], cast.ada.account_id, other.term_id, other.id),
        an_application("credit_overload", cast.ada, clash),
    ]
    applications.ask_more(found[1], decider(found[1], cast.max.id))
    applications.decline(found[2], decider(found[2], cast.max.id))
    return found


def _documents() -> list[int]:
    """Checked documents of Ada's applications."""
    documents.check_due()
    with transaction() as session:
        return list(
            session.scalars(select(ApplicationDocument.id).order_by(ApplicationDocument.id))
        )


def _entries() -> list[int]:
    with transaction() as session:
        return list(session.scalars(select(AuditEntry.id).order_by(AuditEntry.id)))


def _told(cast: Cast) -> int:
    """Create a webhook with an undelivered test."""
    with transaction() as session:
        made = receivers.make(
            session, "https://x.example/", ["enrolled"], ChangedBy(cast.max.id, "a story")
        )
        session.add(Delivery(webhook_id=made.id, dead_at=FAR, error="410 Gone"))
    return made.id


def _a_round(term: Term) -> int:
    """Create a round that takes ballots once the window has closed."""
    begins = database_now() + 120 * builders.MINUTE
    return a_round(term, begins=begins, ends=begins + 60 * builders.MINUTE).id


def _held(cast: Cast) -> int:
    """Create a future hold of Ada's."""
    why = {"kind": "Library", "reason": "A book", "starts_at": FAR, "adviser_lifts": True}
    hold = Hold(student_id=cast.ada.id, **why)
    return int(builders.added(hold).id)


def _permitted(cast: Cast, section: Any) -> int:
    waives, why = ["prerequisite"], "Took it abroad."
    permit = Permission(student_id=cast.ada.id, section_id=section.id, waives=waives, reason=why)
    return int(builders.added(permit).id)


def _subscribed(cast: Cast, term: Term) -> int:
    """Let an admin get a report by mail."""
    found = ReportSubscription(account_id=cast.max.id, term_id=term.id, report="seats")
    found.days, found.at, found.next_at, found.result = "weekdays", time(8), FAR, ""
    return int(builders.added(found).id)


def _notices() -> list[int]:
    with transaction() as session:
        return list(session.scalars(select(Notification.id).order_by(Notification.id)))


def _filled(rule: Rule, values: Values) -> Iterator[str]:
    names = sorted(rule.arguments)
    for chosen in product(*(values[name] for name in names)):
        given = dict(zip(names, chosen, strict=True))
        terms = values["term_id"]
        term = given.get("term_id", terms[0])
        if OF_FIRST_TERM & given.keys() and term != terms[0]:
            continue
        if "window_id" in given and term != terms[values["window_id"].index(given["window_id"])]:
            continue
        if built := rule.build(given):
            yield built[1]
