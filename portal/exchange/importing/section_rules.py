"""Rules of a semester's sections: restrictions and prerequisites, as files have them."""

import json
import re
from typing import Any, NamedTuple

from portal.catalog import grades, restrictions
from portal.catalog.requisites import Tree, joined, leaves, split_grade
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


class ValueList(NamedTuple):
    """A text after a sentence that may be one value, several, or none but a sentence itself.

    `column` of `row` has it.
    """

    row: Row
    column: str
    rule: str
    kind: str
    written: str


# The restrictions of a row. Each part that is not understood is reported, and is None here.
Restrictions = list[Restriction | None]


def read_restrictions(row: Row, lists: list[ValueList]) -> Restrictions:
    """Return the restrictions of a row of restrictions.csv."""
    if (start := _START.match(row["rule"])) and _HEAD.match(f"{row['rule']}:", start.end()):
        return restrictions_of(row, f"{row['rule']}: {row['value']}", "rule", lists)
    rule, kind = restrictions.stored_name(row["rule"]), restrictions.kind_of(row["kind"])
    if rule not in restrictions.RULES:
        row.note("unreadable", "rule", _k("Rules are must_be and may_not_be."))
    elif kind not in restrictions.KINDS:
        kinds = ", ".join(sorted(restrictions.KINDS))
        row.note("unreadable", "kind", _k("Kinds are %(kinds)s."), kinds=kinds)
    elif not row["value"] or len(row["value"]) > restrictions.LONGEST:
        row.note("unreadable", "value")
    else:
        return [(rule, kind, row["value"])]
    return [None]


# As Banner writes them, each with its values after it, one a line:
# "Must be enrolled in one of the following Fields of Study (Major, Minor, or Concentration):".
# Or as the pages of the portal do: "must be level: Graduate".
_START = re.compile(
    r"\b(?P<rule>must not|may not|can ?not|must|may only)\s{1,5}be\b", re.IGNORECASE
)
_HEAD = re.compile(
    r"(?:[^:]{0,80}?\bfollowing)?\s{1,5}(?P<kind>[^:(]{1,60}?)\s{0,5}(?:\([^:)]{0,80}\)\s{0,5})?:",
    re.IGNORECASE,
)
_LONGEST_TEXT = 20_000  # characters of all sentences
_MUST = {"must", "may only"}
_MOST_JOINED = 8  # parts of a value with commas
_WORDS = r"(?:and/or|and|or)"
_BREAK = re.compile(rf"(,? {_WORDS} |(?:, | )?[/|&] ?|, )", re.IGNORECASE)
_DOUBT = re.compile(r" [-–—] |\.(?: |$)")  # never splits
_SENTENCE = re.compile(
    r"\b(?:all|approval|consent|except|must|only|permission|required?|unless)\b", re.IGNORECASE
)
_COMMAS = re.compile(r"\s*,[\s,]*")
_AFTER_CODE = re.compile(rf"(?<=\))(?:,? {_WORDS} |, )", re.IGNORECASE)
_CONSENT = re.compile(
    r"(^|\s\s|\n|[.;:] )"
    r"(?:instructor(?:['’]?s)? (?:permission|consent|approval)"
    r"|(?:permission|consent|approval) of (?:the )?instructor)(?: is)?(?: required)?"
    r"(?:\.(?!\S)|(?=;|\s\s|\n|\s?$))",
    re.IGNORECASE,
)
_CODE_AFTER = re.compile(r"\s+\([A-Z0-9&_-]{1,12}\)$")  # "Undergraduate (UG)"


def without_consent(text: str) -> tuple[str, bool]:
    """Return sentences without those that ask for an instructor's consent; whether there are any.

    Each stands alone on a line or between full stops, semicolons or wide gaps.
    """
    found, count = _CONSENT.subn(r"\1  ", text)
    return (found, True) if count else (text, False)


def restrictions_of(row: Row, text: str, column: str, lists: list[ValueList]) -> Restrictions:
    """Return the restrictions of Banner's sentences.

    Those that only others of their kind can tell apart are added to `lists`.
    """
    read: Restrictions = []

    def unclear(part: str) -> None:
        if quoted := " ".join(part.split())[: tables.LONGEST_VALUE]:
            row.note("restriction_unclear", column, _k("“%(text)s”"), text=quoted)
            read.append(None)

    starts = list(_START.finditer(text)) if len(text) <= _LONGEST_TEXT else []
    ends = [each.start() for each in starts[1:]] + [len(text)]
    unclear(text[: starts[0].start() if starts else None])
    for start, end in zip(starts, ends, strict=False):
        head = _HEAD.match(text, start.end(), end)
        kind = restrictions.kind_of(head["kind"]) if head else ""
        values = _values(text[head.end() : end]) if head else []
        if kind not in restrictions.KINDS or not values:
            unclear(text[start.start() : end])
            continue
        rule = "must_be" if start["rule"].lower() in _MUST else "may_not_be"
        for value, in_doubt in values:
            if ":" in value:  # another kind of sentence
                unclear(value)
            elif in_doubt:
                lists.append(ValueList(row, column, rule, kind, value))
            elif len(value) > restrictions.LONGEST:
                unclear(value)
            else:
                read.append((rule, kind, value))
    return read


