"""What a refusal was about: names for its ids, and links to what can be done next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, urlsplit
from zoneinfo import ZoneInfo

from portal.catalog import requisites
from portal.catalog.formatting import credit_words, number
from portal.catalog.local_time import Clockface
from portal.core.i18n import _

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog

FORMS = ("/pick", "/drop", "/leave", "/swap")


@dataclass(frozen=True)
class Step:
    """What the student can do next: the words of a link and where it leads."""

    label: str
    url: str

    @property
    def asks(self) -> bool:
        """Whether it leads to a form that asks first, and so fits into a dialog."""
        return urlsplit(self.url).path.endswith(FORMS)


@dataclass(frozen=True)
class Case:
    """What a refusal was about, so that ids can be told as names.

    `held` are the credits (hundredths) of the seats held, by section. `instead` is the seat that
    was to be given up, `swap` one that could be: none is left in the way then. `waits` is who
    has a place in line already, and can't ask for a swap.
    """

    catalog: "TermCatalog"
    card: "SectionView | None"
    zone: ZoneInfo
    held: Mapping[int, int] = field(default_factory=dict)
    instead: int = 0
    swap: int = 0
    waits: bool = False

    @property
    def term_url(self) -> str:
        return f"/terms/{self.catalog.term.id}"

    @property
    def name(self) -> str:
        return self.named(self.card.id) if self.card else _("This section")

    def named(self, section: int) -> str:
        """A section as people say it, such as CSC 1100-01."""
        if card := self.catalog.published(section):
            return name_of(card)
        return self.catalog.gone.get(section) or _("section %(number)s", number=section)

    def url(self, section: int, act: str) -> str:
        return f"{self.term_url}/sections/{section}/{act}"

    def search(self, words: str) -> str:
        """The list, searched for words."""
        return f"{self.term_url}?q={quote_plus(words)}"

    def when(self, ms: int) -> str:
        """A moment in the institution's zone: "9:00 am on Thursday, September 3"."""
        return Clockface(self.zone).spoken(ms)


def name_of(card: "SectionView") -> str:
    """A section that is at hand, as people say it."""
    return f"{requisites.shown(card.course_code)}-{card.number}"


def points(hundredths: int) -> str:
    """Credits as forms send them: 400 is "4", 150 is "1.5"."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def amount(hundredths: int) -> str:
    """Credits as their reader writes them, without the unit."""
    return number(Decimal(hundredths) / 100)


def credits_in_words(hundredths: int) -> str:
    """An amount with its unit: "1 credit", "4 credits"."""
    credits_ = Decimal(hundredths) / 100
    return credit_words(credits_, credits_)
