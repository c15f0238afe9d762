"""The form for a new window: read in full, every error at once, the input kept."""

import re

from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.admin.times import Reading, check_order, read_time
from portal.windows import cohorts
from portal.windows.localtime import Clockface
from portal.windows.schedule import Plan
from portal.words import _

NAME_LENGTH = 120
SHOWN_UNKNOWN = 5


def read_plan(
    session: Session, form: MultiDict[str, str], clock: Clockface, now: int
) -> tuple[Plan | None, Reading]:
    """The window that the form describes, None while anything is wrong with it."""
    reading = Reading()
    _read_name(reading, form)
    for name in ("opens", "closes"):
        read_time(reading, form, name, clock)
    check_order(reading, now)
    _read_cohort(session, reading, form)
    return (None, reading) if reading.errors else (Plan(**reading.values), reading)


def _read_name(reading: Reading, form: MultiDict[str, str]) -> None:
    name = " ".join(form.get("name", "").replace("\0", "").split())
    reading.values["name"] = name
    if not name:
        reading.wrong("name", _("Give the window a name that students will recognise."))
    if len(name) > NAME_LENGTH:
        reading.wrong("name", _("The name is longer than %(most)s characters.", most=NAME_LENGTH))


def _read_cohort(session: Session, reading: Reading, form: MultiDict[str, str]) -> None:
    cohort: cohorts.Cohort = {}
    reading.values["cohort"] = cohort
    whom = form.get("whom")
    if whom not in {"everyone", "some"}:
        reading.wrong("whom", _("Choose whom the window is for."))
    if whom != "some":
        return
    offered = cohorts.choices(session)
    for kind in ("years", "levels", "subjects"):
        chosen = sorted(set(form.getlist(kind)))
        if unknown := [name for name in chosen if name not in offered[kind]]:
            reading.wrong(
                kind, _("Not among those to choose from: %(names)s.", names=", ".join(unknown[:5]))
            )
        elif chosen:
            cohort[kind] = chosen
    _read_students(session, reading, cohort, form.get("students", ""))
    if not cohort and not reading.errors.keys() & set(cohorts.KINDS):
        reading.wrong("whom", _("Choose at least one year, level, subject or student."))


def _read_students(session: Session, reading: Reading, cohort: cohorts.Cohort, text: str) -> None:
    numbers = sorted(set(re.findall(r"[^\s,;\0]+", text)))
    if not numbers:
        return
    cohort["students"] = numbers
    if unknown := cohorts.unknown_students(session, numbers):
        shown = cohorts.listed(unknown, SHOWN_UNKNOWN)
        reading.wrong("students", _("No student has the number %(numbers)s.", numbers=shown))
