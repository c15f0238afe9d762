"""Admin adjustments: add, drop or move a student, with overrides of rules if the admin chooses."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.formatting import number
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.catalog.time_conflicts import pair_in_words, pairs
from portal.core.correlation import correlation
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.ledger.errors import KeyReused, LedgerUnavailable
from portal.ledger.types import Outcome, Reason, SeatCounts, Standing
from portal.people import student_profile as people
from portal.people.student_profile import StudentProfile
from portal.people.student_records import find_by_number
from portal.recorder.models import Enrollment
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from portal.registration.credits import credit_choices
from portal.registration.next_steps import RefusalContext, section_name
from portal.registration.reasons import NOT_OVERRIDABLE, OBSTACLES, explain
from portal.registration.seat_counts import reached_waitlists, reserved_left
from portal.web import drafts
from portal.web.admin.form_reading import Reading
from portal.web.admin.reasons import read_reason
from portal.web.drafts import Form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.student.request_form import KEY, new_key

OTHER_LABEL = _l("A rule stands in the way")


@dataclass
class AdjustmentRequest:
    """The student and the sections to add and drop, if known; errors are in `reading`."""

    offered: TermCatalog
    who: StudentProfile | None = None
    add: SectionView | None = None
    drop: SectionView | None = None
    credits: Decimal | None = None
    reading: Reading = field(default_factory=Reading)

    @property
    def subject(self) -> SectionView:
        """Return the adjusted section: the new one of a move."""
        found = self.add or self.drop
        assert found, "it names no section"  # noqa: S101  a bug
        return found

    @property
    def title(self) -> str:
        """Return the title of the adjustment."""
        if self.add and self.drop:
            return _("Move a student")
        return _("Take a student out") if self.drop else _("Add a student")

    def case(self, held: Mapping[int, int]) -> RefusalContext:
        """Return the context of explanations; `held` are credits by section."""
        instead = self.drop.id if self.add and self.drop else 0
        return RefusalContext(self.offered, self.subject, backend().settings.zone, held, instead)

    def adjustment(self, overrides: tuple[str, ...] = ()) -> Adjustment:
        """Return the adjustment for the ledger."""
        assert self.who, "it names no student"  # noqa: S101  a bug
        return Adjustment(
            self.offered.term.id,
            self.who.student,
            add=self.add.id if self.add else None,
            drop=self.drop.id if self.drop else None,
            credits=self.credits,
            overrides=overrides,
        )


def read(fields: Mapping[str, str], offered: TermCatalog) -> AdjustmentRequest:
    """Return the request in the fields, with all errors."""
    asked = AdjustmentRequest(offered)
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


def find_section(text: str, offered: TermCatalog) -> SectionView | None:
    """Return the section of a CRN, or of a course and number such as CSC 1100-01."""
    wanted = requisites.key(text)
    fits = (
        card
        for card in offered.sections
        if text == card.crn or wanted == requisites.key(section_name(card))
    )
    return next(fits, None)


def _section(text: str, name: str, asked: AdjustmentRequest) -> SectionView | None:
    found = find_section(text, asked.offered) if text else None
    if text and found is None:
        facts = {"term": asked.offered.term.name, "text": text}
        said = _("%(term)s has no section with the CRN or the number %(text)s.", **facts)
        asked.reading.wrong(name, said)
    return found


@dataclass(frozen=True)
class Overridable:
    """A refusal that can be overridden under one code, and the student's text for it."""

    code: str
    label: str
    texts: list[str]


def overridable(reasons: Iterable[Reason], case: RefusalContext) -> list[Overridable]:
    """Return the reasons that can be overridden, by code, in the order given."""
    found: dict[str, list[str]] = {}
    for each in explain((each for each in reasons if each.code not in NOT_OVERRIDABLE), case):
        found.setdefault(each.code, []).append(each.text)
    return [
        Overridable(code, str(OBSTACLES.get(code, OTHER_LABEL)), texts)
        for code, texts in found.items()
    ]


