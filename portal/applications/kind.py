"""What a kind of application declares: everything else follows from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property, partial
from typing import Any

from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from wtforms import Form

from portal.applications.models import Application
from portal.catalog.term_catalog import catalog_of
from portal.catalog.views import TermView
from portal.core.form_fields import NoteField
from portal.core.i18n import _l
from portal.ledger.types import Reason, Registrations
from portal.people import student_profile
from portal.recorder import read_with_fallback
from portal.registration import rules

TIME_AFTER_A_DEADLINE = timedelta(weeks=2)


@dataclass(frozen=True)
class Step:
    """A page of the form. `fields` are WTForms fields by name; their data is stored as JSON.

    A field finds the application's term as `term` of its form.
    """

    name: str
    title: Any
    fields: Mapping[str, Any]

    def form(self, answers: Mapping[str, Any], term: int) -> Form:
        """Return a form that shows the stored answers and can check them."""
        form = type("Answers", (Form,), {**self.fields, "term": term})
        return form(MultiDict(answers))

    def is_complete(self, answers: Mapping[str, Any], term: int) -> bool:
        """Return whether the stored answers are valid."""
        return bool(self.form(answers, term).validate())


def reason_step(question: str, *, missing: str, hint: str = "") -> Step:
    """Return the step that asks for a reason, the answer `why`."""
    why = NoteField(question, description=hint, required=True, missing=missing)
    return Step("reason", _l("Your reason"), {"why": why})


@dataclass(frozen=True)
class Situation:
    """What a kind looks at to say whether an application makes sense now.

    The properties raise LookupError if the person has no student record.
    """

    application: Application

    @property
    def holds(self) -> bool:
        """Return whether the student has a seat in the section."""
        held = self._registrations.enrolled
        return any(each.section == self.application.section_id for each in held)

    @property
    def permitted(self) -> frozenset[str]:
        """Return the rules of the section that the student may pass already."""
        who = student_profile.profile(self.application.student_id or 0)
        return who.overrides.get(self.application.section_id or 0, frozenset())

    def may_refuse(self, codes: frozenset[str]) -> bool:
        """Return whether one of these rules refuses the section to the student, or may do so."""
        section = catalog_of(self.application.term_id).section(self.application.section_id or 0)
        if section is None:
            return True
        who = student_profile.profile(self.application.student_id or 0)
        return rules.may_refuse(who, section, codes)

    @property
    def is_student(self) -> bool:
        """Return whether the person has a student record already."""
        student = self.application.account.student
        return student is not None and student.deleted_at is None

    @cached_property
    def _registrations(self) -> Registrations:
        term, student = self.application.term_id, self.application.student_id or 0
        student_profile.profile(student)  # raises LookupError for a closed record
        return read_with_fallback.without_marking(
            partial(read_with_fallback.registrations, term, student)
        )


class Approval:
    """The effect of an approval; `effect` is a sentence about it for the decider."""

    effect: Any

    def pointless(self, now: Situation) -> str:
        """Return the code of why it would change nothing; "" if it would."""
        raise NotImplementedError

    def parts(self, application: Application) -> list[str]:  # noqa: ARG002
        """Return the rules that may be approved one by one; none if it is all or nothing."""
        return []

    def preview(self, application: Application) -> list[Reason]:  # noqa: ARG002
        """Return the reasons of the ledger against it that the decider may override."""
        return []

    def act(self, session: Session, application: Application) -> "Acted":
        """Carry it out in the application's transaction. It may be called again for an approval."""
        raise NotImplementedError


@dataclass(frozen=True)
class Acted:
    """The outcome of an act: the ledger's event if there is one, or the reasons against it."""

    event: int | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of application.

    It is about a section that the student wants, with `holds` about one in which the student has a
    seat, with `whole_term` about none. `courses` returns the courses that the answers name, if
    there is no section. `stages` are who decides, in order, each another person;
    with `one_decider`, an admin who is the only one may decide them all. `last_day` is the last
    day on which an application can be sent. `applicants` are the roles that may start one.
    """

    name: str
    title: Any
    intro: Any
    steps: tuple[Step, ...]
    approval: Approval
    last_day: Callable[[TermView], date] = lambda term: term.ends_on
    deadline: str = ""  # until which students need no such application: one of DEADLINES
    holds: bool = False
    whole_term: bool = False
    courses: Callable[[Mapping[str, Any], int], set[int]] = lambda _answers, _term: set()
    stages: tuple[str, ...] = ("registrar",)
    one_decider: bool = False
    fee: int = 0  # minor units of the portal's currency
    documents: Mapping[str, Any] = field(default_factory=dict)  # labels by name
    required: frozenset[str] = frozenset()  # names of documents that must be sent
    applicants: frozenset[str] = frozenset({"student"})
    keep_days: int = 365  # of documents after the decision, unless the registrar sets another time

    def step(self, name: str) -> Step | None:
        return next((each for each in self.steps if each.name == name), None)

    def needless_until(self, term: TermView) -> date | None:
        """Return the last day on which students can do it themselves while a window is open."""
        return getattr(term, self.deadline) if self.deadline else None


def late(term: TermView, days: int, deadline: date | None) -> date:
    """Return the last day of a late application: so many days after the term's first day.

    If the deadline that it passes comes later, it is two weeks after that; never after the term.
    """
    last = term.starts_on + timedelta(days=days)
    if deadline:
        last = max(last, deadline + TIME_AFTER_A_DEADLINE)
    return min(last, term.ends_on)
