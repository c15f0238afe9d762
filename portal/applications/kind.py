"""What a kind of application declares: everything else follows from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from werkzeug.datastructures import MultiDict
from wtforms import Form

from portal.applications.models import Application
from portal.catalog.views import TermView
from portal.ledger.types import Reason, Registrations
from portal.people.student_profile import StudentProfile


@dataclass(frozen=True)
class Step:
    """A page of the form. `fields` are WTForms fields by name; their data is stored as JSON."""

    name: str
    title: Any
    fields: Mapping[str, Any]

    def form(self, answers: Mapping[str, Any]) -> Form:
        """Return a form that shows the stored answers and can check them."""
        form = type("Answers", (Form,), dict(self.fields))
        return form(MultiDict(answers))

    def is_complete(self, answers: Mapping[str, Any]) -> bool:
        """Return whether the stored answers are valid."""
        return bool(self.form(answers).validate())


@dataclass(frozen=True)
class Situation:
    """What a kind looks at to say whether an application makes sense now."""

    application: Application
    student: StudentProfile
    registrations: Registrations

    @property
    def holds(self) -> bool:
        """Return whether the student has a seat in the section."""
        return any(
            each.section == self.application.section_id for each in self.registrations.enrolled
        )

    @property
    def permitted(self) -> frozenset[str]:
        """Return the rules of the section that the student may pass already."""
        return self.student.overrides.get(self.application.section_id, frozenset())


class Approval(Protocol):
    """The effect of an approval."""

    @property
    def effect(self) -> Any:
        """Return a sentence for the decider."""

    def pointless(self, now: Situation) -> str:
        """Return the code of why it would change nothing; "" if it would."""

    def preview(self, application: Application) -> list[Reason]:
        """Return the reasons of the ledger against it that the decider may override."""

    def act(self, application: Application) -> "Acted":
        """Carry it out. It may be called again for the same approval."""


@dataclass(frozen=True)
class Acted:
    """The outcome of an act: the ledger's event if there is one, or the reasons against it."""

    event: int | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of application.

    `holds` says that it is about a section in which the student has a seat, else about one that
    the student wants. `stages` are who decides, in order. `last_day` is the last day on which an
    application can be sent.
    """

    name: str
    title: Any
    intro: Any
    steps: tuple[Step, ...]
    approval: Approval
    last_day: Callable[[TermView], date]
    holds: bool = False
    stages: tuple[str, ...] = ("registrar",)
    fee: int = 0  # minor units; none has one yet
    documents: Mapping[str, Any] = field(default_factory=dict)  # labels by name; all are optional

    def step(self, name: str) -> Step | None:
        """Return the step of that name."""
        return next((each for each in self.steps if each.name == name), None)