def meaning(asked: AdjustmentRequest, standing: Standing) -> Iterator[str]:
    """Yield sentences about the consequences for students."""
    sharing = asked.offered.sharing(asked.drop) if asked.drop else []
    ids = {card.id for card in (asked.add, asked.drop, *sharing) if card}
    counts = backend().ledger.seats_of(asked.offered.term.id, sorted(ids))
    if asked.add and (seats := counts.get(asked.add.id)):
        yield from _added(section_name(asked.add), seats)
    if asked.add and asked.add.id in {each.section for each in standing.waiting}:
        yield _("The student’s place on its waitlist goes with the seat.")
    if asked.drop and asked.drop.id in counts:
        yield _("The seat in %(name)s is given up.", name=section_name(asked.drop))
        yield from _goes_to(asked, asked.drop, _afterwards(asked, asked.drop, counts))
    yield _("The student is told at once, on the page and by mail, but not the reason.")


def done(asked: AdjustmentRequest) -> str:
    """Return the result in words."""
    who = asked.who.name if asked.who else ""
    if asked.add and asked.drop:
        names = {"old": section_name(asked.drop), "name": section_name(asked.add)}
        return _("%(who)s was moved from %(old)s to %(name)s.", who=who, **names)
    name = section_name(asked.subject)
    if asked.add:
        return _("%(who)s has a seat in %(name)s.", who=who, name=name)
    return _("%(who)s was taken out of %(name)s.", who=who, name=name)


def _added(name: str, seats: SeatCounts) -> Iterator[str]:
    facts = {"name": name, "taken": number(seats.taken), "capacity": number(seats.capacity)}
    yield _("%(name)s: %(taken)s of %(capacity)s seats are taken now.", **facts)
    if seats.taken >= seats.capacity:
        more = seats.over + 1
        yield _("It would be over-enrolled by %(count)s; nobody loses a seat.", count=more)
    if seats.waiting:
        yield _n(
            "%(num)s student waits for a seat in it, and would see another one come in first.",
            "%(num)s students wait for a seat in it, and would see another one come in first.",
            seats.waiting,
        )


def _afterwards(
    asked: AdjustmentRequest, drop: SectionView, counts: dict[int, SeatCounts]
) -> dict[int, SeatCounts]:
    """Return the seat counts, after the drop, of the section left and of its seat pool."""
    entered = asked.add.id if asked.add else 0
    pool = {drop.id, *(card.id for card in asked.offered.sharing(drop))}
    stays = entered in pool  # so that as many shared seats are taken as before
    found = {}
    for seats in (counts[each] for each in sorted(pool & counts.keys())):
        own = (seats.section == entered) - (seats.section == drop.id)
        reserved_left = (
            _kept(asked, drop) if seats.section == drop.id and drop.reserves else seats.kept
        )
        found[seats.section] = replace(
            seats,
            taken=seats.taken + own,
            kept=reserved_left,
            pool_taken=seats.pool_taken - (not stays),
        )
    return found


def _kept(asked: AdjustmentRequest, drop: SectionView) -> int:
    """Return the reserved seats left after the drop, which may free one of them."""
    held = Counter(backend().ledger.reserved(drop.term_id, drop.id))
    with transaction() as session:
        seat = session.get(Enrollment, (drop.term_id, drop.id, asked.adjustment().student))
        if seat and seat.reserve and seat.state == "enrolled":
            held[seat.reserve] -= 1
    return reserved_left(drop.reserves, held)


def _goes_to(
    asked: AdjustmentRequest, drop: SectionView, after: dict[int, SeatCounts]
) -> Iterator[str]:
    """Yield who gets the dropped seat, by the counts after the drop."""
    left = after.pop(drop.id)
    lines = reached_waitlists(left, after.values())
    if lines.keys() - {drop.id}:
        names = [section_name(card) for card in asked.offered.some(sorted(lines))]
        yield _(
            "It goes to whoever has waited longest for %(names)s and may have it.",
            names=requisites.any_of(names),
        )
    elif lines and lines[drop.id].open:
        yield _("It goes to the first in line who may have it.")
    elif lines:
        yield _("It is kept: it goes to the first in line for whom it is kept.")
    elif left.taken >= left.capacity:
        more = left.taken + 1 - left.capacity
        yield _("It is over-enrolled by %(count)s, so nobody gets the seat.", count=more)
    elif left.pool_capacity is not None and left.pool_taken >= left.pool_capacity:
        yield _("The seats that it shares with others are all taken, so nobody gets the seat.")


bp = Blueprint("adjust", __name__, url_prefix="/terms/<int:term_id>/adjust")


