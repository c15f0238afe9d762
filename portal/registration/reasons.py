"""The reasons for refusals: one registry of their codes, texts, next steps and labels.

Each reason stands below once. The function under a `@reason` returns the text that a student reads
and the next step, from the facts that the ledger or a rule gave. The order is that of lists.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from portal.catalog import cohort_names, requisites
from portal.catalog.time_conflicts import clash_in_words
from portal.core.i18n import _, _l, _n, isolated
from portal.ledger.types import Reason
from portal.registration import next_steps
from portal.registration.credits import amount, credits_in_words
from portal.registration.next_steps import NextStep, RefusalContext
from portal.registration.restrictions import why_restricted

if TYPE_CHECKING:
    from portal.catalog.views import ReserveView

Facts = dict[str, Any]
Answer = tuple[str, NextStep | None]
Explain = Callable[[Facts, RefusalContext], Answer]
# From a reason's facts and the credits of all seats: those that would each be enough to give up.
Ending = Callable[[Facts, Mapping[int, int]], set[int]]


def _no_seat(_facts: Facts, _held: Mapping[int, int]) -> set[int]:
    return set()


def _its_seat(facts: Facts, _held: Mapping[int, int]) -> set[int]:
    """Return the seat that the reason is about."""
    return {facts["section"]}


@dataclass(frozen=True)
class ReasonKind:
    """The properties of a reason that are the same for every student."""

    code: str
    explain: Explain
    label: str  # a few words, for lists and counts
    obstacle: str = ""  # what the registrar reads before an override
    permission: str = ""  # the rule that a student permission names; "" for none
    ledger_checks: bool = False  # a rule that the ledger checks itself
    fixable: bool = False  # the student can act on it at once
    ending: Ending = _no_seat  # a swap of any of these seats removes it
    out_of_time: bool = False  # no window is open for the student, or a deadline has passed
    for_all: bool = False  # refuses every section alike
    counts_as_skip: bool = False  # may count towards losing a waitlist position
    application_to_add: str = ""  # the kind that asks for the section in spite of it
    application_to_drop: str = ""  # the kind that asks to drop the seat in spite of it

    @property
    def is_removed_by_a_drop(self) -> bool:
        """Return whether giving up a seat can remove it."""
        return self.ending is not _no_seat


REASONS: dict[str, ReasonKind] = {}


def reason(code: str, label: str, **more: Any) -> Callable[[Explain], Explain]:
    """Register the function as the explanation of the reason `code`."""

    def register(explain: Explain) -> Explain:
        REASONS[code] = ReasonKind(code, explain, label, **more)
        return explain

    return register


@dataclass(frozen=True)
class ApplicationStart:
    """A kind of application that can lift a refusal, and the section that it is about."""

    kind: str
    term: int
    section: int


@dataclass(frozen=True)
class Explanation:
    """A reason as a student reads it; `code` stays for programs and tests."""

    code: str
    text: str
    step: NextStep | None = None
    apply: ApplicationStart | None = None

    @property
    def label(self) -> str:
        """Return the reason in a few words."""
        return label(self.code)

    @property
    def without_form(self) -> "Explanation":
        """Return the explanation without a step to a form that would be refused."""
        return replace(self, step=None) if self.step and self.step.opens_form else self

    @property
    def without_drop(self) -> "Explanation":
        """Return the explanation without a step that gives up a seat."""
        return replace(self, step=None) if self.step and self.step.gives_up_a_seat else self


def explain(reasons: Iterable[Reason], context: RefusalContext) -> list[Explanation]:
    """Return each reason with its text and next steps, in the order given; none comes twice.

    A form is offered only if no other reason would refuse what it asks for.
    """
    reasons, offered = list(reasons), set[str]()
    found: list[Explanation] = []
    context = replace(context, swap=_seat_to_swap(reasons, context))
    for each in reasons:
        kind = REASONS.get(each.code)
        text, step = (kind.explain if kind else _unknown)(each.facts, context)
        if step and (step.url in offered or (step.opens_form and not _form_helps(each, reasons))):
            step = None
        offered |= {step.url} if step else set()
        found.append(Explanation(each.code, text, step, _application_start(kind, context)))
    return found


def distinct(explanations: Iterable[Explanation]) -> list[Explanation]:
    """Return the explanations without repeated sentences."""
    return list({each.text: each for each in explanations}.values())


def label(code: str) -> str:
    """Return a reason in a few words; an unknown code stands for itself."""
    return str(REASONS[code].label) if code in REASONS else code


def permission_names(codes: Iterable[str]) -> str:
    """Return the names of the rules that a permission lifts, in one line."""
    return "; ".join(str(PERMISSIONS.get(code, code)) for code in codes)


def any_lasting(reasons: Iterable[Reason]) -> bool:
    """Return whether one of the reasons stays, whatever the student does about the others."""
    return any(each.code not in FIXABLE for each in reasons)


def decisive_first(reasons: Iterable[Reason]) -> list[Reason]:
    """Return the reasons, those that stay whatever the student does before the others."""
    return sorted(reasons, key=lambda each: each.code in FIXABLE)


def _application_start(kind: ReasonKind | None, context: RefusalContext) -> ApplicationStart | None:
    """Return the application that can lift a reason about a section."""
    section = context.section
    if kind is None or section is None:
        return None
    term, to_add, to_drop = (
        context.catalog.term.id,
        kind.application_to_add,
        kind.application_to_drop,
    )
    if to_drop and (section.id in context.held or not to_add):
        return ApplicationStart(to_drop, term, context.swap_out or section.id)
    name = to_add or ("permission" if kind.permission else "")
    return ApplicationStart(name, term, section.id) if name else None


def _form_helps(one: Reason, reasons: list[Reason]) -> bool:
    """Return whether a form that removes one reason helps: no other reason may stay."""
    others = {each.code for each in reasons if each.code != one.code}
    # A waitlist has rules too.
    return others <= ({"corequisite", "together"} if one.code == "full" else FIXABLE)


def _seat_to_swap(reasons: list[Reason], context: RefusalContext) -> int:
    """Return the only seat that can be swapped to remove the refusals, 0 if none or several can.

    A plan's own refusals stay, and a reason that the student can't remove hides all forms.
    """
    if context.swap_out:
        return 0
    enough = [
        REASONS[each.code].ending(each.facts, context.held)
        for each in reasons
        if each.code in FIXABLE
        and not each.facts.get("planned")
        and not _swap_settles(each, context)
    ]
    fitting = [*filter(context.can_swap, set.intersection(*enough))] if enough else []
    return fitting[0] if len(fitting) == 1 else 0


def _swap_settles(one: Reason, context: RefusalContext) -> bool:
    """Return whether a swap removes a reason, whichever seat is given up.

    Its form asks for the credits and for a linked section, and a swap can wait for a seat.
    """
    if one.code == "corequisite":
        return next_steps.pick_together(one.facts["missing"], context) is not None
    if one.code == "full":
        return bool(one.facts["waiting"] < one.facts["waitlist_capacity"])
    return one.code == "credit_range"


def _unknown(_facts: Facts, context: RefusalContext) -> Answer:
    """Explain an unknown code, such as one of a newer release."""
    text = _("You can’t add %(name)s right now. Ask the registrar.", name=context.name)
    return text, next_steps.my_selections(context)


# Windows ------------------------------------------------------------------------------------------


@reason(
    "window_unscheduled",
    _l("No window is scheduled"),
    obstacle=_l("The student has no selection window"),
    out_of_time=True,
    for_all=True,
    counts_as_skip=True,
)
def _window_unscheduled(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("You have no selection window in this term.")
    return text, NextStep(_("View sections"), context.term_url)


@reason(
    "window_before",
    _l("Too early: the window has not opened"),
    obstacle=_l("The student’s window has not opened yet"),
    out_of_time=True,
    for_all=True,
)
def _window_before(facts: Facts, context: RefusalContext) -> Answer:
    text = _(
        "Registration is not open yet. It opens at %(time)s.", time=context.when(facts["opens"])
    )
    return text, NextStep(_("See the countdown"), context.term_url)


@reason(
    "window_ended",
    _l("Too late: the window has ended"),
    obstacle=_l("The student’s window has ended"),
    out_of_time=True,
    for_all=True,
    counts_as_skip=True,
    application_to_add="late_add",
    application_to_drop="late_drop",
)
def _window_ended(facts: Facts, context: RefusalContext) -> Answer:
    text = _("Registration ended at %(time)s.", time=context.when(facts["closes"]))
    return text, next_steps.my_selections(context)


# Deadlines of the term ----------------------------------------------------------------------------


@reason(
    "add_deadline",
    _l("Too late: the last day to add has passed"),
    obstacle=_l("The last day to add has passed"),
    out_of_time=True,
    for_all=True,
    application_to_add="late_add",
)
def _add_deadline(facts: Facts, context: RefusalContext) -> Answer:
    text = _("The last day to add classes was %(day)s.", day=context.day_before(facts["closes"]))
    # With a section, the refusal has a link to the application about it.
    step = next_steps.my_selections if context.section else next_steps.applications
    return text, step(context)


@reason(
    "drop_deadline",
    _l("Too late: the last day to drop has passed"),
    obstacle=_l("The last day to drop has passed"),
    out_of_time=True,
    application_to_drop="withdrawal",
)
def _drop_deadline(facts: Facts, context: RefusalContext) -> Answer:
    text = _("The last day to drop classes was %(day)s.", day=context.day_before(facts["closes"]))
    if until := facts.get("withdraw"):
        more = _("You can ask to withdraw until %(day)s.", day=context.day_before(until))
        text = f"{text} {more}"
    return text, next_steps.my_selections(context)


@reason(
    "withdraw_deadline",
    _l("Too late: the last day to withdraw has passed"),
    obstacle=_l("The last day to withdraw has passed"),
    out_of_time=True,
)
def _withdraw_deadline(facts: Facts, context: RefusalContext) -> Answer:
    text = _(
        "The last day to withdraw from classes was %(day)s. Ask the registrar’s office.",
        day=context.day_before(facts["closes"]),
    )
    return text, next_steps.my_selections(context)


# The section --------------------------------------------------------------------------------------


@reason("section_unknown", _l("No such section"))
def _section_unknown(_facts: Facts, context: RefusalContext) -> Answer:
    return _("This section is no longer offered."), next_steps.section_list(context)


@reason("section_new", _l("Section not published"))
def _section_new(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("%(name)s has not been published yet.", name=context.name)
    return text, next_steps.other_sections(context)


@reason("section_confirmed", _l("Section already confirmed"), obstacle=_l("The roster is closed"))
def _section_confirmed(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("%(name)s no longer takes new students.", name=context.name)
    return text, next_steps.other_sections(context)


@reason("section_canceled", _l("Section canceled"))
def _section_canceled(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("%(name)s has been canceled.", name=context.name)
    return text, next_steps.other_sections(context)


# The student's own seats and positions ------------------------------------------------------------


@reason("already_enrolled", _l("Already enrolled"), fixable=True)
def _already_enrolled(_facts: Facts, context: RefusalContext) -> Answer:
    return already_enrolled(context.name), next_steps.my_selections(context)


def already_enrolled(name: str) -> str:
    """Return what a student reads about a section in which they have a seat."""
    return _("You already have %(name)s.", name=name)


@reason("already_waiting", _l("Already on the waitlist"), fixable=True)
def _already_waiting(facts: Facts, context: RefusalContext) -> Answer:
    if position := facts.get("position"):
        text = _(
            "You are already on the waitlist for %(name)s, at position %(place)s.",
            name=context.name,
            place=position,
        )
    else:
        text = already_waiting(context.name)
    return text, next_steps.my_selections(context)


def already_waiting(name: str) -> str:
    """Return what a student reads about a section for which they wait."""
    return _("You are already on the waitlist for %(name)s.", name=name)


# Rules between a student and a section ------------------------------------------------------------


@reason(
    "prerequisite",
    _l("Prerequisite missing"),
    obstacle=_l("A prerequisite is missing"),
    permission=_l("Prerequisites"),
    counts_as_skip=True,
)
def _prerequisite(facts: Facts, context: RefusalContext) -> Answer:
    courses = requisites.describe(facts["missing"])
    if (low := facts.get("grades")) is not None:
        own = [_own_grade(code, low[code]) for code in low]
        text = " ".join((_("Requires %(courses)s.", courses=courses), *own))
    else:
        text = _("Requires %(courses)s (not on your record).", courses=courses)
    codes = requisites.codes(facts["missing"])
    offered = next((code for code in codes if context.catalog.course_id(code)), None)
    if offered:
        return text, next_steps.find_course(offered, context)
    return text, next_steps.other_sections(context, "prerequisites")


def _own_grade(code: str, grade: str) -> str:
    course = requisites.shown(code)
    if grade:
        return _("Your grade in %(course)s is %(grade)s.", course=course, grade=grade)
    return _("Your record shows no grade for %(course)s.", course=course)


@reason(
    "restriction",
    _l("Restricted section"),
    obstacle=_l("The student does not meet the section’s restrictions"),
    permission=_l("Restrictions by major, year, level and so on"),
    counts_as_skip=True,
)
def _restriction(facts: Facts, context: RefusalContext) -> Answer:
    return why_restricted(**facts), next_steps.other_sections(context, "restrictions")


@reason(
    "consent",
    _l("Instructor’s consent missing"),
    obstacle=_l("The instructor has not given consent"),
    permission=_l("Instructor’s consent"),
    counts_as_skip=True,
    application_to_add="consent",
)
def _consent(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("%(name)s needs the instructor’s consent.", name=context.name)
    return text, next_steps.other_sections(context, "consent")


@reason(
    "not_for_you",
    _l("Course not shown to the student"),
    obstacle=_l("The course is not shown to this student"),
    permission=_l("Courses hidden from some students"),
)
def _not_for_you(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("%(name)s is not open to your major, level or class year.", name=context.name)
    return text, next_steps.section_list(context)


@reason(
    "same_course",
    _l("Has another section of the course"),
    obstacle=_l("The student has another section of this course"),
    permission=_l("Another section of the same course"),
    ledger_checks=True,
    fixable=True,
    counts_as_skip=True,
    ending=_its_seat,
)
def _same_course(facts: Facts, context: RefusalContext) -> Answer:
    name = context.named(facts["section"])
    if facts.get("planned"):
        return _("Your plan already has another section of this course: %(name)s.", name=name), None
    text = _("You already have another section of this course: %(name)s.", name=name)
    return text, next_steps.drop_or_swap(facts["section"], context)


@reason(
    "time_conflict",
    _l("Time conflict"),
    obstacle=_l("The section has a time conflict"),
    permission=_l("Time conflicts"),
    ledger_checks=True,
    fixable=True,
    counts_as_skip=True,
    ending=_its_seat,
)
def _time_conflict(facts: Facts, context: RefusalContext) -> Answer:
    other, name = facts["section"], context.named(facts["section"])
    if facts.get("planned"):
        name = _("planned %(name)s", name=name)
    text = clash_in_words(context.section, context.catalog.section(other), name)
    return text, None if facts.get("planned") else next_steps.drop_or_swap(other, context)


def _seats_of_enough_credits(facts: Facts, held: Mapping[int, int]) -> set[int]:
    """Return the seats that each make room for the section."""
    over = facts["held"] + facts["adds"] - facts["limit"]
    return {section for section, worth in held.items() if worth >= over}


@reason(
    "credit_limit",
    _l("Over the credit limit"),
    obstacle=_l("The section exceeds the credit limit"),
    permission=_l("Credit limit"),
    ledger_checks=True,
    fixable=True,
    counts_as_skip=True,
    ending=_seats_of_enough_credits,
    application_to_add="credit_overload",
)
def _credit_limit(facts: Facts, context: RefusalContext) -> Answer:
    total, limit = credits_in_words(facts["held"] + facts["adds"]), amount(facts["limit"])
    if facts.get("planned"):
        text = _(
            "Your plan would have %(total)s with this section. Your limit is %(limit)s.",
            total=total,
            limit=limit,
        )
        return text, None
    text = _(
        "You have %(held)s and would have %(total)s. Your limit is %(limit)s.",
        total=total,
        limit=limit,
        held=amount(facts["held"]),
    )
    return text, next_steps.make_room(context)


@reason(
    "corequisite",
    _l("Corequisite missing"),
    obstacle=_l("A corequisite is missing"),
    permission=_l("Corequisites"),
    ledger_checks=True,
    fixable=True,
    counts_as_skip=True,
)
def _corequisite(facts: Facts, context: RefusalContext) -> Answer:
    missing = (context.catalog.course_code(course) for course in facts["missing"])
    offered = [code for code in missing if code]
    if not offered:
        text = _("Requires another course in the same term, which is not offered.")
        return text, next_steps.other_sections(context, "corequisites")
    courses = requisites.any_of([requisites.shown(code) for code in offered])
    if facts.get("waiting"):
        text = _(
            "Requires a seat in %(courses)s. A waitlist position is not enough.",
            courses=courses,
        )
        return text, next_steps.find_course(offered[0], context)
    if both := next_steps.pick_together(facts["missing"], context):
        return _("Must be taken together with %(courses)s.", courses=courses), both
    text = _("Must be taken together with %(courses)s. Add that first.", courses=courses)
    return text, next_steps.find_course(offered[0], context)


@reason(
    "corequisite_not_offered",
    _l("Corequisite not offered"),
    obstacle=_l("A corequisite is not offered this term"),
)
def _corequisite_not_offered(facts: Facts, context: RefusalContext) -> Answer:
    text = _(
        "Must be taken together with %(courses)s, which is not "
        "offered this term. Ask the department.",
        courses=requisites.describe(facts["missing"]),
    )
    return text, next_steps.other_sections(context, "corequisites")


@reason(
    "credit_range",
    _l("Credits out of range"),
    obstacle=_l("The section does not allow that number of credits"),
    fixable=True,
)
def _credit_range(facts: Facts, context: RefusalContext) -> Answer:
    text = _(
        "%(name)s allows %(least)s to %(most)s credits. Choose a number in that range.",
        name=context.name,
        least=amount(facts["min"]),
        most=amount(facts["max"]),
    )
    return text, None


@reason(
    "hold",
    _l("Hold on the record"),
    obstacle=_l("There is a hold on the student’s record"),
    for_all=True,
    counts_as_skip=True,
)
def _hold(facts: Facts, _context: RefusalContext) -> Answer:
    return hold_text(facts), None


def hold_text(facts: Facts) -> str:
    """Return a sentence with the hold, its reason, and who lifts it."""
    if facts.get("adviser"):
        return _(
            "You can’t register yet: %(reason)s. Talk to your adviser, %(adviser)s. Your adviser"
            " can remove this hold.",
            reason=hold_reason(facts),
            adviser=isolated(facts["adviser"]),
        )
    if "adviser" in facts:
        return _(
            "You can’t register yet: %(reason)s. You have no adviser yet. Contact %(office)s.",
            reason=hold_reason(facts),
            office=facts.get("office") or _("the registrar"),
        )
    office = facts.get("office") or _("the registrar")
    contact = _("Contact %(office)s to have it lifted.", office=office)
    return f"{hold_heading(hold_reason(facts))}. {contact}"


def hold_heading(hold: str) -> str:
    """Return the words that begin each text about a hold, without a full stop."""
    return _("There is a hold on your record: %(hold)s", hold=hold)


def hold_reason(facts: Facts) -> str:
    """Return the reason for a hold, without a full stop."""
    return str(facts.get("reason") or facts.get("kind") or _("no reason given")).rstrip(".")


@reason("student_unknown", _l("No such student"))
def _student_unknown(_facts: Facts, _context: RefusalContext) -> Answer:
    return _("We can’t find your student record. Ask the registrar."), None


# Sections that are taken together -----------------------------------------------------------------


@reason("together", _l("Corequisite not available"), fixable=True)
def _together(facts: Facts, context: RefusalContext) -> Answer:
    name = context.named(facts["section"])
    return _("Must be taken together with %(name)s, which you can’t add now.", name=name), None


@reason("in_round", _l("Seats given out in an allocation round"))
def _in_round(_facts: Facts, context: RefusalContext) -> Answer:
    text = _(
        "The seats of %(name)s are being given out in an allocation round. Try again once its"
        " result is published.",
        name=context.name,
    )
    return text, next_steps.other_sections(context)


@reason("not_partner", _l("Submitted together, but no corequisite"))
def _not_partner(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("%(name)s is not a corequisite of the others. Add it separately.", name=context.name)
    return text, next_steps.pick_alone(context)


@reason(
    "needed_by",
    _l("Required by another class"),
    obstacle=_l("Another class of the student requires the dropped one"),
    fixable=True,
)
def _needed_by(facts: Facts, context: RefusalContext) -> Answer:
    held, name = facts["section"], context.named(facts["section"])
    if facts.get("waiting"):  # a held seat needs the course of this waitlist
        text = _(
            "%(held)s requires %(name)s, and you are on its waitlist. To "
            "leave the waitlist, you must drop %(held)s too.",
            held=name,
            name=context.name,
        )
        return text, next_steps.drop_and_leave([held], context)
    lost = (context.catalog.course_code(course) for course in facts.get("missing", ()))
    courses = [requisites.shown(code) for code in lost if code]
    text = _(
        "%(name)s requires %(courses)s, which you would drop.",
        name=name,
        courses=requisites.any_of(courses) or context.name,
    )
    return text, next_steps.drop_both(held, context)


# Seats --------------------------------------------------------------------------------------------


@reason(
    "full",
    _l("Full"),
    obstacle=_l(
        "The section has no free seat for this student: it is full, "
        "others are waiting, or the seats are reserved"
    ),
    fixable=True,
)
def _full(facts: Facts, context: RefusalContext) -> Answer:
    waiting, size = facts.get("waiting", 0), facts.get("waitlist_capacity", 0)
    room = waiting < size
    step = next_steps.join_waitlist(context) if room else next_steps.other_sections(context)
    if reserved := _only_reserved(facts, context):
        return reserved, step
    if not waiting:
        text = _("%(name)s is full. No one is on the waitlist yet.", name=context.name)
        return text, step
    text = _n(
        "%(name)s is full. %(num)s student is on the waitlist.",
        "%(name)s is full. %(num)s students are on the waitlist.",
        waiting,
        name=context.name,
    )
    return text, step


@reason("waitlist_full", _l("Waitlist full"))
def _waitlist_full(facts: Facts, context: RefusalContext) -> Answer:
    size, step = facts.get("waitlist_capacity", 0), next_steps.other_sections(context)
    if reserved := _only_reserved(facts, context):
        full = _("Its waitlist is full.") if size else _("It has no waitlist.")
        return f"{reserved} {full}", step
    if not size:
        return _("%(name)s is full and has no waitlist.", name=context.name), step
    text = _(
        "%(name)s is full, and its waitlist of %(size)s is full too.",
        name=context.name,
        size=size,
    )
    return text, step


def _only_reserved(facts: Facts, context: RefusalContext) -> str:
    """Return that the remaining seats are reserved, with their cohorts; "" if none remain."""
    if not facts.get("kept"):
        return ""
    known = context.section.reserves if context.section else ()
    holders = [each for each in known if each.id in facts.get("kept_for", ())]
    return _n(
        "The last %(num)s seat in %(name)s is reserved for %(whom)s.",
        "The last %(num)s seats in %(name)s are reserved for %(whom)s.",
        facts["kept"],
        name=context.name,
        whom="; ".join(reserve_in_words(each, context.when) for each in holders) or _("others"),
    )


def reserve_in_words(reserve: "ReserveView", when: Callable[[int], str]) -> str:
    """Return the cohort and the end of a reserve: "Senior students until 9:00 am"."""
    cohort = cohort_names.describe_publicly(reserve.cohort)
    if reserve.until is None:
        return cohort
    time = when(round(reserve.until.timestamp() * 1000))
    return _("%(whom)s until %(time)s", whom=cohort, time=time)


def reserved_seat_text(reserve: int, context: RefusalContext) -> str:
    """Return that a seat was one of those reserved for a cohort, which may be gone by now."""
    known = context.section.reserves if context.section else ()
    found = next((each for each in known if each.id == reserve), None)
    cohort = cohort_names.describe_publicly(found.cohort) if found else _("a cohort")
    return _("The seat is reserved for %(whom)s.", whom=cohort)


def permission_text(codes: Iterable[str]) -> str:
    """Return that a permission of the student's lifted these rules."""
    return _("Allowed by your permission: %(rules)s.", rules=permission_names(codes).lower())


