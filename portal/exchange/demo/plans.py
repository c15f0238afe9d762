"""How the demo's courses are written down; the courses themselves are in sciences and letters."""

from dataclasses import dataclass
from typing import Any

Tree = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """A course and how it is offered."""

    code: str
    title: str
    credits: int
    sections: int
    description: str
    needs: Tree | None = None
    along: Tree | None = None  # corequisites
    seats: int = 0  # capacity of a section; 0 = what is usual for the course's level
    most: int = 0  # credits at most, where the student chooses
    form: str = "class"  # class, lab, workshop, studio, half or tba: see timetable.FORMS
    exam: bool = False  # has a common exam block
    majors: tuple[str, ...] = ()  # not public: for students of these subjects
    levels: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    rules: tuple[tuple[str, str, str], ...] = ()  # restrictions: rule, kind, value
    also: str = ""  # code of the course that it is cross-listed with
    categories: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """`CSC` of `CSC-110`."""
        return self.code.partition("-")[0]

    @property
    def level(self) -> int:
        """The hundreds of the number: 1 … 5."""
        return int(self.code.partition("-")[2][0])


def all_of(*nodes: str | Tree) -> Tree:
    """A tree that wants every one of `nodes`."""
    return {"all": [tree(node) for node in nodes]} if len(nodes) > 1 else tree(nodes[0])


def any_of(*nodes: str | Tree) -> Tree:
    """A tree that wants one of `nodes`."""
    return {"any": [tree(node) for node in nodes]}


def tree(node: str | Tree) -> Tree:
    return {"course": node} if isinstance(node, str) else node
