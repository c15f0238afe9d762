"""Course codes: `CSC 225`, `CSC-225` and `csc225` are all `CSC-225`."""

import re

from portal.catalog.spellings.text import Unreadable, tidy
from portal.core.i18n import _k

LETTERS = r"[^\W\d_](?:[^\W\d_]|&|/|(?<=\w) (?=[^\W\d_]))*"
JOINED = re.compile(rf"(?P<subject>{LETTERS}?)[\s\-_.*:]*(?P<number>\d[\w.]*)")
PARTED = re.compile(rf"(?P<subject>{LETTERS})[\s\-_.*:]+(?P<number>[A-Z]{{1,3}}\d[\w.]*)")
LONGEST = 24
LONGEST_SUBJECT = 16


def code_of(text: str) -> str:
    """The canonical code, subject and number joined by a hyphen."""
    tidied = tidy(text).upper()
    found = PARTED.fullmatch(tidied) or JOINED.fullmatch(tidied)
    if not found or len(found["subject"]) > LONGEST_SUBJECT:
        raise Unreadable(_k("'%(text)s' is no course code."), text=tidied)
    code = f"{found['subject']}-{found['number']}"
    if len(code) > LONGEST:
        raise Unreadable(_k("'%(text)s' is longer than a course code may be."), text=tidied)
    return code


def subject_of(code: str) -> str:
    """The subject of a canonical code: `CSC` of `CSC-225`."""
    return code.partition("-")[0]
