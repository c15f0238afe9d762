"""Trees of courses: {"course": code} | {"all": [node, …]} | {"any": [node, …]}."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from portal.core.i18n import _

Tree = Mapping[str, Any]


def key(code: str) -> str:
    """A course's code as it is compared: `csc 1100` and `CSC-1100` are one."""
    return "-".join(code.upper().replace("-", " ").split())


def missing(tree: Tree | None, held: Callable[[str], bool]) -> Tree | None:
    """The part of the tree that is not yet met, or None where all of it is."""
    if not tree:
        return None
    if "course" in tree:
        return None if held(str(tree["course"])) else tree
    if "any" in tree:
        return _any([missing(node, held) for node in tree["any"]])
    return _all([missing(node, held) for node in tree.get("all", [])])


def codes(tree: Tree | None) -> Iterator[str]:
    """Every course named in the tree, in its order."""
    if not tree:
        return
    if "course" in tree:
        yield str(tree["course"])
    for node in (*tree.get("all", []), *tree.get("any", [])):
        yield from codes(node)


def words(tree: Tree) -> str:
    """The tree in words, as "CSC 1100 and one of MAT 1010 or MAT 1020"."""
    if "course" in tree:
        return shown(str(tree["course"]))
    if "all" in tree:
        return all_of([words(node) for node in tree["all"]])
    nodes = [f"({words(node)})" if "all" in node else words(node) for node in tree["any"]]
    return _("one of %(courses)s", courses=any_of(nodes))


def shown(code: str) -> str:
    """A course's code as people write it."""
    return code.replace("-", " ")


def all_of(items: list[str]) -> str:
    """Items as a phrase: "A", "A and B", "A, B and C"."""
    if len(items) < 2:
        return "".join(items)
    return _("%(items)s and %(last)s", items=", ".join(items[:-1]), last=items[-1])


def any_of(items: list[str]) -> str:
    """Items as a phrase: "A", "A or B", "A, B or C"."""
    if len(items) < 2:
        return "".join(items)
    return _("%(items)s or %(last)s", items=", ".join(items[:-1]), last=items[-1])


def _all(parts: list[Tree | None]) -> Tree | None:
    return _joined("all", [part for part in parts if part])


def _any(parts: list[Tree | None]) -> Tree | None:
    return None if None in parts else _joined("any", [part for part in parts if part])


def _joined(joint: str, parts: list[Tree]) -> Tree | None:
    """Without repeats, nested trees of the same joint, or a joint of one."""
    flat: list[Tree] = []
    for part in parts:
        for node in part.get(joint, [part]):
            if node not in flat:
                flat.append(node)
    if len(flat) < 2:
        return flat[0] if flat else None
    return {joint: flat}