# Drops and waitlists ------------------------------------------------------------------------------


@reason("not_enrolled", _l("Not enrolled"), fixable=True)
def _not_enrolled(facts: Facts, context: RefusalContext) -> Answer:
    name = context.named(facts["section"]) if "section" in facts else context.name
    text = _("You don’t have %(name)s now.", name=name)
    return text, next_steps.my_selections(context)


@reason(
    "drop_limit",
    _l("Daily drop limit reached"),
    obstacle=_l("The student has used all drops of today"),
)
def _drop_limit(facts: Facts, context: RefusalContext) -> Answer:
    resets, step = context.when(facts["resets"]), next_steps.my_selections(context)
    if facts.get("left"):
        text = _(
            "This counts as %(drops)s drops, and you have %(left)s left "
            "today. You can drop again from %(time)s.",
            drops=facts["drops"],
            left=facts["left"],
            time=resets,
        )
        return text, step
    text = _n(
        "You have used your %(num)s drop for today. You can drop again from %(time)s.",
        "You have used your %(num)s drops for today. You can drop again from %(time)s.",
        facts["limit"],
        time=resets,
    )
    return text, step


@reason("not_waiting", _l("Not on the waitlist"), fixable=True)
def _not_waiting(_facts: Facts, context: RefusalContext) -> Answer:
    text = _("You are not on the waitlist for %(name)s now.", name=context.name)
    return text, next_steps.my_selections(context)


# Derived from the registry -------------------------------------------------------------------

_KINDS = tuple(REASONS.values())
FIXABLE = frozenset(each.code for each in _KINDS if each.fixable)
OUT_OF_TIME = frozenset(each.code for each in _KINDS if each.out_of_time)
FOR_ALL = frozenset(each.code for each in _KINDS if each.for_all)
OBSTACLES = {each.code: each.obstacle for each in _KINDS if each.obstacle}
PERMISSIONS = {each.code: each.permission for each in _KINDS if each.permission}
LEDGER_CHECKS = tuple(each.code for each in _KINDS if each.ledger_checks)
SKIP_CODES = tuple(each.code for each in _KINDS if each.counts_as_skip)
ALREADY_HAD = frozenset({"already_enrolled", "already_waiting"})
