"""The bands of a term's waitlists: who comes before whom, and first come, first served within one.

A band is a mapping; a student is in it who matches every entry: `years`, `levels` and `subjects`
(lists of names; subjects are majors), `credits` (the least number of completed ones) and
`own_major` (true: a major of the course's subject). Everyone else is in a last band. A band is
fixed when one joins.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Session

from portal.catalog import cohort_names, formatting, requisites, term_catalog
from portal.catalog.models import Term
from portal.catalog.spellings import Unclear
from portal.catalog.subjects import known_labels
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _, _n
from portal.windows import cohorts
from portal.windows.cohorts import in_cohort

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView
    from portal.people.student_profile import StudentProfile

Band = Mapping[str, Any]

MOST = 8  # bands, apart from that of everyone else
MOST_CREDITS = 1000
LONGEST = 500  # characters of a line
SHOWN = 60  # characters of a line that is too long
NAMED = 20  # names of a kind that a text lists
OWN_MAJOR = "major of the course"
KINDS = {"year": "years", "level": "levels", "major": "subjects"}
ENTRY = re.compile(r"(?P<kind>year|level|major|credits)s?\s*:\s*(?P<names>.+)", re.IGNORECASE)


class PeopleWait(Exception):
    """The bands can't change: students wait. `students` says how many positions there are."""

    def __init__(self, positions: int) -> None:
        super().__init__(positions)
        self.positions = positions


def band_of(profile: "StudentProfile", section: "SectionView", bands: Sequence[Band]) -> int:
    """Return the number of the student's band in the section, from 1."""
    numbered = enumerate(bands, 1)
    fits = (number for number, band in numbered if _is_in(profile, section, band))
    return next(fits, len(bands) + 1)


def _is_in(profile: "StudentProfile", section: "SectionView", band: Band) -> bool:
    """Return whether all conditions hold; of a cohort's `subjects`, only majors count."""
    if band.get("own_major") and not profile.majors & {section.subject_code, section.subject_name}:
        return False
    cohort = {kind: names for kind, names in band.items() if kind != "subjects"}
    subjects = band.get("subjects")
    if subjects and not profile.majors & set(subjects):
        return False
    return profile.earned >= band.get("credits", 0) and in_cohort(profile, cohort)


def in_words(band: Band) -> str:
    """Return who is in a band, as every student may read it; all conditions must hold."""
    of, who = [], []
    if years := band.get("years"):
        of.append(_("of class year %(names)s", names=requisites.any_of(years)))
    if levels := band.get("levels"):
        of.append(_("of level %(names)s", names=requisites.any_of(levels)))
    if subjects := band.get("subjects"):
        names = requisites.any_of(known_labels(subjects))
        who.append(_("are majors in %(names)s", names=names))
    if band.get("own_major"):
        who.append(_("are majors in the subject of the course"))
    if least := band.get("credits"):
        who.append(
            _n(
                "have %(credits)s completed credit or more",
                "have %(credits)s completed credits or more",
                least,
                credits=formatting.number(least),
            )
        )
    texts = {"of": _all_of(of), "who": _all_of(who)}
    if not who:
        return _("students %(of)s", **texts)
    if not of:
        return _("students who %(who)s", **texts)
    return _("students %(of)s who %(who)s", **texts)


def _all_of(parts: list[str]) -> str:
    """Join conditions that must all hold."""
    if len(parts) < 2:
        return "".join(parts)
    return _("%(items)s and %(last)s", items=", ".join(parts[:-1]), last=parts[-1])


def rule(bands: Sequence[Band]) -> str:
    """Return the published rule in one sentence; blank without bands."""
    if not bands:
        return ""
    listed = "; ".join(
        _("%(number)s. %(whom)s", number=number, whom=members)
        for number, members in enumerate([*map(in_words, bands), _("everyone else")], 1)
    )
    return _(
        "When a seat opens, it goes to the first group with someone waiting: %(bands)s. Within a"
        " group: first come, first served.",
        bands=listed,
    )


def own(band: int, bands: Sequence[Band]) -> str:
    """Return which band a student is in, and that others may come before them."""
    of = len(bands) + 1
    if band <= 1:
        return _("You are in group %(band)s of %(of)s.", band=band, of=of)
    return _(
        "You are in group %(band)s of %(of)s. Your position moves back when someone in an"
        " earlier group joins.",
        band=band,
        of=of,
    )


# How registrars write them: a band a line.


def write(bands: Sequence[Band]) -> str:
    """Return the text that `parse` reads back as these."""
    return "\n".join(map(_write, bands))


def _write(band: Band) -> str:
    parts = [f"{name}: {', '.join(band[kind])}" for name, kind in KINDS.items() if band.get(kind)]
    parts += [OWN_MAJOR] if band.get("own_major") else []
    parts += [f"credits: {band['credits']}"] if band.get("credits") else []
    return "; ".join(parts)


