"""Credits as the least and the most: `4`, `1.5`, `1-15`, `1.00 TO 3.00`, `3 | 4`."""

import re
from decimal import Decimal

from portal.catalog.spellings.text import Unreadable, tidy
from portal.core.i18n import _k

UNIT = re.compile(r"\s*(?:credits?|credit hours?|cr|hrs?|hours?|units?)\.?$", re.IGNORECASE)
BREAKS = re.compile(r"\s*(?:\||-|/|,|\bto\b|\bor\b)\s*", re.IGNORECASE)
AMOUNT = re.compile(r"\d{1,3}(?:\.\d{1,3})?", re.ASCII)
MOST = Decimal(200)
HUNDREDTH = Decimal("0.01")


def credits_of(text: str) -> tuple[Decimal, Decimal]:
    """The least and the most credits that `text` allows; several values: the outermost."""
    tidied = tidy(text)
    parts = BREAKS.split(UNIT.sub("", tidied))
    if not all(AMOUNT.fullmatch(part) for part in parts):
        raise Unreadable(_k("'%(text)s' is no number of credits."), text=tidied)
    amounts = sorted(Decimal(part) for part in parts)
    if amounts[-1] > MOST or any(amount % HUNDREDTH for amount in amounts):
        raise Unreadable(_k("'%(text)s' is no number of credits."), text=tidied)
    return amounts[0], amounts[-1]
