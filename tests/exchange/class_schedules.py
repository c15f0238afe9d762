"""Class schedules as Banner writes them, in CSV and in workbooks."""

import csv
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl

HEADINGS = (
    *("CRN", "Subj", "Crse", "Sec", "Title", "Cred", "Cap", "Act", "Rem", "WL Cap"),
    *("Days", "Time", "Date (MM/DD)", "Location", "Instructor", "Restrictions"),
)
ALGORITHMS = {
    "CRN": "20551",
    "Subj": "ED-D",
    "Crse": "301",
    "Sec": "A01",
    "Title": "Algorithms",
    "Cred": "1.5",
    "Cap": "120",
    "Act": "118",
    "Rem": "2",
    "WL Cap": "50",
    "Days": "TWF",
    "Time": "02:30 pm-03:20 pm",
    "Date (MM/DD)": "01/06-04/30",
    "Location": "Elliott 167",
    "Instructor": "Ada Byron (P), Ben Roe",
}
LAB = {"Days": "M", "Time": "10:00 am-11:20 am", "Date (MM/DD)": "01/06-04/30"}
Line = Mapping[str, object]


def write_csv(
    folder: Path, lines: Iterable[Line], *titles: str, headings: Sequence[str] = HEADINGS
) -> Path:
    """Return the folder, with the schedule in it below some titles."""
    with (folder / "schedule.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerows([title] for title in titles)
        writer.writerow(headings)
        writer.writerows([line.get(each, "") for each in headings] for line in lines)
    return folder


def write_xlsx(folder: Path, lines: Iterable[Line]) -> Path:
    """Return the path of a workbook with one sheet."""
    book = openpyxl.Workbook()
    for row in (HEADINGS, *([line.get(each) for each in HEADINGS] for line in lines)):
        book.active.append(row)
    path = folder / "Class Schedule.xlsx"
    book.save(path)
    return path


def write_ods(folder: Path, sheets: Mapping[str, Iterable[Iterable[str]]]) -> Path:
    """A workbook of LibreOffice, with nothing but texts."""
    tables = "".join(
        f'<table:table table:name="{name}">'
        + "".join(f"<table:table-row>{''.join(map(_cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content{names}>'
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(folder / "semester.ods", "w") as packed:
        packed.writestr("mimetype", kind)
        packed.writestr(
            "META-INF/manifest.xml",
            "<manifest:manifest xmlns:manifest="
            '"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
            "</manifest:manifest>",
        )
        packed.writestr("content.xml", content)
    return folder


def _cell(text: str) -> str:
    return (
        f'<table:table-cell office:value-type="string"><text:p>{escape(text)}</text:p>'
        "</table:table-cell>"
    )
