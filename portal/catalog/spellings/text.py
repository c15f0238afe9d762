"""What all spellings share: tidy text, the ways to say nothing, and the refusal."""

import re
import unicodedata

from portal.core.i18n import Told, _k

NOTHING = {"", "-", "--", "N/A", "NA", "NONE", "TBA", "TBD", "TO BE ANNOUNCED", "ARR", "ARRANGED"}
LONGEST = 60
DASHES = re.compile(r"[\u2010-\u2015\u2212]")


class Unreadable(Told, ValueError):  # noqa: N818  the text is wrong, not the program
    """A field whose text makes no sense; the message is for the import's report."""


def tidy(text: str) -> str:
    """`text` in plain signs (no full-width digits, no odd dashes), single-spaced."""
    plain = unicodedata.normalize("NFKC", text)
    tidied = " ".join(DASHES.sub("-", plain).split())
    if len(tidied) > LONGEST:
        raise Unreadable(_k("'%(text)s…' is too long."), text=tidied[:LONGEST])
    return tidied


def says_nothing(tidied: str) -> bool:
    """Whether a field says that nothing is settled: blank, `TBA`, `** TBA **`, `n/a`."""
    return tidied.strip("* ").upper() in NOTHING
