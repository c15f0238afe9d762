"""Restrictions and cross-lists out of their files."""

from portal.catalog.restrictions import KINDS, LONGEST, RULES, kind_of, word
from portal.catalog.spellings import Unreadable, code_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester.sections import listed
from portal.exchange.importing.semester.semester import Section, Semester
from portal.exchange.importing.tables import Row

LEVEL = ("must_be", "level")


def read_restriction(row: Row, semester: Semester, report: Report) -> None:
    """Add the restriction of a row to its section, its value as the source has it."""
    section = semester.sections.get(row["crn"])
    if section is None:
        return report.note("orphan", row, "crn")
    rule, kind = word(row["rule"]), kind_of(row["kind"])
    if rule not in RULES:
        return report.note(
            "unreadable", row, "rule", stored_message(_k("Rules are must_be and may_not_be."))
        )
    if kind not in KINDS:
        return report.note(
            "unreadable",
            row,
            "kind",
            stored_message(_k("Kinds are %(kinds)s."), kinds=", ".join(sorted(KINDS))),
        )
    if not row["value"] or len(row["value"]) > LONGEST:
        return report.note("unreadable", row, "value")
    restriction = (rule, kind, row["value"])
    if restriction in section.restrictions:
        return report.note("duplicate", row, "value")
    section.restrictions[restriction] = None
    return None


def read_levels(section: Section, report: Report) -> None:
    """The levels column of a section is a restriction, unless restrictions.csv has its own."""
    levels = listed(section.row, "levels", LONGEST, report)
    stated = {value for rule, kind, value in section.restrictions if (rule, kind) == LEVEL}
    if stated and levels and stated != set(levels):
        report.note(
            "levels_disagree",
            section.row,
            "levels",
            stored_message(_k("Those of restrictions.csv count.")),
        )
    if not stated:
        section.restrictions |= dict.fromkeys((*LEVEL, level) for level in levels)


def read_cross_list(row: Row, semester: Semester, report: Report) -> None:
    """Add the other course under which a section is offered."""
    section = semester.sections.get(row["crn"])
    if section is None:
        return report.note("orphan", row, "crn")
    try:
        code = code_of(row["course_id"])
    except Unreadable as error:
        return report.note("unreadable", row, "course_id", error.stored)
    if code == section.course.code:
        return report.note("own_course", row, "course_id")
    if code in section.cross_lists:
        return report.note("duplicate", row, "course_id")
    other = semester.courses.get(code)
    if other is None or not other.taught:
        report.note("cross_list_not_offered", row, "course_id")
    section.cross_lists[code] = None
    return None


def note_unnamed(section: Section, report: Report) -> None:
    """Name a section that says that it has prerequisites, of which none are known."""
    if section.row["has_prereqs"].upper() in {"Y", "YES"} and not section.prerequisites:
        report.note("prerequisites_unnamed", section.row, "has_prereqs")
