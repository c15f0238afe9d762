"""Prerequisites and corequisites: trees of courses, and how people write them.

A tree is {"course": code} | {"course": code, "grade": minimum} | {"all": [node, …]} |
{"any": [node, …]}, and is written as `CSCI-1100 with C and (MATH-1010 or MATH-1020)`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from portal.catalog import grades
from portal.catalog.spellings import Unclear, Unreadable, code_of
from portal.core.i18n import _
from portal.core.settings import LONGEST_GRADE, NOT_IN_GRADES

Tree = Mapping[str, Any]

LONGEST = 2000  # characters of a text
DEEPEST = 20
JOINTS = {"and": "all", "y": "all", "or": "any", "o": "any"}
WRITTEN = {"all": " and ", "any": " or "}
TOKENS = re.compile(r"[()]|[^\s()]+")
# A minimum grade after a course, in these spellings: "with C", "with a grade of C or better",
# "(minimum grade of C)", "Minimum Grade of C", "min. grade: C", "(C or higher)".
# The "a" in "with A and" is no article, and CON in "BIO-1 and CON 2" is no Spanish "with".
MINIMUM_GRADE = re.compile(
    r"""
    (?P<open>\()? [,;]? \s*
    (?:
        \b(?:with|(?<=[\w,]\s)(?<!\band\s)(?<!\bor\s)(?<!\by\s)(?<!\bo\s)con|(?<=\()con(?!\s\d))\s
        (?:(?:an?|una)\s(?!JOINT))? (?:min(?:imum|\.)?\s)? (?:letter\s)?
        (?:(?:grade|nota)\s)? (?:mínima\s)? (?:(?:of|de)\s)? (?:at\sleast\s)?
        (?:an?\s(?!JOINT))?
        | \b(?:an?\s)? min(?:imum|\.)?\s (?:letter\s)? grade (?:\sof\s|\s?:\s?|\s)
          (?:an?\s(?!JOINT))?
        | (?<=\() (?=\S+\sor\s(?:better|higher|above)\s?\))
    )
    ["'“]? (?P<grade>[^NOT_IN_GRADE]{1,LONGEST}) ["'”]? (?:\sor\s(?:better|higher|above))?
    (?(open)\s?\))
    """.replace("JOINT", rf"(?:{'|'.join(JOINTS)})\b")
    .replace("NOT_IN_GRADE", re.escape(NOT_IN_GRADES) + r"\s")
    .replace("LONGEST", str(LONGEST_GRADE)),
    re.IGNORECASE | re.VERBOSE,
)
MARK = "\x01"  # before a minimum grade, once it has been found in the text
# As catalogs write it before a course; the level of a course stands in its code too.
LEVEL = re.compile(r"\b(?:under)?graduate\s+level\s+(?=\w)", re.IGNORECASE)


def key(code: str) -> str:
    """Return a course code as it is compared: `CSC-1100` for `csc 1100`."""
    return "-".join(code.upper().replace("-", " ").split())


def missing(tree: Tree | None, met: Callable[[Tree], bool]) -> Tree | None:
    """Return the part of the tree that is not yet met, None where all of it is met.

    `met` is asked for each course: {"course": code}, with "grade" if the tree has a minimum.
    """
    if not tree:
        return None
    if "course" in tree:
        return None if met(tree) else tree
    joint = "any" if "any" in tree else "all"
    unmet = [missing(node, met) for node in tree.get(joint, [])]
    return None if joint == "any" and None in unmet else joined(joint, unmet)


def leaves(tree: Tree | None) -> Iterator[Tree]:
    """Yield each course in the tree with its minimum grade, if any, in its order."""
    if not tree:
        return
    if "course" in tree:
        yield tree
    for node in (*tree.get("all", []), *tree.get("any", [])):
        yield from leaves(node)


def codes(tree: Tree | None) -> Iterator[str]:
    """Yield the code of each course in the tree, in its order."""
    return (str(leaf["course"]) for leaf in leaves(tree))


def describe(tree: Tree) -> str:
    """Return the tree as a phrase: "CSC 1100 with C or better and one of MAT 1010 or MAT 1020"."""
    return any_of(_choices(tree)) if "any" in tree else _part(tree)


def _part(tree: Tree) -> str:
    if "course" in tree:
        course = shown(str(tree["course"]))
        if "grade" not in tree:
            return course
        return _("%(course)s with %(grade)s or better", course=course, grade=tree["grade"])
    if "all" in tree:
        return all_of([_part(node) for node in tree["all"]])
    return _("one of %(courses)s", courses=any_of(_choices(tree)))


def _choices(tree: Tree) -> list[str]:
    return [f"({_part(node)})" if "all" in node else _part(node) for node in tree["any"]]


def shown(code: str) -> str:
    """Return a course code as people write it: `CSC 1100`, `ED-D 301`."""
    return " ".join(code.rsplit("-", 1))


def section_name(code: str, number: str) -> str:
    """Return the usual name of a section: `CSC 1100-01`."""
    return f"{shown(code)}-{number}"


def all_of(items: list[str]) -> str:
    """Join items into a phrase: "A", "A and B", "A, B and C"."""
    if len(items) < 2:
        return "".join(items)
    return _("%(items)s and %(last)s", items=", ".join(items[:-1]), last=items[-1])


def any_of(items: list[str]) -> str:
    """Join items into a phrase: "A", "A or B", "A, B or C"."""
    if len(items) < 2:
        return "".join(items)
    return _("%(items)s or %(last)s", items=", ".join(items[:-1]), last=items[-1])


def joined(joint: str, parts: Iterable[Tree | None]) -> Tree | None:
    """Return one tree of several, without empty, repeated or needlessly nested ones."""
    flat: list[Tree] = []
    for part in parts:
        for node in part.get(joint, [part]) if part else ():
            if node not in flat:
                flat.append(node)
    if len(flat) < 2:
        return flat[0] if flat else None
    return {joint: flat}


def parse(text: str) -> Tree | None:
    """Return the tree that a text describes, None where it is blank. Raise `Unclear`."""
    if len(text) > LONGEST:
        raise Unclear(_("It is longer than %(most)s characters.", most=LONGEST))
    words = TOKENS.findall(_mark_grades(LEVEL.sub("", text)))
    return _Parser(words).parse() if words else None


def parse_ungraded(text: str) -> Tree | None:
    """Return the tree of a text without minimum grades. Raise `Unclear`, also if it has one."""
    tree = parse(text)
    if any("grade" in leaf for leaf in leaves(tree)):
        raise Unclear(
            _("A corequisite is taken in the same term, so it can’t have a minimum grade.")
        )
    return tree


def split_grade(text: str) -> tuple[str, str]:
    """Return the text of one course without its minimum grade, and that grade, blank if none."""
    course, _mark, rest = _mark_grades(text).partition(MARK)
    return course, rest.split(" ", 1)[0]


def _mark_grades(text: str) -> str:
    """Return the text with each minimum grade as one word that begins with `MARK`."""
    plain = " ".join(text.replace(MARK, " ").split())
    return MINIMUM_GRADE.sub(lambda found: f" {MARK}{found['grade'].rstrip('.')} ", plain)


def grade_of(written: str) -> str:
    """Return a grade as FAIRSEAT_GRADES spells it. Raise `Unclear` if it has no such grade."""
    if found := grades.known(written):
        return found
    raise Unclear(
        _(
            "“%(written)s” is not a grade. The grades are %(grades)s.",
            written=written[:60],
            grades=", ".join(grades.listed()),
        )
    )


def write(tree: Tree | None, write_code: Callable[[str], str] = str) -> str:
    """Return the text that `parse` reads back as this tree."""
    if not tree:
        return ""
    if "course" in tree:
        code = write_code(tree["course"])
        return f"{code} with {tree['grade']}" if "grade" in tree else code
    joint = "any" if "any" in tree else "all"
    parts = ((node, write(node, write_code)) for node in tree[joint])
    return WRITTEN[joint].join(each if "course" in node else f"({each})" for node, each in parts)


@dataclass
class _Parser:
    """Reads one word after another: a group is parts with the same word between all of them."""

    words: list[str]
    at: int = 0
    depth: int = 0

    def parse(self) -> Tree:
        tree = self.group()
        if self.next == ")":
            raise Unclear(_("A closing parenthesis has no opening one: %(near)s", near=self.near()))
        if self.next:
            raise Unclear(_("“and” or “or” is missing here: %(near)s", near=self.near()))
        return tree

    @property
    def next(self) -> str:
        """Return the next word, blank at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def near(self) -> str:
        """Return the text near the reader's position, for a message."""
        words = self.words[max(0, self.at - 2) : self.at + 2]
        return " ".join(each.replace(MARK, "with ") for each in words)

    def group(self) -> Tree:
        """Return the parts of a group: the same word stands between all of them."""
        parts, joint = [self.part()], ""
        while found := JOINTS.get(self.next.lower()):
            if joint not in {"", found}:
                raise Unclear(
                    _(
                        "“and” and “or” are mixed. Group them with parentheses, as in “A-1 and"
                        " (B-1 or B-2)”: %(near)s",
                        near=self.near(),
                    )
                )
            joint = found
            self.at += 1
            parts.append(self.part())
        return joined(joint, [*parts]) or {}

    def part(self) -> Tree:
        """One course, or a group in parentheses."""
        if self.next != "(":
            return self.course()
        if self.depth == DEEPEST:
            raise Unclear(_("Too many nested parentheses."))
        self.at, self.depth = self.at + 1, self.depth + 1
        tree = self.group()
        if self.next != ")":
            raise Unclear(_("A parenthesis is not closed: %(near)s", near=self.near()))
        self.at, self.depth = self.at + 1, self.depth - 1
        return tree

    def course(self) -> Tree:
        """Return a course, whose code has one word or several, with its minimum grade."""
        start = self.at
        while self.next and self.next not in "()" and self.next.lower() not in JOINTS:
            self.at += 1
        words = self.words[start : self.at]
        minimums = [each.removeprefix(MARK) for each in words if each.startswith(MARK)]
        written = " ".join(each for each in words if not each.startswith(MARK))
        if not written:
            raise Unclear(_("A course is missing here: %(near)s", near=self.near() or "…"))
        if len(minimums) > 1:
            raise Unclear(_("%(course)s has two minimum grades.", course=written[:60]))
        minimum = {"grade": grade_of(minimums[0])} if minimums else {}
        return {"course": self.code(written), **minimum}

    def code(self, written: str) -> str:
        """Return the code in these words."""
        try:
            return code_of(written)
        except Unreadable:
            raise Unclear(
                _(
                    "“%(written)s” is not a course code. A code looks like CSC 1100. Put “and” or"
                    " “or” between two codes.",
                    written=written[:60],
                )
            ) from None
