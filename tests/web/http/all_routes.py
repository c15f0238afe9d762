"""Every route of the portal, and a story to fill their addresses from, told of Ada's things."""

from collections.abc import Iterator
from typing import Any

from flask import Flask
from sqlalchemy import func, select
from werkzeug.routing import Rule as Route

from portal.calendar import feeds
from portal.catalog.models import Course
from portal.core.db import transaction
from portal.people import tokens
from portal.recorder.receipts import history
from portal.waiting_room import room
from tests.cast import Cast
from tests.web.all_pages import a_story

UNUSED = {"HEAD", "OPTIONS"}
Values = dict[str, Any]


def routes(app: Flask) -> Iterator[tuple[str, str, Route]]:
    """Every method of every route, such as `GET /login`, with its method and route."""
    for route in app.url_map.iter_rules():
        for method in sorted((route.methods or set()) - UNUSED):
            yield f"{method} {route.rule}", method, route


def address(route: Route, values: Values) -> str:
    """The route's address with the values that it has a place for."""
    built = route.build({name: values[name] for name in route.arguments})
    assert built
    return built[1]


def a_values(app: Flask, cast: Cast) -> Values:
    """What addresses may name, and of Ada's where it is somebody's."""
    story = a_story(app, cast)
    feeds.renew(cast.ada.id)
    feed = feeds.current(cast.ada.id)
    assert feed
    term, window = story["term_id"][0], story["window_id"][0]
    tokens.create(cast.ada.account_id, tokens.TokenRequest("tests"))
    return {
        "term_id": term,
        "semester_id": term,
        "section_id": story["section_id"][0],  # that Iris teaches, and Ada is in
        "window_id": window,
        "round_id": story["round_id"][0],
        "round_step": "announce",
        "request_id": room.enter(term, window, cast.ada.id).request,
        "entry_id": story["entry_id"][0],
        "instructor_request_id": story["instructor_request_id"][0],
        "token": tokens.live_tokens(cast.ada.account_id)[0].id,
        "import_id": story["import_id"][0],
        "mapping_id": story["mapping_id"][0],
        "export_id": story["export_id"][0],
        "suffix": "xlsx",
        "room_id": story["room_id"][0],
        "step": "again",
        "state_change": "archive",
        "change": "confirm",
        "code": history(cast.ada.id, term).receipts[0].code,
        "notice": min(story["notice"]),
        "action": "extend",
        "control": "pause",
        "mail_kind": "promoted",
        "mail_language": "es",
        "name": "captcha",
        "queue": "notify",
        "records": "course",
        "number": _a_course(),
        "course_id": _a_course(),
        "act": "delete",
        "job": "1-gone",
        "which": "all",
        "remedy": "retry",
        "draft": 1,
        "secret": feeds.secret(feed),
        "account_id": cast.ada.account_id,
        "wanted": "activate",
        "instructor_id": cast.iris.id,
        "student_id": cast.ada.id,
        "hold_id": story["hold_id"][0],
        "override_id": story["override_id"][0],
        "subscription_id": story["subscription_id"][0],
        "webhook_id": story["webhook_id"][0],
        "what": "off",
        "filename": "img/mark.svg",
        "application_id": story["application_id"][0],
        "kind": "late_add",
        "part": "reason",
        "link": "nonsense",
        "upload_id": 1,
        "page": 0,
        "box": "charge",
        "letter": 1,
        "charge_id": 1,
        "document_id": story["document_id"][0],
    }


def _a_course() -> int:
    with transaction() as session:
        return session.scalars(select(func.min(Course.id))).one()
