"""A person who is no student of the university asks to take courses for a term."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from wtforms.validators import StopValidation

from portal.applications.approvals import Admit
from portal.applications.kind import Kind, Step
from portal.catalog import requisites
from portal.catalog.term_catalog import NoSuchTerm, published_catalog
from portal.core.form_fields import ChoicesField, NoteField, OneOfField, TextField
from portal.core.i18n import _, _l

MOST_COURSES = 6
LEVELS = {
    "school": _l("High school student"),
    "undergraduate": _l("Undergraduate student"),
    "graduate": _l("Graduate student"),
    "other": _l("Not enrolled anywhere"),
}


class PhoneField(TextField):
    """A phone number as people write it."""

    def pre_validate(self, form: Any) -> None:
        """Raise StopValidation if it is missing or no phone number."""
        super().pre_validate(form)
        if self.data and not re.fullmatch(r"\+?[0-9 ().-]{6,30}", self.data):
            raise StopValidation(_("Enter a phone number such as +1 555 010 0199."))


class CoursesField(NoteField):
    """Courses of the term by code or CRN, one on each line or with commas between them."""

    def pre_validate(self, form: Any) -> None:
        """Raise StopValidation unless the term offers each of them."""
        super().pre_validate(form)
        named = _named(self.data)
        if len(named) > MOST_COURSES:
            raise StopValidation(_("Enter at most %(most)s courses.", most=MOST_COURSES))
        try:
            offered = published_catalog(form.term)
        except NoSuchTerm as error:
            raise StopValidation(_("This term is no longer offered.")) from error
        published = [each for each in offered.sections if each.status != "NEW"]
        known = {requisites.key(each.course_code) for each in published}
        known |= {each.crn for each in published}
        missing = [
            each for each in named if requisites.key(each) not in known and each not in known
        ]
        if missing:
            facts = {"term": offered.term.name, "names": ", ".join(missing)}
            raise StopValidation(_("%(term)s does not offer %(names)s.", **facts))


def courses(answers: Mapping[str, Any], term: int) -> set[int]:
    """Return the courses that an application names."""
    named = _named(answers.get("courses"))
    keys = {requisites.key(each) for each in named}
    return {
        each.course_id
        for each in published_catalog(term).sections
        if requisites.key(each.course_code) in keys or each.crn in named
    }


def _named(text: str | None) -> list[str]:
    return [each.strip() for each in re.split(r"[\n,;]", text or "") if each.strip()]


KIND = Kind(
    name="visiting",
    title=_l("Visiting student"),
    intro=_l("Take classes for a term without being a student here."),
    steps=(
        Step(
            "person",
            _l("About you"),
            {
                "institution": TextField(
                    _l("School or university"),
                    required=False,
                    description=_l("Leave it blank if you do not study anywhere now."),
                ),
                "level": OneOfField(
                    _l("What are you studying now?"), choices=LEVELS, missing=_l("Choose one.")
                ),
                "phone": PhoneField(_l("Phone"), longest=30, missing=_l("Enter a phone number.")),
                "address": NoteField(
                    _l("Postal address"), required=True, missing=_l("Enter your address.")
                ),
            },
        ),
        Step(
            "courses",
            _l("Courses"),
            {
                "courses": CoursesField(
                    _l("Which courses do you want to take?"),
                    description=_l("A course code or CRN on each line."),
                    required=True,
                    missing=_l("Enter at least one course."),
                ),
                "why": NoteField(
                    _l("How are you prepared for them?"),
                    required=True,
                    missing=_l("Explain how you are prepared."),
                ),
                "truth": ChoicesField(
                    _l("Declaration"),
                    choices={"yes": _l("Everything I say here is true and complete.")},
                    missing=_l("Confirm that what you say is true."),
                ),
            },
        ),
    ),
    approval=Admit(
        _l("The person gets a student record at once and can register when a window opens."),
        level="Visiting",
    ),
    last_day=lambda term: min(term.starts_on + timedelta(days=14), term.ends_on),
    whole_term=True,
    courses=courses,
    stages=("department", "registrar"),
    one_decider=True,
    fee=5000,
    documents={
        "transcript": _l("Transcript or certificate"),
        "identity": _l("Passport or identity card"),
    },
    required=frozenset({"transcript"}),
    applicants=frozenset({"applicant"}),
)
