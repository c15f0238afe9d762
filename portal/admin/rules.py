"""The rules of a term: a form, then what they will mean, then the deed."""

from decimal import Decimal, InvalidOperation
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.catalog import formatting
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.seats.labels import label
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.windows import term_rules
from portal.windows.term_rules import COUNTED, RulesChanged, TermRules

bp = Blueprint("rules", __name__, url_prefix="/terms/<int:term_id>/rules")

Form = MultiDict[str, str]
MOST_CREDITS = 100
MOST = {"drops_per_day": 1000, "pass_limit": 100}
LABELS = {"drops_per_day": _l("Seats given up a day"), "pass_limit": _l("Passes")}


@bp.get("")
@requires("admin")
def show(term_id: int) -> ResponseReturnValue:
    """The rules as they are, in a form; or what other ones will mean."""
    term = _term(term_id)
    if "credit_limit" not in request.args:
        return _form(term, Reading(), _filled(term_rules.rules(term)))
    wanted, reading = _read(request.args)
    if wanted is None:
        return _form(term, reading, request.args), 422
    return _look(term, wanted, reading)


@bp.post("")
@requires("admin")
def change(term_id: int) -> ResponseReturnValue:
    """Set them, or say all that stands against it."""
    term = _term(term_id)
    wanted, reading = _read(request.form)
    if wanted is None:
        return _form(term, reading, request.form), 422
    why = read_reason(reading, request.form)
    seen = _read(_seen(request.form))[0]
    if not reading.errors:
        try:
            by = visitor().id
            term_rules.change(term_id, seen or term_rules.rules(term), wanted, by, why)
        except RulesChanged:
            told = _("Somebody has changed the rules since you looked at them. Nothing was done.")
            reading.wrong("", told)
            term = _term(term_id)
    if reading.errors:
        return _look(term, wanted, reading), 422
    flash(_("The rules of %(term)s are set.", term=term.name))
    return go(url_for("admin.terms.index"))


def _term(term_id: int) -> Term:
    with transaction() as session:
        term = session.get(Term, term_id)
    return abort(404) if term is None or term.deleted_at else term


def _read(form: Form) -> tuple[TermRules | None, Reading]:
    """The rules in a form, None while anything is wrong with them."""
    reading = Reading()
    reading.values["credit_limit"] = _credits(reading, form)
    reading.values["drops_per_day"] = _number(reading, form, "drops_per_day", 0)
    loses = form.get("places") == "lost"
    limit = _number(reading, form, "pass_limit", 1) if loses else None
    codes = tuple(code for code in COUNTED if loses and code in form.getlist("pass_codes"))
    if reading.errors:
        return None, reading
    return TermRules(**reading.values, pass_limit=limit, pass_codes=codes), reading


def _credits(reading: Reading, form: Form) -> Decimal:
    try:
        given = Decimal(form.get("credit_limit", "").strip().replace(",", "."))
    except InvalidOperation:
        given = Decimal(-1)
    if not (given.is_finite() and 0 <= given <= MOST_CREDITS and given == round(given, 2)):
        told = _("Credits: give a number from 0 to %(most)s.", most=MOST_CREDITS)
        reading.wrong("credit_limit", told)
        return Decimal(0)
    return round(given, 2)


def _number(reading: Reading, form: Form, name: str, least: int) -> int:
    text, most = form.get(name, "").strip(), MOST[name]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1
    if not least <= number <= most:
        asked = {"field": LABELS[name], "least": least, "most": most}
        told = _("%(field)s: give a whole number from %(least)s to %(most)s.", **asked)
        reading.wrong(name, told)
    return number


def _filled(rules: TermRules) -> Form:
    """The rules as the form has them."""
    filled: dict[str, Any] = {
        "credit_limit": formatting.number(rules.credit_limit),
        "drops_per_day": str(rules.drops_per_day),
        "places": "lost" if rules.pass_limit else "kept",
        "pass_limit": str(rules.pass_limit or 2),
        "pass_codes": list(rules.pass_codes),
    }
    return MultiDict(filled)


def _seen(form: Form) -> Form:
    """The rules that the confirmed page was shown beside, from its fields `seen-…`."""
    return MultiDict(
        (name.removeprefix("seen-"), value)
        for name, value in form.items(multi=True)
        if name.startswith("seen-")
    )


def _form(term: Term, reading: Reading, form: Form) -> str:
    facts = {"term": term, "reading": reading, "form": form, "codes": COUNTED, "reason": label}
    return render_template("admin/rules.html", **facts)


def _look(term: Term, wanted: TermRules, reading: Reading) -> str:
    before = term_rules.rules(term)
    with transaction() as session:
        reach = term_rules.reach(session, term.id, wanted)
    return render_template(
        "admin/rules_look.html",
        term=term,
        before=before,
        wanted=wanted,
        reach=reach,
        reading=reading,
        form=request.form,
        kept=[*_filled(wanted).items(multi=True)],
        seen=[*_filled(before).items(multi=True)],
        credits=formatting.number,
        reason=label,
    )
