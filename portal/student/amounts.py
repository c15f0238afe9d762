"""The credits that a student may choose for a section."""

from decimal import Decimal
from typing import TYPE_CHECKING

from portal.seats.case import points
from portal.seats.wishes import hundredths

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView


def amounts(card: "SectionView") -> list[str]:
    """The credits to choose from where a section leaves a choice: whole ones and both ends."""
    least, most = card.credits_min, card.credits_max
    if least == most:
        return []
    whole = [Decimal(each) for each in range(int(least) + 1, int(most) + 1)]
    return [points(hundredths(each)) for each in sorted({least, *whole, most})]
