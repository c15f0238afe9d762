"""Trees of courses as people write them: `CSCI-1100 and (MATH-1010 or MATH-1020)`."""

import re
from dataclasses import dataclass

from portal.catalog.cards import Tree
from portal.catalog.editing.errors import Unclear
from portal.catalog.spellings import Unreadable, code_of
from portal.core.i18n import _
from portal.exchange.importing.semester.prerequisites import joined

LONGEST = 2000
DEEPEST = 20
JOINTS = {"and": "all", "y": "all", "or": "any", "o": "any"}
WRITTEN = {"all": " and ", "any": " or "}
TOKENS = re.compile(r"[()]|[^\s()]+")


def parse(text: str) -> Tree | None:
    """The tree that a text describes, None where it is blank; raises Unclear."""
    if len(text) > LONGEST:
        raise Unclear(_("It is longer than %(most)s characters.", most=LONGEST))
    words = TOKENS.findall(text)
    return Reader(words).all() if words else None


def write(tree: Tree | None) -> str:
    """The text that `parse` reads back as this tree."""
    if not tree:
        return ""
    if "course" in tree:
        return str(tree["course"])
    joint = "any" if "any" in tree else "all"
    return WRITTEN[joint].join(_inner(node) for node in tree[joint])


def _inner(tree: Tree) -> str:
    return write(tree) if "course" in tree else f"({write(tree)})"


@dataclass
class Reader:
    """Reads one word after another."""

    words: list[str]
    at: int = 0
    depth: int = 0

    def all(self) -> Tree:
        """The whole text."""
        tree = self.group()
        if self.next == ")":
            raise Unclear(_("A closing parenthesis has no opening one: %(near)s", near=self.near()))
        if self.next:
            raise Unclear(_("“and” or “or” is missing here: %(near)s", near=self.near()))
        return tree

    @property
    def next(self) -> str:
        """The word to be read, blank at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def near(self) -> str:
        """Where the reader stands, for a message."""
        return " ".join(self.words[max(0, self.at - 2) : self.at + 2])

    def group(self) -> Tree:
        """Parts with the same word between all of them."""
        parts, joint = [self.part()], ""
        while found := JOINTS.get(self.next.lower()):
            if joint not in {"", found}:
                raise Unclear(
                    _(
                        "“and” and “or” stand side by side. Put what belongs together in"
                        " parentheses, as in “A-1 and (B-1 or B-2)”: %(near)s",
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
            raise Unclear(_("There are too many parentheses inside of each other."))
        self.at, self.depth = self.at + 1, self.depth + 1
        tree = self.group()
        if self.next != ")":
            raise Unclear(_("A parenthesis is not closed: %(near)s", near=self.near()))
        self.at, self.depth = self.at + 1, self.depth - 1
        return tree

    def code(self) -> str:
        """A course's code, of one word or of several."""
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
                    "“%(written)s” is no course code. A code is like CSCI-1100;"
                    " between two of them stands “and” or “or”.",
                    written=written[:60],
                )
            ) from None
