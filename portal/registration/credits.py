"""Credits: stored and decided in hundredths, shown as people write them."""

from decimal import Decimal
from typing import TYPE_CHECKING

from portal.catalog.formatting import credit_range, number

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView


def hundredths(credits: Decimal) -> int:  # noqa: A002  the field's word
    """Return credits in hundredths, as the ledger counts them."""
    return round(credits * 100)


def points(hundredths: int) -> str:
    """Return credits as forms send them: 400 is "4", 150 is "1.5"."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def amount(hundredths: int) -> str:
    """Return credits as their reader writes them, without the unit."""
    return number(Decimal(hundredths) / 100)


def credits_in_words(hundredths: int) -> str:
    """Return credits with their unit: "1 credit", "4 credits"."""
    credits_ = Decimal(hundredths) / 100
    return credit_range(credits_, credits_)


def credit_choices(section: "SectionView") -> list[str]:
    """Return the credits to choose from, whole ones and both ends; empty without a choice."""
    least, most = section.credits_min, section.credits_max
    if least == most:
        return []
    whole = [Decimal(each) for each in range(int(least) + 1, int(most) + 1)]
    return [points(hundredths(each)) for each in sorted({least, *whole, most})]
