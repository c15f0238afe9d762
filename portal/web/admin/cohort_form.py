"""The part of a form that chooses a cohort: class years, levels, subjects and students."""

from typing import ClassVar

from sqlalchemy.orm import Session

from portal.catalog import cohort_names
from portal.core.i18n import _, _l
from portal.web.forms import ChoicesField, Form, StudentNumbersField
from portal.windows import cohorts

KINDS = ("years", "levels", "subjects", "students")
SHOWN_UNKNOWN = 5  # numbers in an error


class CohortForm(Form):
    """The fields of a cohort. A student must match every field that is not empty."""

    # Whether unknown student numbers are left out, unless no number is known.
    drops_unknown: ClassVar[bool] = False

    years = ChoicesField(_l("Class years"))
    levels = ChoicesField(_l("Levels"))
    subjects = ChoicesField(_l("Majors and minors"))
    # Every process holds the list of a reserve with its section.
    students = StudentNumbersField(_l("Student numbers"), most=500)
    unknown: list[str]  # student numbers

    def offer(self, session: Session, offered: dict[str, dict[str, str]]) -> None:
        """Set the years, levels and subjects to choose from (`cohorts.choices`)."""
        self.session = session
        for kind, choices in offered.items():
            self[kind].offer(choices)

    def check_cohort(self, empty: str, field: str) -> cohorts.Cohort:
        """Return the cohort; add errors about unknown students, and `empty` to `field`."""
        cohort = {kind: self[kind].data for kind in KINDS if self[kind].data}
        self.unknown, numbers = [], cohort.get("students")
        if numbers and not self.students.errors:
            self.unknown = cohorts.unknown_students(self.session, numbers)
            known = sorted(set(numbers) - set(self.unknown))
            if not known or (self.unknown and not self.drops_unknown):
                names = cohort_names.join_names(self.unknown, SHOWN_UNKNOWN)
                self.refuse(_("No student has the number %(numbers)s.", numbers=names), "students")
            cohort["students"] = known
        if not cohort and not any(self[kind].errors for kind in KINDS):
            self.refuse(empty, field)
        return cohort