def settled(found: ValueList, known: set[str]) -> tuple[Restrictions, bool]:
    """Return the restrictions of a text, and whether it may be several values but is read as one.

    It is one value if that is known, else several if only one reading has nothing but known
    values. `known` has them without capitals. A sentence or a long text is no value otherwise.
    A new name such as "Civil & Mining Engineering" is one value, unless a part of it is known.
    """
    written = found.written
    bare = written.rstrip(" .")
    whole = next((each for each in (written, bare) if each.casefold() in known), None)
    pieces = _BREAK.split(bare)
    values = [whole] if whole else _known_values(pieces, known)
    if values is None and (_SENTENCE.search(written) or len(written) > restrictions.LONGEST):
        text = written[: tables.LONGEST_VALUE]
        found.row.note("restriction_unclear", found.column, _k("“%(text)s”"), text=text)
        return [None], False
    in_doubt = values is None and not (
        all(each.strip().casefold() in {"and", "&"} for each in pieces[1::2])
        and not known & {each.casefold() for each in pieces[::2]}
        and not _DOUBT.search(written)
    )
    return [(found.rule, found.kind, each) for each in values or [written]], in_doubt


def note_doubts(lists: list[ValueList]) -> None:
    """Report the same text that is read as one value, once."""
    text = lists[0].written
    parts = [part for each in _BREAK.split(text)[::2] for part in _DOUBT.split(each) if part]
    values = "; ".join(f"“{each}”" for each in parts)
    several = _k(
        "Read as one value: “%(text)s”. It may also be several: %(values)s. Rows: %(count)s."
    )
    lists[0].row.note(
        "restriction_commas",
        lists[0].column,
        several if len(parts) > 1 else _k("Read as one value: “%(text)s”. Rows: %(count)s."),
        text=text[: tables.LONGEST_VALUE],
        values=values[: tables.LONGEST_VALUE],
        count=f"{len(lists):,}",
    )


def _known_values(pieces: list[str], known: set[str]) -> list[str] | None:
    """Return the only way to join parts so that each value is known; None if there is no one.

    Every second piece is what stands between two parts.
    """
    parts = pieces[::2]
    ways = [0] * len(parts) + [1]  # to join what follows each part: none, one, or 2 for several
    value_at: dict[int, tuple[str, int]] = {}  # and where the next one begins
    for at in reversed(range(len(parts))):
        for end in range(at + 1, min(len(parts), at + _MOST_JOINED) + 1):
            value = "".join(pieces[2 * at : 2 * end - 1])
            if ways[end] and value.casefold() in known:
                ways[at] = min(2, ways[at] + ways[end])
                value_at[at] = value, end
    if ways[0] != 1:
        return None
    found, at = [], 0
    while at < len(parts):
        value, at = value_at[at]
        found.append(value)
    return found


def _values(text: str) -> list[tuple[str, bool]]:
    """Return the values after a sentence: a line each, or with wide gaps or semicolons.

    And whether each may be several values or a sentence. A code after it leaves no doubt.
    """
    gap = r"\n" if "\n" in text.rstrip() else r"\s{2,}"
    found = [part for each in re.split(f"{gap}|;", text) for part in _coded_values(each)]
    return [
        (_CODE_AFTER.sub("", part), not _CODE_AFTER.search(part) and not is_plain(part))
        for part in found
    ]


def is_plain(text: str) -> bool:
    """Return whether a text can only be one value: it has no separators and is no sentence."""
    return not any(each.search(text) for each in (_BREAK, _DOUBT, _SENTENCE))


def _coded_values(text: str) -> list[str]:
    """Return the values between separators if a code follows each, else the text as one."""
    whole = _COMMAS.sub(", ", " ".join(text.split())).strip(" ,")
    parts = _AFTER_CODE.split(whole)
    return parts if all(map(_CODE_AFTER.search, parts)) else [whole] if whole else []


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


def read_requisites(row: Row, entry: Any) -> dict[str, Tree | None] | None:
    """Return the trees of an entry by its keys; refuse it if one can't be read whole."""
    if not isinstance(entry, dict):
        row.note("no_tree", "", _k("Expected an object."))
        return None
    keys = [key for key in ("prerequisites", "corequisites") if key in entry]
    try:
        found = {key: tree_of(entry[key]) for key in keys}
    except Unreadable as error:
        row.note("no_tree", "", error)
        return None
    except RecursionError:
        row.note("no_tree", "", _k("It is nested too deeply."))
        return None
    if any("grade" in leaf for leaf in leaves(found.get("corequisites"))):
        row.note("no_tree", "", _k("A corequisite can’t have a minimum grade."))
        return None
    match entry.get("prerequisites"):
        case {"nested": [_], **others} if not others.get("solo"):  # no course of its own
            row.note("empty_group")
    return found


def tree_of(source: Any) -> Tree | None:
    """Return the tree of a node, or of a list of codes that must all be; None if it is empty.

    A code may have a minimum grade: `MAT-1010 with C`.
    """
    if not source:
        return None
    match source:
        case str():
            return _course(source)
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


def _course(written: str) -> Tree:
    """Return the course of a code with or without a minimum grade."""
    text, minimum = split_grade(written)
    course = {"course": code_of(text)}
    if not minimum:
        return course
    grade = grades.known(minimum)
    if grade is None:
        raise Unreadable(_k("'%(text)s' is none of the portal’s grades."), text=minimum)
    return course | {"grade": grade}