def conditions(session: Session) -> list[tuple[str, str]]:
    """Return what a line may say: an example of each kind of condition, and its meaning."""
    known = cohorts.choices(session)

    def example(kind: str, otherwise: str) -> str:
        return next(iter(known[KINDS[kind]]), otherwise)

    def names(kind: str) -> str:
        return cohort_names.join_names(list(known[KINDS[kind]]), NAMED)

    return [
        (f"year: {example('year', 'Senior')}", _("class years: %(names)s", names=names("year"))),
        (f"level: {example('level', 'Graduate')}", _("levels: %(names)s", names=names("level"))),
        (f"major: {example('major', 'CSC')}", _("majors: %(names)s", names=names("major"))),
        ("credits: 90", _("so many completed credits, or more")),
        (OWN_MAJOR, _("majors in the subject of the course")),
    ]


def parse(session: Session, text: str) -> list[Band]:
    """Return the bands of a text, a line each. Raise `Unclear`, which numbers every wrong line."""
    numbered = enumerate(map(str.strip, text.splitlines()), 1)
    lines = [(number, line) for number, line in numbered if line]
    if len(lines) > MOST:
        raise Unclear(_("Write at most %(most)s groups.", most=MOST))
    choices = cohorts.choices(session) if lines else {}
    found: list[Band] = []
    errors = []
    for number, line in lines:
        try:
            found.append(_parse(line, choices, found))
        except Unclear as unclear:
            errors.append(_("Line %(number)s: %(error)s", number=number, error=str(unclear)))
    if errors:
        raise Unclear(" ".join(errors))
    return found


def _parse(line: str, choices: Mapping[str, Mapping[str, str]], before: Sequence[Band]) -> Band:
    if len(line) > LONGEST:
        raise Unclear(
            _(
                "Write at most %(most)s characters a line: %(line)s…",
                most=LONGEST,
                line=line[:SHOWN],
            )
        )
    band: dict[str, Any] = {}
    for part in filter(None, map(str.strip, line.split(";"))):
        kind, value = _condition(part, line, choices)
        if kind in band:
            raise Unclear(
                _(
                    "A condition comes twice: %(line)s. Put names of one kind after one colon, such"
                    " as “year: Junior, Senior”.",
                    line=line,
                )
            )
        band[kind] = value
    if not band:
        raise Unclear(_("This line has no condition: %(line)s", line=line))
    if band in before:
        raise Unclear(_("This group is listed twice: %(line)s", line=line))
    return band


def _condition(part: str, line: str, choices: Mapping[str, Mapping[str, str]]) -> tuple[str, Any]:
    """Return the kind of a condition and what it asks for."""
    if part.casefold() == OWN_MAJOR:
        return "own_major", True
    entry = ENTRY.fullmatch(part)
    if not entry:
        raise Unclear(
            _(
                "“%(part)s” is not a condition. Write, for example, “year: Senior”, “level:"
                " Graduate”, “major: CSC”, “credits: 90” or “major of the course”.",
                part=part,
            )
        )
    if entry["kind"].lower() == "credits":
        return "credits", _credits(entry["names"], line)
    kind = KINDS[entry["kind"].lower()]
    return kind, _names(entry["names"], choices[kind])


def _credits(written: str, line: str) -> int:
    if not (written.isascii() and written.isdigit()) or not 0 < int(written) <= MOST_CREDITS:
        raise Unclear(_("Credits: enter a whole number such as 90: %(line)s", line=line))
    return int(written)


def _names(written: str, offered: Mapping[str, str]) -> list[str]:
    """Return the names as student records have them."""
    known = {name.casefold(): name for name in offered}
    names = []
    for each in filter(None, map(str.strip, written.split(","))):
        if each.casefold() not in known:
            raise Unclear(
                _(
                    "No student has “%(name)s”. Choose from: %(names)s.",
                    name=each,
                    names=cohort_names.join_names(list(offered), NAMED),
                )
            )
        names.append(known[each.casefold()])
    if not names:
        raise Unclear(_("A name is missing after the colon."))
    return sorted(set(names), key=names.index)


# Changing them


def change(
    term_id: int,
    edit: tuple[Sequence[Band], Sequence[Band]],
    by: int,
    reason: str,
    *,
    waiting: Callable[[Session, int], int],
) -> None:
    """Set the bands of a term. Raise ChangedMeanwhile, or PeopleWait.

    `edit` has the bands that were shown and those wanted;
    `waiting` returns how many waitlist positions there are in a term.
    """
    seen, wanted = edit
    with transaction() as session:
        term = session.get_one(Term, term_id, with_for_update=True)
        if term.bands == list(wanted):
            return
        if term.bands != list(seen):
            raise ChangedMeanwhile
        if positions := waiting(session, term_id):
            raise PeopleWait(positions)
        before, term.bands = term.bands, [dict(band) for band in wanted]
        term.catalog_version += 1
        add_audit_entry(
            session,
            "term.bands",
            f"term:{term_id}",
            by=by,
            before={"bands": write(before)},
            after={"bands": write(wanted)},
            reason=reason,
        )
    term_catalog.expire(term_id)
