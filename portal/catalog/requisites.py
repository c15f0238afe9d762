"""Prerequisites and corequisites: trees of courses, and how people write them.

A tree is {"course": code} | {"all": [node, …]} | {"any": [node, …]}, and is written as
`CSCI-1100 and (MATH-1010 or MATH-1020)`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from portal.catalog.spellings import Unclear, Unreadable, code_of
from portal.core.i18n import _

Tree = Mapping[str, Any]

LONGEST = 2000  # characters of a text
DEEPEST = 20
JOINTS = {"and": "all", "y": "all", "or": "any", "o": "any"}
WRITTEN = {"all": " and ", "any": " or "}
TOKENS = re.compile(r"[()]|[^\s()]+")


def key(code: str) -> str:
    """Return a course code as it is compared: `CSC-1100` for `csc 1100`."""
    return "-".join(code.upper().replace("-", " ").split())


def missing(tree: Tree | None, held: Callable[[str], bool]) -> Tree | None:
    """Return the part of the tree that is not yet met, None where all of it is met."""
    if not tree:
        return None
    if "course" in tree:
        return None if held(str(tree["course"])) else tree
    joint = "any" if "any" in tree else "all"
    unmet = [missing(node, held) for node in tree.get(joint, [])]
    return None if joint == "any" and None in unmet else joined(joint, unmet)


def codes(tree: Tree | None) -> Iterator[str]:
    """Yield the code of each course in the tree, in its order."""
    if not tree:
        return
    if "course" in tree:
        yield str(tree["course"])
    for node in (*tree.get("all", []), *tree.get("any", [])):
        yield from codes(node)


def describe(tree: Tree) -> str:
    """Return the tree as a phrase: "CSC 1100 and one of MAT 1010 or MAT 1020"."""
    if "course" in tree:
        return shown(str(tree["course"]))
    if "all" in tree:
        return all_of([describe(node) for node in tree["all"]])
    nodes = [f"({describe(node)})" if "all" in node else describe(node) for node in tree["any"]]
    return _("one of %(courses)s", courses=any_of(nodes))


def shown(code: str) -> str:
    """Return a course code as people write it: `CSC 1100`, `ED-D 301`."""
    return " ".join(code.rsplit("-", 1))


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
    words = TOKENS.findall(text)
    return _Parser(words).parse() if words else None


def write(tree: Tree | None) -> str:
    """Return the text that `parse` reads back as this tree."""
    if not tree:
        return ""
    if "course" in tree:
        return str(tree["course"])
    joint = "any" if "any" in tree else "all"
    return WRITTEN[joint].join(_inner(node) for node in tree[joint])


def _inner(tree: Tree) -> str:
    return write(tree) if "course" in tree else f"({write(tree)})"


@dataclass
class _Parser:
    """Reads one word after another: a group is parts with the same word between all of them."""

    words: list[str]
    at: int = 0
    depth: int = 0

    def parse(self) -> Tree:
        """Parse the whole text."""
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
        return " ".join(self.words[max(0, self.at - 2) : self.at + 2])

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
            return {"course": self.code()}
        if self.depth == DEEPEST:
            raise Unclear(_("Too many nested parentheses."))
        self.at, self.depth = self.at + 1, self.depth + 1
        tree = self.group()
        if self.next != ")":
            raise Unclear(_("A parenthesis is not closed: %(near)s", near=self.near()))
        self.at, self.depth = self.at + 1, self.depth - 1
        return tree

    def code(self) -> str:
        """Return a course's code, of one word or of several."""
        start = self.at
        while self.next and self.next not in "()" and self.next.lower() not in JOINTS:
            self.at += 1
        written = " ".join(self.words[start : self.at])
        if not written:
            raise Unclear(_("A course is missing here: %(near)s", near=self.near() or "…"))
        try:
            return code_of(written)
        except Unreadable:
            raise Unclear(
                _(
                    "“%(written)s” is not a course code. A code looks like CSCI-1100. Put “and” or"
                    " “or” between two codes.",
                    written=written[:60],
                )
            ) from None
