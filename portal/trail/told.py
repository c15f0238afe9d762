"""Fields of the trail whose values have a shape of their own, in words."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from portal.imports.kinds import RECORDS
from portal.ops.names import QUEUES
from portal.trail import words
from portal.words import _


def _queue(name: str) -> str:
    return str(QUEUES.get(name, name))


def _counts(kept: dict[str, dict[str, int]]) -> str:
    """What an import changed, a line for each kind: "Courses: 3 added, 1 removed"."""
    return "\n".join(_lines(kept))


def _lines(kept: dict[str, dict[str, int]]) -> Iterator[str]:
    for kind in _ordered(RECORDS, kept):
        moved = kept[kind]
        if said := [
            str(how) % {"count": moved[name]}
            for name, how in words.CHANGED.items()
            if moved.get(name)
        ]:
            yield f"{RECORDS.get(kind, kind)}: {', '.join(said)}"


def _options(kept: dict[str, Any]) -> str:
    """What was chosen for an import, a line for each choice that says something."""
    chosen = [name for name in _ordered(words.OPTIONS, kept) if kept[name] not in {None, "", False}]
    return "\n".join(f"{words.option(name)}: {_choice(name, kept[name])}" for name in chosen)


def _ordered(known: Iterable[str], kept: dict[str, Any]) -> list[str]:
    """The names in the order in which they are known; the database keeps none."""
    return [name for name in dict.fromkeys([*known, *kept]) if name in kept]


def _choice(name: str, value: Any) -> str:
    if name == "layout":
        return str(words.LAYOUTS.get(value, value))
    return _("Yes") if value is True else str(value)


TOLD: dict[str, Callable[[Any], str]] = {"counts": _counts, "options": _options, "queue": _queue}