@bp.get("")
@requires("admin")
def ask(term_id: int) -> ResponseReturnValue:
    """Render the form; once it is filled in (`look`), also the effects of the adjustment.

    After a refusal, render the reasons.
    """
    offered, sent = catalog_of(term_id), drafts.shown_draft()
    form = request.args if sent is None else sent
    if sent is None and "look" not in form:
        return _form(AdjustmentRequest(offered), form)
    asked = read(form, offered)
    if asked.reading.errors:
        return _form(asked, form)
    if sent is not None:
        read_reason(asked.reading, sent)
    if refused := form.get("refused"):
        asked.reading.wrong("", refused)
    return _page(asked, form)


@bp.post("")
@requires("admin")
def do(term_id: int) -> ResponseReturnValue:
    """Adjust in one step, or redirect to the page that shows the refusal."""
    asked, key = read(request.form, catalog_of(term_id)), request.form.get("request", "")
    why = read_reason(asked.reading, request.form)
    if asked.reading.errors:
        return drafts.show_draft(request.path)
    if not KEY.fullmatch(key):
        abort(400)
    over = tuple(each for each in request.form.getlist("over") if each in OBSTACLES)
    try:
        answer = adjustments.adjust(
            asked.adjustment(over), why=why, by=visitor().id, request=key, correlation=correlation()
        )
    except KeyReused:
        said = _("This form has acted already, with other choices. Look again.")
        return drafts.show_draft(request.path, said)
    if answer.outcome == Outcome.REFUSED:
        said = _("Nothing was changed: something stands in the way yet.")
        return drafts.show_draft(request.path, said)
    flash(done(asked))
    for text in _clashes(asked):
        flash(text)
    return go(_back(asked, request.form, just=asked.adjustment().student))


def clashes(offered: TermCatalog, standing: Standing, section: int | None = None) -> list[str]:
    """Return which seats of a student clash; those of one section, if it is named."""
    held = offered.some(each.section for each in standing.enrolled)
    running = [card for card in held if card.status != "CANCELED"]
    return [
        pair_in_words(one, other)
        for one, other in pairs(running)
        if section is None or section in {one.id, other.id}
    ]


def _clashes(asked: AdjustmentRequest) -> list[str]:
    """Return the clashes that the adjustment has made."""
    if not (asked.add and asked.who):
        return []
    try:
        standing = backend().ledger.standing(asked.offered.term.id, asked.who.student)
    except LedgerUnavailable:  # the student's page shows them as well
        return []
    found = clashes(asked.offered, standing, asked.add.id)
    return [_("%(who)s is told: %(what)s", who=asked.who.name, what=text) for text in found]


def _form(asked: AdjustmentRequest, form: Form) -> ResponseReturnValue:
    page = render_template(
        "admin/adjust_form.html",
        term=asked.offered.term,
        form=form,
        reading=asked.reading,
        back=_back(asked, form),
    )
    return page, 422 if asked.reading.errors else 200


def _page(asked: AdjustmentRequest, form: Form) -> ResponseReturnValue:
    """Render the current effects, with a check box for each reason that can be overridden."""
    change, term = asked.adjustment(), asked.offered.term
    standing = backend().ledger.standing(term.id, change.student)
    reasons = adjustments.preview(change)
    case = asked.case({held.section: held.credits for held in standing.enrolled})
    page = render_template(
        "admin/adjust.html",
        term=term,
        asked=asked,
        reading=asked.reading,
        firm=explain(adjustments.not_overridable(reasons), case),
        obstacles=overridable(reasons, case),
        meaning=list(meaning(asked, standing)),
        amounts=credit_choices(asked.add) if asked.add else [],
        form=form,
        key=new_key(),
        back=_back(asked, form),
    )
    return page, 422 if asked.reading.errors else 200


def _back(asked: AdjustmentRequest, form: Form, just: int | None = None) -> str:
    """Return the page that the admin came from: the section's, the student's, or the list.

    The section's page shows recorded data, so it also gets the student adjusted `just` now.
    """
    term = asked.offered.term.id
    if form.get("back") == "section" and (card := asked.add or asked.drop):
        return url_for("admin.results.show", term_id=term, section_id=card.id, just=just)
    if asked.who:
        return url_for("admin.students.show", student_id=asked.who.student, term=term)
    return url_for("admin.sections.index", term_id=term)
