"""Fields of the trail whose values have a shape of their own, in words."""

from collections.abc import Iterable, Iterator
from typing import Any

from portal.core.i18n import _
from portal.exchange.importing.kinds import RECORDS
from portal.ops.names import QUEUES
from portal.trail import words


def in_words(name: str, value: Any) -> str | None:
    """The value in lines; None where it is of another shape, as earlier versions may have kept."""
    match name, value:
        case "queue", str():
            return str(QUEUES.get(value, value))
        case "counts", dict() if all(isinstance(each, dict) for each in value.values()):
            return "\n".join(_counts(value))
        case "options", dict():
            return "\n".join(_options(value))
    return None


def _counts(kept: dict[str, dict[str, int]]) -> Iterator[str]:
    """What an import changed, kind by kind: "Courses: 3 added, 1 removed"."""
    for kind in _ordered(RECORDS, kept):
        moved = kept[kind]
        if said := [
            str(how) % {"count": moved[name]}
            for name, how in words.CHANGED.items()
            if moved.get(name)
        ]:
            yield f"{RECORDS.get(kind, kind)}: {', '.join(said)}"


def _options(kept: dict[str, Any]) -> Iterator[str]:
    """What was chosen for an import, apart from what says nothing."""
    for name in _ordered(words.OPTIONS, kept):
        value = kept[name]
        if value is not None and value is not False and value != "":
            yield f"{words.option(name)}: {_choice(name, value)}"


def _choice(name: str, value: Any) -> str:
    if name == "layout":
        return str(words.LAYOUTS.get(value, value))
    return _("Yes") if value is True else str(value)


def _ordered(known: Iterable[str], kept: dict[str, Any]) -> list[str]:
    """The names in the order in which they are known; the database keeps none."""
    return [name for name in dict.fromkeys([*known, *kept]) if name in kept]
