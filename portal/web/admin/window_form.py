"""The form for a new window: all errors are shown at once, and the input is kept."""

import re

from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage, MultiDict

from portal.catalog import cohort_names, formatting
from portal.catalog.local_time import LocalClock
from portal.core.i18n import _
from portal.web.admin.form_reading import Listed, Reading, check_order, read_time
from portal.windows import cohorts
from portal.windows.service import NewWindow

NAME_LENGTH = 120
SHOWN_UNKNOWN = 5
MOST_STUDENTS = 100_000  # in a list
LONGEST = 64  # of a student number as typed; real ones are shorter
OURS = ("csrf_token", "draft", "edit")


def typed(form: MultiDict[str, str], file: FileStorage | None) -> MultiDict[str, str]:
    """Return the form's input, with student numbers of an uploaded list after the typed ones."""
    kept = MultiDict((name, value) for name, value in form.items(multi=True) if name not in OURS)
    if file and file.filename:
        listed = "\n".join(_numbers(file.read()))
        kept["students"] = f"{form.get('students', '').rstrip()}\n{listed}".strip()
    return kept


def _numbers(content: bytes) -> list[str]:
    """Return the first column of a list saved by a spreadsheet; a heading has no digit."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    cells = (re.split(r"[,;\t]", line)[0] for line in text.replace("\0", "").splitlines())
    found = [cell for each in cells if (cell := each.strip().strip('"').strip())]
    return found[1:] if found and not re.search(r"\d", found[0]) else found


def read_plan(
    session: Session, form: MultiDict[str, str], clock: LocalClock, now: int
) -> tuple[NewWindow | None, Reading]:
    """Return the window in the form; None if anything is wrong."""
    reading = Reading()
    _read_name(reading, form)
    for name in ("opens", "closes"):
        read_time(reading, form, name, clock)
    check_order(reading, now)
    _read_cohort(session, reading, form)
    return (None, reading) if reading.errors else (NewWindow(**reading.values), reading)


def _read_name(reading: Reading, form: MultiDict[str, str]) -> None:
    name = " ".join(form.get("name", "").replace("\0", "").split())
    reading.values["name"] = name
    if not name:
        reading.wrong("name", _("Give the window a name that students will recognise."))
    if len(name) > NAME_LENGTH:
        reading.wrong("name", _("The name is longer than %(most)s characters.", most=NAME_LENGTH))


def _read_cohort(session: Session, reading: Reading, form: MultiDict[str, str]) -> None:
    reading.values["cohort"] = {}
    whom = form.get("whom")
    if whom not in {"everyone", "some"}:
        reading.wrong("whom", _("Choose whom the window is for."))
    if whom != "some":
        return
    cohort = read_some(session, reading, form)
    if not cohort and not reading.errors.keys() & set(cohort_names.KINDS):
        reading.wrong("whom", _("Choose at least one year, level, subject or student."))
    reading.values["cohort"] = cohort


def read_some(
    session: Session,
    reading: Reading,
    form: MultiDict[str, str],
    before: str = "",
    most: int = MOST_STUDENTS,
) -> cohorts.Cohort:
    """Return the cohort in the fields named `before` plus the kind; {} if nothing is chosen."""
    cohort: cohorts.Cohort = {}
    offered = cohorts.choices(session)
    for kind in ("years", "levels", "subjects"):
        chosen = set(form.getlist(f"{before}{kind}"))
        if unknown := sorted(chosen.difference(offered[kind])):
            reading.wrong(
                f"{before}{kind}",
                _("Not among those to choose from: %(names)s.", names=", ".join(unknown[:5])),
            )
        elif chosen:
            cohort[kind] = [name for name in offered[kind] if name in chosen]
    if numbers := _read_students(session, reading, form, f"{before}students", most):
        cohort["students"] = numbers
    return cohort


def _read_students(
    session: Session, reading: Reading, form: MultiDict[str, str], name: str, most: int
) -> list[str]:
    """Return the numbers of a list; unknown ones are an error only if all are unknown."""
    given = [each[:LONGEST] for each in re.findall(r"[^\s,;\0]+", form.get(name, ""))]
    numbers = sorted(set(given))
    if len(numbers) > most:
        reading.wrong(
            name,
            _(
                "These are %(count)s students, and a list takes %(most)s. Choose years, levels or"
                " majors instead, or make it several.",
                count=formatting.number(len(numbers)),
                most=formatting.number(most),
            ),
        )
        return numbers
    unknown = cohorts.unknown_students(session, numbers) if numbers else []
    if numbers and len(unknown) == len(numbers):
        shown = cohort_names.join_names(unknown, SHOWN_UNKNOWN)
        reading.wrong(name, _("No student has the number %(numbers)s.", numbers=shown))
    reading.listed = Listed(len(given), len(given) - len(numbers), unknown) if given else None
    return sorted(set(numbers) - set(unknown)) or numbers
