"""Rules of a semester's sections: restrictions.csv and prerequisites.json."""

import json
from typing import Any

from portal.catalog import restrictions
from portal.catalog.requisites import Tree, joined
from portal.catalog.restrictions import Restriction
from portal.catalog.spellings import Unreadable, code_of
from portal.core.i18n import _k
from portal.exchange.importing import tables
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.files import Files
from portal.exchange.importing.report import Report
from portal.exchange.importing.tables import Row

TREES = "prerequisites.json"
LONGEST_TREES = 2**26
JOINTS = {"and": "all", "or": "any", "solo": "all"}


def read_restriction(row: Row) -> Restriction | None:
    """Return the restriction of a row, its value as the file has it. Report an unreadable one."""
    rule, kind = restrictions.word(row["rule"]), restrictions.kind_of(row["kind"])
    if rule not in restrictions.RULES:
        row.note("unreadable", "rule", _k("Rules are must_be and may_not_be."))
    elif kind not in restrictions.KINDS:
        kinds = ", ".join(sorted(restrictions.KINDS))
        row.note("unreadable", "kind", _k("Kinds are %(kinds)s."), kinds=kinds)
    elif not row["value"] or len(row["value"]) > restrictions.LONGEST:
        row.note("unreadable", "value")
    else:
        return rule, kind, row["value"]
    return None


def requisites_by_section(files: Files, report: Report) -> dict[str, Any]:
    """Return the content of prerequisites.json: an entry by registration number."""
    if TREES not in files.names():
        return {}
    # Programs often write JSON as one line.
    encoding, _lines = tables.check_text(files, TREES, report, longest_line=LONGEST_TREES)
    with tables.open_text(files, TREES, encoding) as text:
        written = text.read(LONGEST_TREES)
    try:
        found = json.loads(written)
    except json.JSONDecodeError as error:
        raise ImportFailedError(
            _k("%(file)s, line %(line)s, column %(column)s: %(why)s."),
            file=TREES,
            line=error.lineno,
            column=error.colno,
            why=error.msg,
        ) from None
    except RecursionError:
        raise ImportFailedError(_k("%(file)s is nested too deeply."), file=TREES) from None
    except ValueError:
        text_ = _k("%(file)s contains a number that is too long.")
        raise ImportFailedError(text_, file=TREES) from None
    if not isinstance(found, dict):
        raise ImportFailedError(
            _k("%(file)s, line 1, column 1: expected an object by registration number."), file=TREES
        )
    if not tables.is_text(found):
        raise ImportFailedError(_k("%(file)s contains invalid characters."), file=TREES)
    return found


def read_requisites(row: Row, entry: Any) -> tuple[Tree | None, Tree | None]:
    """Return the trees of an entry; refuse both if one can't be read whole."""
    if not isinstance(entry, dict):
        row.note("no_tree", "", _k("Expected an object."))
        return None, None
    try:
        found = tree_of(entry.get("prerequisites")), tree_of(entry.get("corequisites"))
    except Unreadable as error:
        row.note("no_tree", "", error)
        return None, None
    except RecursionError:
        row.note("no_tree", "", _k("It is nested too deeply."))
        return None, None
    match entry.get("prerequisites"):
        case {"nested": [_], **others} if not others.get("solo"):  # no course of its own
            row.note("empty_group")
    return found


def tree_of(source: Any) -> Tree | None:
    """Return the tree of a node, or of a list of codes that must all be; None if it is empty."""
    if not source:
        return None
    match source:
        case str():
            return {"course": code_of(source)}
        case list():
            return joined("all", [tree_of(each) for each in source])
        case {"type": str(kind)} if kind.lower() in JOINTS:
            inner = []
            for part in ("solo", "nested"):
                listed = source.get(part) or []
                if not isinstance(listed, list):
                    raise Unreadable(_k("Its '%(part)s' is not a list."), part=part)
                inner += listed
            return joined(JOINTS[kind.lower()], [tree_of(each) for each in inner])
        case _:
            raise Unreadable(_k("'%(text)s' is not valid here."), text=str(source)[:60])
