"""Class schedules as Banner writes them, in CSV and in workbooks."""

import csv
import zipfile
from collections import defaultdict
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


SENTENCES = {
    "level": "Levels",
    "major": "Majors",
    "classification": "Classifications",
    "field_of_study": "Fields of Study (Major, Minor, or Concentration)",
    "degree": "Degrees",
    "campus": "Campuses",
    "college": "Colleges",
}


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def banner_lines(folder: Path, between: str) -> Iterable[dict[str, str]]:
    """Yield a semester as a class schedule of Banner has it, with a sign between people."""
    texts: dict[str, str] = defaultdict(str)
    for each in _rows(folder, "restrictions.csv"):
        must = "Must be" if each["rule"] == "must_be" else "May not be"
        sentence = f"{must} enrolled in one of the following {SENTENCES[each['kind']]}:"
        if not texts[each["crn"]].endswith(sentence):
            texts[each["crn"]] += f"{sentence}\n"
        texts[each["crn"]] += f"      {each['value']}\n"
    meetings = defaultdict(list)
    for each in _rows(folder, "meetings.csv"):
        names = [name.strip() for name in each["instructors"].split("/") if name.strip()]
        first, last = (day[5:].replace("-", "/") for day in (each["date_start"], each["date_end"]))
        times = each["start_time"] or each["end_time"]
        meetings[each["crn"]].append(
            {
                "Days": each["days"],
                "Time": f"{each['start_time']}-{each['end_time']}" if times != "TBA" else "TBA",
                "Date (MM/DD)": f"{first}-{last}" if first else "",
                "Location": each.get("location", ""),
                "Instructor": between.join(
                    f"{name} (P)" if at == 0 else name for at, name in enumerate(names)
                ),
            }
        )
    for each in _rows(folder, "sections.csv"):
        subject, number = each["course_id"].rsplit("-", 1)
        line = {
            "CRN": each["crn"],
            "Subj": subject,
            "Crse": number,
            "Sec": each["section"],
            "Title": each["section_title"],
            "Cred": each["credits"],
            "Cap": each["capacity"],
            "Act": each["enrolled"],
            "Rem": each["remaining"],
            "Restrictions": texts[each["crn"]],
        }
        first_meeting, *others = meetings[each["crn"]] or [{}]
        yield line | first_meeting
        yield from others
