"""What the forms about a student's record have in common: texts, days, reasons, the student."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar

from flask import abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.backend import backend
from portal.core.db import transaction
from portal.core.i18n import _
from portal.layout import go
from portal.people import records
from portal.people.records import HoldOn, Permit, Record

Row = TypeVar("Row", HoldOn, Permit)


def student(student_id: int) -> Record:
    """The student's record; 404 where there is none."""
    with transaction() as session:
        return records.find(session, student_id) or abort(404)


def one(rows: Iterable[Row], number: int) -> Row:
    """The row of that id; 404 where there is none."""
    return next((each for each in rows if each.id == number), None) or abort(404)


def back(student_id: int) -> ResponseReturnValue:
    """On to the student's page, once it is done."""
    return go(url_for("admin.records.show", student_id=student_id))


def ask(template: str, shown: Mapping[str, object], reading: Reading) -> ResponseReturnValue:
    """The page to confirm on that something is taken back, and to say why."""
    reason = request.form.get("reason", "")
    page = render_template(template, **shown, reading=reading, reason=reason)
    return page, 422 if reading.errors else 200


def take_back(
    template: str, shown: Mapping[str, object], student_id: int, act: Callable[[str], str]
) -> ResponseReturnValue:
    """Do it for the reason given, and say what `act` says of it; without one, ask again."""
    reading = Reading()
    why = read_reason(reading, request.form)
    if reading.errors:
        return ask(template, shown, reading)
    flash(act(why))
    return back(student_id)


def read_text(  # noqa: PLR0913  each is about the one field
    reading: Reading,
    form: Mapping[str, str],
    name: str,
    label: str,
    most: int,
    *,
    needed: bool = True,
) -> str:
    """A line of text, with what is wrong with it."""
    text = " ".join(form.get(name, "").replace("\0", "").split())
    if needed and not text:
        reading.wrong(name, _("%(field)s: say what it is.", field=label))
    if len(text) > most:
        reading.wrong(
            name, _("%(field)s: no more than %(most)s characters.", field=label, most=most)
        )
    return text


def read_day(
    reading: Reading, form: Mapping[str, str], name: str, label: str, *, after: bool = False
) -> datetime | None:
    """The beginning of a day in the institution's zone; None if blank.

    With `after` its end, which must not be over.
    """
    text = form.get(name, "").strip()
    if not text:
        return None
    try:
        day = date.fromisoformat(text) + timedelta(days=after)
        found = datetime.combine(day, time.min, backend().settings.zone).astimezone(UTC)
    except (ValueError, OverflowError):
        reading.wrong(name, _("%(field)s: give a day, such as 2030-11-23.", field=label))
        return None
    if after and found <= datetime.now(UTC):
        reading.wrong(name, _("%(field)s: that day is over already.", field=label))
    return found
