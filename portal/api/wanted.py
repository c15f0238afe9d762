"""What a client wants to register for, and the wishes that it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import marshmallow as ma

from portal.api.fields import Credits, Id, Yes
from portal.api.reading import fault
from portal.api.schemas import Body
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.core.i18n import _, _l
from portal.seats import linked
from portal.seats.case import points
from portal.seats.desk import Wanted, Wish, hundredths
from portal.student.amounts import amounts

NO_SECTION = _l("There is no such section in this semester.")


class Choice(Body):
    """A section about which there is more to say than its id."""

    section_id = Id(required=True)
    credits = Credits("Where the section leaves a choice.")
    wait = Yes(metadata={"description": "For this section, whatever the request says."})
    instead_of = Id(
        metadata={"description": "A section that is given up for this one, and not before."}
    )


class Item(ma.fields.Field[dict[str, Any]]):
    """A section: its id, or an object that says more of it."""

    def __init__(self) -> None:
        shape = [{"type": "integer", "minimum": 1}, {"$ref": "#/components/schemas/Choice"}]
        super().__init__(metadata={"anyOf": shape})

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return dict(CHOICE.load(value))
        return {"section_id": CHOICE.fields["section_id"].deserialize(value)}


CHOICE = Choice()


@dataclass(frozen=True)
class Line:
    """A section of the request: where it stands there, and how it is wanted."""

    number: int
    card: SectionView
    credits: Decimal | None
    wait: bool
    instead: int | None

    @property
    def pointer(self) -> str:
        return f"/section_ids/{self.number}"


def lines(body: dict[str, Any], offered: TermCatalog) -> list[Line]:
    """The sections of a request; refuses those that are not offered, and those named twice."""
    found: list[Line] = []
    for number, item in enumerate(body["section_ids"]):
        pointer = f"/section_ids/{number}"
        card = published(offered, item["section_id"], pointer)
        if any(line.card is card for line in found):
            raise fault(pointer, _("This section is named twice."))
        if "instead_of" in item:
            published(offered, item["instead_of"], f"{pointer}/instead_of")
        credits_ = _credits(card, item.get("credits"), f"{pointer}/credits")
        wait = item.get("wait", body["wait"])
        found.append(Line(number, card, credits_, wait, item.get("instead_of")))
    return found


def published(offered: TermCatalog, section: int, pointer: str) -> SectionView:
    """A section of the semester; refuses one that it does not have."""
    card = offered.section(section)
    if card is None or card.status == "NEW":
        raise fault(pointer, NO_SECTION, 404)
    return card


def together(found: Sequence[Line], offered: TermCatalog) -> list[list[Line]]:
    """The lines, those in one list whose courses are only to be had together (see linked.py)."""
    groups: list[list[Line]] = []
    for line in found:
        courses = linked.courses(line.card, offered)
        group = next((each for each in groups if _fits(line, each, courses)), None)
        if group is None:
            groups.append([line])
        else:
            group.append(line)
    return groups


def content(found: Sequence[Line]) -> list[Any]:
    """What was asked for, as the content of an idempotency key: nothing that the catalog adds."""
    return [
        [
            line.card.id,
            0 if line.credits is None else hundredths(line.credits),
            line.wait,
            line.instead or 0,
        ]
        for line in found
    ]


def wish(group: Sequence[Line]) -> Wish:
    """What a group comes to: it waits if all of it may, and is had for one section at most."""
    instead = {line.instead for line in group if line.instead}
    if len(instead) > 1:
        last = next(line for line in reversed(group) if line.instead)
        message = _("What is taken together is had for one section at most.")
        raise fault(f"{last.pointer}/instead_of", message)
    wanted = [Wanted(line.card.id, line.credits) for line in group]
    return Wish([wanted], all(line.wait for line in group), next(iter(instead), None))


def _fits(line: Line, group: Sequence[Line], courses: Sequence[int]) -> bool:
    known = {each.card.course_id for each in group}
    return line.card.course_id not in known and not known.isdisjoint(courses)


def _credits(card: SectionView, wanted: Decimal | None, pointer: str) -> Decimal | None:
    """The credits, where they are some that the section is offered for."""
    steps = [Decimal(each) for each in amounts(card)] or [card.credits_min]
    if wanted is None or wanted in steps:
        return wanted
    choices = ", ".join(points(hundredths(each)) for each in steps)
    raise fault(pointer, _("This section is offered for %(choices)s credits.", choices=choices))
