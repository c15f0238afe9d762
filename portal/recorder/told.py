"""Receipts as pages show them: in words, by day, with the terms and sections that they name."""

from dataclasses import dataclass
from itertools import groupby

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.recorder.receipts import Receipt
from portal.recorder.stories import Story, story
from portal.seats.case import Case
from portal.windows.localtime import Clockface


@dataclass(frozen=True)
class Line:
    """A receipt and its story."""

    receipt: Receipt
    story: Story
    name: str  # of the section, with its title where it is still offered
    term: str

    @property
    def when(self) -> str:
        """The ledger's time to the ms: "Mon, Nov 23, 2026, 09:00:05.123 EST"."""
        times, at = Clockface(backend().settings.zone), self.receipt.at
        clock = f"{times.at(at):%H:%M:%S}.{at % 1000:03d}"
        return f"{times.day(at)}, {clock} {times.name(at)}"


def line(receipt: Receipt) -> Line:
    """A receipt in words; raises LookupError where its term is no more."""
    offered = catalog_of(receipt.term)
    card, zone = offered.published(receipt.section), backend().settings.zone
    case = Case(offered, card, zone, instead=receipt.fact.payload.get("instead") or 0)
    name = " ".join([case.named(receipt.section), *([card.title] if card and card.title else [])])
    return Line(receipt, story(receipt, case), name, offered.term.name)


def by_day(receipts: list[Receipt]) -> list[tuple[str, list[Line]]]:
    """The receipts in words, by the institution's days, in the order given."""
    times = Clockface(backend().settings.zone)
    days = groupby(receipts, lambda each: times.day(each.at))
    return [(day, [line(each) for each in lines]) for day, lines in days]
