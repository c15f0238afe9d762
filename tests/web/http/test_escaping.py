"""Names and titles are always text: in pages, fragments and calendars."""

import pytest
from flask import Flask
from icalendar import Calendar
from sqlalchemy import text

from portal.catalog import term_catalog
from portal.core.db import transaction
from portal.models import Base
from tests.cast import Cast
from tests.web.http.all_routes import Values, a_values, address, routes
from tests.web.visitors import browser_of

EVIL = "\"'><x-evil onclick=a>{{7*7}}</title></script><!--"
FOLDED = "A\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:evil"
# What people or imports may have written.
COLUMNS = (
    *("terms.name", "courses.title", "courses.description", "courses.offered", "sections.number"),
    *("subjects.name", "departments.name", "rooms.name", "instructors.name", "accounts.name"),
    *("sections.title", "sections.campus", "sections.method", "sections.kind", "meetings.kind"),
)
WAYS = ({}, {"HX-Request": "true"}, {"HX-Request": "true", "HX-Target": "dialog"})


@pytest.fixture
def values(app: Flask, cast: Cast) -> Values:
    return a_values(app, cast)


def test_names_and_titles_are_escaped(app: Flask, cast: Cast, values: Values) -> None:
    _rename(EVIL)
    shown = 0
    for username in ("ada", "iris", "max"):
        browser = browser_of(app, username)
        for _, method, route in routes(app):
            if method != "GET" or route.endpoint in {"static", "live.socket"}:
                continue
            for headers in WAYS:
                page = browser.get(address(route, values), headers=headers)
                if page.mimetype == "text/html":
                    assert "<x-evil" not in page.text, f"{username} at {page.request.path}"
                    shown += "&lt;x-evil" in page.text
                if page.status_code in {403, 404}:
                    break  # the same error page in every way
    assert shown > 20
    assert cast.ada


def test_names_and_titles_cannot_add_calendar_entries(
    app: Flask, cast: Cast, values: Values
) -> None:
    before = _events(app, values)
    _rename(FOLDED)
    after = _events(app, values)
    assert len(after) == len(before) > 0
    assert not [event for event in after if str(event["summary"]) == "evil"]
    assert cast.ada


def _rename(name: str) -> None:
    """Give every column that text, or as much of it as it holds, and each row its own."""
    with transaction() as session:
        for column in COLUMNS:
            table, _, field = column.partition(".")
            most = getattr(Base.metadata.tables[table].c[field].type, "length", None) or 1000
            session.execute(
                text(f"UPDATE {table} SET {field} = left(ctid::text || :name, :most)"),  # noqa: S608
                {"name": name, "most": most},
            )
        session.execute(text("UPDATE terms SET catalog_version = catalog_version + 1"))
    term_catalog.forget()


def _events(app: Flask, values: Values) -> list[object]:
    feed = app.test_client().get(f"/calendar/{values['secret']}.ics")
    return list(Calendar.from_ical(feed.get_data(as_text=True)).walk("VEVENT"))
