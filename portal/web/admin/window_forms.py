"""The forms of selection windows: a new window, the times of an existing one, and cohorts."""

import re
from typing import Any, ClassVar

from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage, MultiDict
from wtforms import FileField

from portal.catalog import cohort_names
from portal.core.i18n import _, _l
from portal.web.forms import (
    ChoicesField,
    Form,
    MomentField,
    OneOfField,
    Sent,
    StudentNumbersField,
    TextField,
)
from portal.windows import cohorts
from portal.windows.service import NewWindow

FARTHEST = 5 * 365 * 24 * 60 * 60_000  # ms; a later time means a mistyped year
TOO_FAR = _l("%(field)s: this is more than five years away. Check the year.")
MOST_STUDENTS = 100_000  # in a list
KINDS = ("years", "levels", "subjects", "students")
SHOWN_UNKNOWN = 5  # numbers in an error
NOT_STORED = ("csrf_token", "draft", "edit")


class TimesForm(Form):
    """When a window begins and ends; an action deletes the field that it does not set."""

    opens = MomentField(_l("Begins"))
    closes = MomentField(_l("Ends"))

    def check(self, now: int, after: int = 0) -> bool:
        """Validate the times against each other, the ledger's clock, and the old end `after`."""
        self.validate()
        check_times(self, now, after)
        return not self.errors

    @property
    def values(self) -> dict[str, Any]:
        """Return the moments (ms) by name."""
        return {field.name: field.data for field in self}

    @property
    def sent(self) -> dict[str, object]:
        """Return the submitted input, to send it again."""
        given = [field for field in self if field.raw_data]
        chosen = {f"{field.name}_which": field.chosen for field in given if field.chosen}
        return {field.name: field.raw_data[0] for field in given} | chosen


class CohortForm(Form):
    """The fields of a cohort. A student must match every field that is not empty."""

    # Whether unknown student numbers are left out, unless no number is known.
    drops_unknown: ClassVar[bool] = False

    years = ChoicesField(_l("Class years"), chips=True)
    levels = ChoicesField(_l("Levels"), chips=True)
    subjects = ChoicesField(_l("Majors and minors"), chips=True)
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


def name_field(hint: str) -> TextField:
    """Return the field for a name that students see."""
    return TextField(
        _l("Name"),
        longest=120,
        missing=_l("Enter a name that students will recognize."),
        too_long=_l("The name is longer than %(most)s characters."),
        description=hint,
    )


def whom_field(label: str, *, missing: str) -> OneOfField:
    """Return the choice between every student and a cohort."""
    return OneOfField(
        label,
        choices={
            "everyone": _l("Every student"),
            "some": _l("Only students who match everything you choose below"),
        },
        missing=missing,
    )


class WhomForm(CohortForm):
    """A choice between every student (`whom`) and a cohort."""

    drops_unknown = True
    whom: OneOfField  # see `whom_field`

    def chosen_cohort(self) -> cohorts.Cohort:
        """Return the cohort, empty for every student; add errors about it."""
        if self.whom.data == "some":
            empty = _("Choose at least one year, level, major or student.")
            return self.check_cohort(empty, "whom")
        for kind in KINDS:
            self[kind].errors = ()
        return {}


class NewWindowForm(WhomForm):
    """A new window: its name, its times, and its cohort."""

    name = name_field(_l("Students see this name. For example: “Seniors first”."))
    opens = MomentField(_l("Begins"))
    closes = MomentField(_l("Ends"))
    whom = whom_field(_l("Who can register"), missing=_l("Choose who can register."))
    students = StudentNumbersField(_l("Student numbers"), most=MOST_STUDENTS)
    file = FileField(
        _l("Or upload a list"),
        description=_l(
            "A text or CSV file with student numbers in the first column. They are added"
            " to the numbers above."
        ),
        render_kw={"accept": ".csv,.txt,text/csv,text/plain"},
    )

    def __init__(self, sent: Sent | None, session: Session) -> None:
        super().__init__(sent, whom="everyone" if sent is None else None)
        self.unknown = []
        self.offer(session, cohorts.choices(session))

    def check(self, now: int) -> bool:
        """Validate the form, and build the window that it describes; `now` is the ledger's time."""
        self.validate()
        check_times(self, now)
        cohort = self.chosen_cohort()
        if not self.errors:
            self.window = NewWindow(self.name.data, self.opens.data, self.closes.data, cohort)
        return not self.errors


def check_times(
    form: Form, now: int, after: int = 0, names: tuple[str, str] = ("opens", "closes")
) -> None:
    """Add errors to the two times, against each other, `now`, and an old end `after`."""
    at, (start, end) = {}, names
    for name in names:
        if name not in form or form[name].data is None:
            continue
        if abs(form[name].data - now) <= FARTHEST:
            at[name] = form[name].data
        else:
            form.refuse(TOO_FAR % {"field": form[name].label.text}, name)
    if end not in at:
        return
    if at[end] <= now:
        form.refuse(_("The end is in the past."), end)
    if start in at and at[end] <= at[start]:
        form.refuse(_("The end must be after the start."), end)
    if at[end] <= after:
        form.refuse(_("The new end must be later than the current end."), end)


def with_uploaded(form: Sent, file: FileStorage | None) -> Sent:
    """Return the form's input, with student numbers of an uploaded list after the typed ones."""
    fields = MultiDict(each for each in form.items(multi=True) if each[0] not in NOT_STORED)
    if file and file.filename:
        listed = "\n".join(_numbers(file.read()))
        fields["students"] = f"{form.get('students', '').rstrip()}\n{listed}".strip()
    return fields


def _numbers(content: bytes) -> list[str]:
    """Return the first column of a list saved by a spreadsheet; a heading has no digit."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    cells = (re.split(r"[,;\t]", line)[0] for line in text.replace("\0", "").splitlines())
    found = [cell for each in cells if (cell := each.strip().strip('"').strip())]
    return found[1:] if found and not re.search(r"\d", found[0]) else found
