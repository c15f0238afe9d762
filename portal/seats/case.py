"""What a refusal was about: names for its ids, and links to what can be done next."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import quote_plus
from zoneinfo import ZoneInfo

from portal.seats import trees

if TYPE_CHECKING:
    from portal.catalog.board import Board, Card


@dataclass(frozen=True)
class Step:
    """What the student can do next: the words of a link and where it leads."""

    label: str
    url: str

    @property
    def asks(self) -> bool:
        """Whether it leads to a form that asks first, and so fits into a dialog."""
        return self.url.endswith(("/pick", "/drop", "/leave"))


@dataclass(frozen=True)
class Case:
    """What a refusal was about, so that ids can be told as names."""

    board: "Board"
    card: "Card | None"
    zone: ZoneInfo

    @property
    def term_url(self) -> str:
        return f"/terms/{self.board.term.id}"

    @property
    def name(self) -> str:
        return self.named(self.card.id) if self.card else "this section"

    def named(self, section: int) -> str:
        """A section as people say it, such as CSC 1100-01."""
        card = self.board.card(section)
        return name_of(card) if card else f"section {section}"

    def url(self, section: int, act: str) -> str:
        return f"{self.term_url}/sections/{section}/{act}"

    def search(self, words: str, *, free: bool = False) -> str:
        """The list, searched for words, and for open seats alone where `free`."""
        return f"{self.term_url}?q={quote_plus(words)}{'&open=1' if free else ''}"

    def when(self, ms: int) -> str:
        """A moment in the institution's zone: "9:00 am on Thursday, September 3"."""
        at = datetime.fromtimestamp(ms / 1000, self.zone)
        return f"{at:%-I:%M} {at:%p}".lower() + f" on {at:%A, %B} {at.day}"


def name_of(card: "Card") -> str:
    """A section that is at hand, as people say it."""
    return f"{trees.shown(card.course_code)}-{card.number}"


def points(hundredths: int) -> str:
    """Credits as people write them: 400 is "4", 150 is "1.5"."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def credits_in_words(hundredths: int) -> str:
    """An amount with its unit: "1 credit", "4 credits"."""
    return f"{points(hundredths)} credit{'' if hundredths == 100 else 's'}"
