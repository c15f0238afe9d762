"""How universities write times, days, dates, codes and credits, read into plain values.

Each function takes the text of one field and raises `Unreadable` where it can't be read.
"""

from portal.catalog.spellings.codes import code_of, subject_of
from portal.catalog.spellings.credits import credits_of
from portal.catalog.spellings.dates import date_of
from portal.catalog.spellings.days import days_of
from portal.catalog.spellings.numbers import count_of
from portal.catalog.spellings.text import Unreadable
from portal.catalog.spellings.times import time_of

__all__ = [
    "Unreadable",
    "code_of",
    "count_of",
    "credits_of",
    "date_of",
    "days_of",
    "subject_of",
    "time_of",
]
