"""The form that begins an import."""

from datetime import date
from typing import BinaryIO, cast

from werkzeug.datastructures import FileStorage, MultiDict

from portal.admin.times import Reading
from portal.core.i18n import _
from portal.exchange.importing.import_jobs import MOST_FILES, File, bare_name
from portal.exchange.importing.models import LAYOUTS, Options
from portal.exchange.importing.semester.records import LONGEST_NAME

MOST_PLACES = 10_000
MOST_CREDITS = 200


def read_options(reading: Reading, form: MultiDict[str, str]) -> Options:
    """Return the chosen options, with defaults in place of wrong values."""
    layout = form.get("layout", "")
    if layout not in LAYOUTS:
        reading.wrong("layout", _("Choose the file format."))
        layout = LAYOUTS[0]
    semester = layout == "semester"
    return Options(
        layout=layout,
        term=_term(reading, form) if semester else "",
        update=True,
        past=form.get("past") == "yes" and not semester,
        remove=form.get("remove") == "yes",
        waitlist=_number(reading, form, "waitlist", 10, MOST_PLACES) if semester else 10,
        starts=_day(reading, form, "starts") if semester else None,
        ends=_day(reading, form, "ends") if semester else None,
        credit_limit=_number(reading, form, "credit_limit", 21, MOST_CREDITS) if semester else 21,
    )


def read_files(reading: Reading, sent: list[FileStorage]) -> list[File]:
    """Return the chosen files by their bare names."""
    files = [
        (bare_name(each.filename), cast("BinaryIO", each.stream)) for each in sent if each.filename
    ]
    names = [name for name, _stream in files]
    if not files:
        reading.wrong("files", _("Choose a zip, or the files."))
    elif len(files) > MOST_FILES:
        reading.wrong("files", _("Choose %(most)s files at most, or a zip.", most=MOST_FILES))
    elif len(set(names)) < len(names):
        reading.wrong("files", _("Two of the files have the same name."))
    return files


def _term(reading: Reading, form: MultiDict[str, str]) -> str:
    name = " ".join(form.get("term", "").split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        most = LONGEST_NAME
        reading.wrong("term", _("Give the term a name of %(most)s characters at most.", most=most))
        return ""
    return name


def _day(reading: Reading, form: MultiDict[str, str], name: str) -> date | None:
    text = form.get(name, "").strip()
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        reading.wrong(name, _("Give a day such as 2026-08-31, or leave it blank."))
        return None


def _number(reading: Reading, form: MultiDict[str, str], name: str, usual: int, most: int) -> int:
    text = form.get(name, "").strip() or str(usual)
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most:
        return int(text)
    reading.wrong(name, _("Give a whole number from 0 to %(most)s.", most=most))
    return usual
