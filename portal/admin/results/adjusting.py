"""Adding, dropping and moving a student by hand: what stands in the way first, then the deed."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.admin import looks
from portal.admin.reasons import read_reason
from portal.admin.results.asked import Asked, read
from portal.admin.results.meaning import done, meaning, obstacles
from portal.admin.results.words import OBSTACLES
from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.catalog.time_conflicts import pair_in_words, pairs
from portal.core.correlation import correlation
from portal.core.i18n import _
from portal.ledger.errors import KeyReused, LedgerUnavailable
from portal.ledger.types import Outcome, Standing
from portal.registration import adjustments
from portal.registration.credits import credit_choices
from portal.registration.reasons import explain
from portal.student.wish import KEY, new_key
from portal.web.drafts import Form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("adjust", __name__, url_prefix="/terms/<int:term_id>/adjust")


@bp.get("")
@requires("admin")
def ask(term_id: int) -> ResponseReturnValue:
    """The form that asks whom and what; once that is given (`look`), what it will mean.

    Or, of what was sent and refused, why.
    """
    offered, sent = catalog_of(term_id), looks.looked()
    form = request.args if sent is None else sent
    if sent is None and "look" not in form:
        return _form(Asked(offered), form)
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
    """Do it in one step, or on to the page that says all that stands against it."""
    asked, key = read(request.form, catalog_of(term_id)), request.form.get("request", "")
    why = read_reason(asked.reading, request.form)
    if asked.reading.errors:
        return looks.look(request.path)
    if not KEY.fullmatch(key):
        abort(400)
    over = tuple(each for each in request.form.getlist("over") if each in OBSTACLES)
    try:
        answer = adjustments.adjust(
            asked.adjustment(over), why=why, by=visitor().id, request=key, correlation=correlation()
        )
    except KeyReused:
        said = _("This form has acted already, with other choices. Look again.")
        return looks.look(request.path, said)
    if answer.outcome == Outcome.REFUSED:
        said = _("Nothing was changed: something stands in the way yet.")
        return looks.look(request.path, said)
    flash(done(asked))
    for text in _clashes(asked):
        flash(text)
    return go(_back(asked, request.form, just=asked.adjustment().student))


def clashes(offered: TermCatalog, standing: Standing, section: int | None = None) -> list[str]:
    """Say which seats of a student are at the same time; of one section, if it is named."""
    held = offered.some(each.section for each in standing.enrolled)
    running = [card for card in held if card.status != "CANCELED"]
    return [
        pair_in_words(one, other)
        for one, other in pairs(running)
        if section is None or section in {one.id, other.id}
    ]


def _clashes(asked: Asked) -> list[str]:
    """Name who has two sections at the same time now, and which, where that is what was done."""
    if not (asked.add and asked.who):
        return []
    try:
        standing = backend().ledger.standing(asked.offered.term.id, asked.who.student)
    except LedgerUnavailable:  # the student's page says it as well
        return []
    found = clashes(asked.offered, standing, asked.add.id)
    return [_("%(who)s is told: %(what)s", who=asked.who.name, what=text) for text in found]


def _form(asked: Asked, form: Form) -> ResponseReturnValue:
    page = render_template(
        "admin/adjust_form.html",
        term=asked.offered.term,
        form=form,
        reading=asked.reading,
        back=_back(asked, form),
    )
    return page, 422 if asked.reading.errors else 200


def _page(asked: Asked, form: Form) -> ResponseReturnValue:
    """What it will mean as things are, with a box for everything that can be put aside."""
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
        obstacles=obstacles(reasons, case),
        meaning=list(meaning(asked, standing)),
        amounts=credit_choices(asked.add) if asked.add else [],
        form=form,
        key=new_key(),
        back=_back(asked, form),
    )
    return page, 422 if asked.reading.errors else 200


def _back(asked: Asked, form: Form, just: int | None = None) -> str:
    """The page that the admin came from: the section's, the student's, or the list of sections.

    The section's is told with whom something was done `just` now, as it shows what is recorded.
    """
    term = asked.offered.term.id
    if form.get("back") == "section" and (card := asked.add or asked.drop):
        return url_for("admin.results.show", term_id=term, section_id=card.id, just=just)
    if asked.who:
        return url_for("admin.students.show", student_id=asked.who.student, term=term)
    return url_for("admin.sections.index", term_id=term)
