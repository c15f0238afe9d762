"""Which change by hand a form or an address asks for, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from portal.admin.times import Reading
from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.core.db import transaction
from portal.core.i18n import _
from portal.people import student_profile as people
from portal.people.student_profile import StudentProfile
from portal.people.student_records import find_by_number
from portal.registration.adjustments import Adjustment
from portal.registration.credits import credit_choices
from portal.registration.next_steps import RefusalContext, section_name


@dataclass
class Asked:
    """Who, into what and out of what, as far as it is known; what is wrong is in `reading`."""

    offered: TermCatalog
    who: StudentProfile | None = None
    add: SectionView | None = None
    drop: SectionView | None = None
    credits: Decimal | None = None
    reading: Reading = field(default_factory=Reading)

    @property
    def subject(self) -> SectionView:
        """The section that it is about: the new one of a move."""
        found = self.add or self.drop
        assert found, "it names no section"  # noqa: S101  a bug
        return found

    @property
    def title(self) -> str:
        """What is to be done."""
        if self.add and self.drop:
            return _("Move a student")
        return _("Take a student out") if self.drop else _("Add a student")

    def case(self, held: Mapping[int, int]) -> RefusalContext:
        """By which the reasons are told; `held` are credits by section."""
        instead = self.drop.id if self.add and self.drop else 0
        return RefusalContext(self.offered, self.subject, backend().settings.zone, held, instead)

    def adjustment(self, overrides: tuple[str, ...] = ()) -> Adjustment:
        """What the ledger is asked for."""
        assert self.who, "it names no student"  # noqa: S101  a bug
        return Adjustment(
            self.offered.term.id,
            self.who.student,
            add=self.add.id if self.add else None,
            drop=self.drop.id if self.drop else None,
            credits=self.credits,
            overrides=overrides,
        )


def read(fields: Mapping[str, str], offered: TermCatalog) -> Asked:
    """All that the fields name, every error at once."""
    asked = Asked(offered)
    given = {name: fields.get(name, "").replace("\0", "").strip() for name in FIELDS}
    asked.who = _student(given["student"], asked.reading)
    asked.add = _section(given["add"], "add", asked)
    asked.drop = _section(given["drop"], "drop", asked)
    if not given["add"] and not given["drop"]:
        asked.reading.wrong("add", _("Name the section to add, the one to drop, or both."))
    if asked.add and asked.add == asked.drop:
        asked.reading.wrong("add", _("That is the section that the student would leave."))
    if asked.add and given["credits"] in credit_choices(asked.add):
        asked.credits = Decimal(given["credits"])
    return asked


FIELDS = ("student", "add", "drop", "credits")


def _student(number: str, reading: Reading) -> StudentProfile | None:
    with transaction() as session:
        found = find_by_number(session, number) if number else None
    if found is None:
        said = _("No student has the number %(number)s.", number=number)
        reading.wrong("student", said if number else _("Give the student’s number."))
        return None
    return people.read(found)


def section_of(text: str, offered: TermCatalog) -> SectionView | None:
    """The section of a CRN, or of a course and number as people say it."""
    wanted = requisites.key(text)
    fits = (
        card
        for card in offered.sections
        if text == card.crn or wanted == requisites.key(section_name(card))
    )
    return next(fits, None)


def _section(text: str, name: str, asked: Asked) -> SectionView | None:
    found = section_of(text, asked.offered) if text else None
    if text and found is None:
        facts = {"term": asked.offered.term.name, "text": text}
        said = _("%(term)s has no section with the CRN or the number %(text)s.", **facts)
        asked.reading.wrong(name, said)
    return found
