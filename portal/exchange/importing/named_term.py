"""The term of a semester's files: its name, the code that files have for it, and its years.

Files that name another term must not update the chosen one.
"""

import re
from datetime import date

from portal.catalog.spellings import Unreadable, date_of
from portal.core.i18n import _k
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.meetings import ReadDay
from portal.exchange.importing.models import Options
from portal.exchange.importing.semester_tables import YEAR, SemesterTables
from portal.exchange.importing.staging import KnownRecords
from portal.exchange.importing.tables import Row

LONGEST_NAME = 80  # of a term
OTHER_TERM = _k(
    "These files say that they are of “%(named)s”, but they would update “%(term)s”. Upload them"
    " under the name of their own term. If their sections belong to “%(term)s”, write that name"
    " into their column “term”."
)
TERM_ABOVE = _k(
    "These files say that they are of “%(named)s”, in a line above their headings, but they would"
    " update “%(term)s”. Upload them under the name of their own term. If their sections belong to"
    " “%(term)s”, correct that line."
)
CODE_OF_OTHER = _k(
    "These files say that they are of “%(named)s”, as earlier files of “%(other)s” did. Upload them"
    " under the name of that term. If their sections belong to “%(term)s”, write that name into"
    " their column “term”."
)
OTHER_CODE = _k(
    "These files say that they are of “%(named)s”, but earlier files of “%(term)s” said"
    " “%(known)s”. Upload them under the name of their own term. If their sections belong to"
    " “%(term)s”, write that name into their column “term”."
)
GOES_INTO = _k("The sections go into “%(term)s”.")
CODE = re.compile(r"\b\w*\d{4}\w*\b")  # perhaps of a term
SEASON = re.compile(r"\b(fall|autumn|winter|spring|summer)\b")
YEAR_OF_CODE = re.compile(r"20\d\d")  # 202709 is September 2027


def name_of(options: Options) -> str:
    """Return the name of the term, tidied. Raise ImportFailedError if it is not a name."""
    name = " ".join(options.term.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ImportFailedError(
            _k("A term’s name has 1 to %(most)s characters."), most=LONGEST_NAME
        )
    return name


def read_code(tables: SemesterTables, options: Options, here: KnownRecords) -> str:
    """Return a code that the files have for the term, and no files had before; "" if none.

    Raise ImportFailedError if the files of another term would update the chosen one.
    """
    chosen = name_of(options)
    row = next((each for each in tables.sections if each["term"].casefold() == tables.term), None)
    if row is None:
        return ""
    named = " ".join(row["term"].split())[:LONGEST_NAME]
    season, own = _season_of(named), _season_of(chosen)
    if not season:
        _check_titles(tables.titles, row, chosen, here)
    if not named:
        return ""
    elsewhere = named.lower() in here.other_terms - {chosen.lower()}
    if elsewhere or (season and own and season != own):
        _refuse(row, OTHER_TERM, named, chosen, here)
    elif not (season and own) and named.casefold() != chosen.casefold():
        return _check_code(row, named, options, here)
    return ""


def _refuse(row: Row, text: str, named: str, chosen: str, here: KnownRecords) -> None:
    """Raise ImportFailedError, or only report the other name if the chosen term is new."""
    if here.dates:
        raise ImportFailedError(text, named=named, term=chosen)
    row.note("term_named", "term", GOES_INTO, term=chosen)


def _check_titles(titles: list[str], row: Row, chosen: str, here: KnownRecords) -> None:
    """Refuse files with another term than the chosen one in the lines above their headings.

    Codes count that earlier files had for a term.
    """
    own, wrong = _season_of(chosen), ""
    for title in titles:
        season = _season_of(title)
        terms = {here.term_codes[each] for each in CODE.findall(title) if each in here.term_codes}
        if chosen in terms or (own and season == own):
            return
        other = title.casefold() in here.other_terms - {chosen.casefold()}
        if terms or other or (own and season):
            wrong = wrong or title[:LONGEST_NAME]
    if wrong:
        above = Row(row.file, 0, {"term": wrong}, row.report)
        _refuse(above, TERM_ABOVE, wrong, chosen, here)


def _check_code(row: Row, code: str, options: Options, here: KnownRecords) -> str:
    """Return the code of the term if it is new. Raise ImportFailedError if it is another term's."""
    chosen = name_of(options)
    known = {each.casefold(): term for each, term in here.term_codes.items()}
    own = [each for each, term in here.term_codes.items() if term == chosen]
    other = known.get(code.casefold(), "")
    if other not in {"", chosen}:
        raise ImportFailedError(CODE_OF_OTHER, named=code, other=other, term=chosen)
    if own and not other:
        raise ImportFailedError(OTHER_CODE, named=code, term=chosen, known=", ".join(own))
    if other:
        return ""
    days = here.dates or [day for day in (options.starts, options.ends) if day]
    years = {*YEAR.findall(chosen), *(f"{day.year}" for day in days)}
    year = YEAR_OF_CODE.match(code)
    if year and years and year[0] not in years:
        text = _k("The year %(year)s is not one of “%(term)s”.")
        row.note("term_named", "term", text, year=year[0], term=chosen)
    else:
        row.note("term_code", "term")
    return code


def _season_of(term: str) -> tuple[str, str] | None:
    """Return the season and the year of a term, such as `fall` and `2026`; None if unclear."""
    seasons, years = SEASON.findall(term.lower()), YEAR.findall(term)
    if len(seasons) != 1 or len(years) != 1:
        return None
    return seasons[0].replace("autumn", "fall"), years[0]


def day_reader(options: Options, here: KnownRecords) -> ReadDay:
    """Return what reads a date of the term: Unreadable if its year is another.

    A term has the years of its name and of its dates. It may begin in December before, and go on
    into the first half of the next year, unless the season in its name says other.
    """
    name = name_of(options)
    seasons = {*SEASON.findall(name.lower())}
    days = [day for day in (*(here.dates or ()), options.starts, options.ends) if day]
    years = {*map(int, YEAR.findall(name)), *(day.year for day in days)}
    around = {0: range(1, 13), 1: range(1, 7), -1: range(12, 13)}  # months by years from those
    if seasons & {"spring", "summer"}:
        del around[1]
    if seasons & {"fall", "autumn", "summer"}:
        del around[-1]

    def read_day(text: str) -> date | None:
        day = date_of(text)
        if (
            day
            and years
            and not any(
                day.year - after in years and day.month in months
                for after, months in around.items()
            )
        ):
            raise Unreadable(_k("'%(text)s' is not in a year of the term."), text=text)
        return day

    return read_day
