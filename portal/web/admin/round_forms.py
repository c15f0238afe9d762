"""The forms of allocation rounds."""

from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy.orm import Session

from portal.catalog.models import Term
from portal.core.i18n import _, _l
from portal.registration.credits import hundredths
from portal.web.admin.public_values import check_source
from portal.web.admin.window_forms import (
    FARTHEST,
    KINDS,
    MOST_STUDENTS,
    TOO_FAR,
    WhomForm,
    check_times,
    name_field,
    whom_field,
)
from portal.web.forms import (
    ChoicesField,
    DecimalField,
    Form,
    MomentField,
    NumberField,
    OneOfField,
    ReasonField,
    SelectOneField,
    StudentNumbersField,
    TextField,
)
from portal.windows import cohorts
from portal.windows.models import Round
from portal.windows.rounds import MAJOR, MECHANISMS, RoundDetails, database_now, details

PRIORITIES = ("first", "second", "third")
MOST_TICKETS = 10


class RoundForm(WhomForm):
    """An allocation round: name, times, students, mechanism, limits and the public value."""

    rows: ClassVar = (("begins", "ends"), ("most_courses", "most_credits"), PRIORITIES)

    name = name_field(_l("Students see this name. For example: “First round, fall”."))
    begins = MomentField(_l("Begins"))
    ends = MomentField(_l("Ends"))
    whom = whom_field(_l("Who can take part"), missing=_l("Choose who can take part."))
    # Again, as a page shows fields in the order in which they were made.
    years = ChoicesField(_l("Class years"), chips=True)
    levels = ChoicesField(_l("Levels"), chips=True)
    subjects = ChoicesField(_l("Majors and minors"), chips=True)
    students = StudentNumbersField(_l("Student numbers"), most=MOST_STUDENTS)
    mechanism = OneOfField(
        _l("How seats are given"),
        choices={
            "draft": _l(
                "In turns: each student gets one choice a turn, and the order reverses each time"
                " (draft, usual)"
            ),
            "serial": _l(
                "One student after another: each gets all they can in the draw order (serial"
                " dictatorship)"
            ),
            "deferred": _l("By the priorities of sections: those below (deferred acceptance)"),
        },
        missing=_l("Choose how seats are given."),
    )
    first = SelectOneField(_l("First priority"))
    second = SelectOneField(_l("Second priority"))
    third = SelectOneField(_l("Third priority"))
    reserves = OneOfField(
        _l("Reserved seats of sections"),
        choices={
            "given": _l("Give them to students of their cohorts"),
            "kept": _l("Keep them for a later window"),
        },
        missing=_l("Choose what becomes of reserved seats."),
    )
    most_courses = NumberField(_l("Maximum number of courses"), least=1, most=20)
    most_credits = DecimalField(_l("Maximum number of credits"), least=1, most=100)
    tickets = NumberField(
        _l("Maximum draw tickets"),
        least=1,
        most=MOST_TICKETS,
        description=_l(
            "A student gets one more ticket for each earlier round, in any term, in which they"
            " missed their first choice. This is the maximum. With 1, earlier rounds do not"
            " count."
        ),
    )
    public_source = TextField(
        _l("Where the public value will come from"),
        longest=300,
        missing=_l("Name a value that will be published after the end."),
        description=_l(
            "A number that no one knows before the end, such as the randomness of “drand quicknet"
            " round 4711” or the next draw of a lottery. Say which number, with how many digits."
            " Students read this before they rank."
        ),
    )
    public_at = MomentField(
        _l("Public value known from"),
        description=_l(
            "No one can know the value before this moment. It must be after the end. Leave time"
            " to fix the ballots, such as a day: later than this they can’t be fixed, and the"
            " round must be canceled."
        ),
    )
    reason = ReasonField()

    def __init__(self, session: Session, **more: Any) -> None:
        super().__init__(**more)
        self.unknown = []
        offered = cohorts.choices(session)
        self.offer(session, offered)
        names = {"": _("None"), MAJOR: _("Majors of the section’s subject")}
        names |= {f"year {each}": _("Class year %(year)s", year=each) for each in offered["years"]}
        names |= {f"level {each}": _("Level %(level)s", level=each) for each in offered["levels"]}
        for each in PRIORITIES:
            self[each].offer(names)

    def check_together(self) -> None:
        """Check the fields against each other, and build the round that they describe."""
        now = database_now()
        check_times(self, now, names=("begins", "ends"))
        if (known := self.public_at.data) is not None:
            if abs(known - now) > FARTHEST:
                self.refuse(TOO_FAR % {"field": self.public_at.label.text}, "public_at")
            elif self.ends.data is not None and known <= self.ends.data:
                self.refuse(_("The public value must be known after the end only."), "public_at")
        check_source(self)
        cohort = self.chosen_cohort()
        chosen = [self[each].data for each in PRIORITIES if self[each].data]
        if len(set(chosen)) < len(chosen):
            self.refuse(_("Choose each priority once."), "second")
        if self.mechanism.data == "deferred" and not chosen:
            self.refuse(
                _("Choose a first priority: seats are given by the priorities of sections."),
                "first",
            )
        if self.mechanism.data in {"draft", "serial"} and chosen:
            self.refuse(_("Only deferred acceptance has priorities. Choose none."), "first")
        if not self.errors:
            self.round = RoundDetails(
                name=self.name.data,
                cohort=cohort,
                begins=self.begins.data,
                ends=self.ends.data,
                mechanism=self.mechanism.data,
                priorities=tuple(chosen),
                reserves=self.reserves.data,
                tickets=self.tickets.data,
                most_courses=self.most_courses.data,
                most_credits=hundredths(self.most_credits.data),
                public_source=self.public_source.data,
                public_at=self.public_at.data,
            )


class EndForm(Form):
    """When a round ends."""

    ends = MomentField(_l("Ends"))
    reason = ReasonField()
    begins_at = 0  # when the round begins (ms)

    def check_together(self) -> None:
        """Check that the round ends after its start, and not in the past."""
        check_times(self, database_now(), names=("begins", "ends"))
        if not self.errors and self.ends.data <= self.begins_at:
            self.refuse(_("The end must be after the start."), "ends")


def first_values(term: Term) -> dict[str, Any]:
    """Return the values of an empty form."""
    return {
        "whom": "everyone",
        "mechanism": next(iter(MECHANISMS)),
        "reserves": "given",
        "most_courses": 6,
        "most_credits": term.credit_limit,
        "tickets": 1,
        **dict.fromkeys(PRIORITIES, ""),
    }


def values_of(session: Session, found: Round) -> dict[str, Any]:
    known = details(found)
    chosen = dict(zip(PRIORITIES, (*known.priorities, "", "", ""), strict=False))
    cohort = {kind: known.cohort.get(kind, []) for kind in KINDS}
    cohort["students"] = cohorts.numbers_of(session, known.cohort)
    return {
        **vars(known),
        **chosen,
        **cohort,
        "whom": "some" if any(known.cohort.values()) else "everyone",
        "most_credits": Decimal(known.most_credits) / 100,
    }
