"""Restrictions and cross-lists out of their files."""

from typing import Any

from portal.catalog.requisites import Tree, joined
from portal.catalog.restrictions import KINDS, LONGEST, RULES, kind_of, word
from portal.catalog.spellings import Unreadable, code_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester.model import TREES, Section, Semester
from portal.exchange.importing.semester.sections import listed
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
            stored_message(_k("The levels of restrictions.csv are used.")),
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
    """Report a section that has prerequisites which the files don't name."""
    if section.row["has_prereqs"].upper() in {"Y", "YES"} and not section.prerequisites:
        report.note("prerequisites_unnamed", section.row, "has_prereqs")


# Prerequisites and corequisites out of prerequisites.json, as trees of canonical codes.

JOINTS = {"and": "all", "or": "any", "solo": "all"}


def read_entry(crn: str, entry: Any, semester: Semester, report: Report) -> None:
    """Give a section its trees; one that can't be read whole is refused whole."""
    row = Row(TREES, 0, {"crn": crn})
    section = semester.sections.get(crn)
    if section is None:
        return report.note("orphan", row, "crn")
    try:
        section.prerequisites, section.corequisites = trees_of(entry)
    except Unreadable as error:
        return report.note("no_tree", row, "", error.stored)
    except RecursionError:
        return report.note("no_tree", row, "", stored_message(_k("It is too deep.")))
    if is_wrapper(entry.get("prerequisites")):
        report.note("empty_group", row)
    return None


def trees_of(entry: Any) -> tuple[Tree | None, Tree | None]:
    """Prerequisites and corequisites of an entry; raises Unreadable."""
    if not isinstance(entry, dict):
        raise Unreadable(_k("It is not an object."))
    return tree_of(entry.get("prerequisites")), tree_of(entry.get("corequisites"))


def is_wrapper(node: Any) -> bool:
    """Whether a node holds no course of its own, but one other node."""
    return isinstance(node, dict) and not node.get("solo") and len(node.get("nested") or ()) == 1


def tree_of(source: Any) -> Tree | None:
    """The tree of a source node, or of a list of codes that must all be; None where empty."""
    if not source:
        return None
    match source:
        case str():
            return {"course": code_of(source)}
        case list():
            return joined("all", [tree_of(each) for each in source])
        case {"type": str(kind)} if kind.lower() in JOINTS:
            inner = [*_nodes(source, "solo"), *_nodes(source, "nested")]
            return joined(JOINTS[kind.lower()], [tree_of(each) for each in inner])
        case _:
            raise Unreadable(_k("'%(text)s' is not part of a tree."), text=str(source)[:60])


def _nodes(node: Tree, key: str) -> list[Any]:
    """A list of a node; missing counts as empty."""
    found = node.get(key) or []
    if not isinstance(found, list):
        raise Unreadable(_k("Its '%(part)s' is not a list."), part=key)
    return found
