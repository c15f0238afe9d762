"""Prerequisites and corequisites out of prerequisites.json, as trees of canonical codes."""

from typing import Any

from portal.catalog.requisites import Tree, joined
from portal.catalog.spellings import Unreadable, code_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester.files import TREES
from portal.exchange.importing.semester.semester import Semester
from portal.exchange.importing.tables import Row

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
        raise Unreadable(_k("It is no object."))
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
            inner = [*listed(source, "solo"), *listed(source, "nested")]
            return joined(JOINTS[kind.lower()], [tree_of(each) for each in inner])
        case _:
            raise Unreadable(_k("'%(text)s' is no part of a tree."), text=str(source)[:60])


def listed(node: Tree, key: str) -> list[Any]:
    """A list of a node; missing counts as empty."""
    found = node.get(key) or []
    if not isinstance(found, list):
        raise Unreadable(_k("Its '%(part)s' is no list."), part=key)
    return found
