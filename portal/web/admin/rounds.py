"""Allocation rounds of a term: made, announced, compared, computed and published."""

from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog import cohort_names
from portal.catalog.local_time import local_clock
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.core.moments import milliseconds
from portal.core.queue import enqueue
from portal.people.roles import Right
from portal.registration.credits import amount
from portal.rounds import ballots, problem, steps
from portal.rounds.store import file_of
from portal.web.admin.public_values import ask_for_value, value_page
from portal.web.admin.round_forms import (
    EndForm,
    RoundForm,
    first_values,
    values_of,
)
from portal.web.admin.terms import term_or_404
from portal.web.confirm import (
    Confirmation,
    Wording,
    confirm,
    done,
    refused,
    seen_number,
)
from portal.web.http.access import requires, visitor
from portal.windows import cohorts, rounds
from portal.windows.models import Round
from portal.windows.rounds import MECHANISMS, REFUSED, STATES, RoundRefused

bp = Blueprint("rounds", __name__, url_prefix="/terms/<int:term_id>/rounds")

RESERVES = {
    "given": _l("Given to students of their cohorts"),
    "kept": _l("Kept for a later window"),
}


@dataclass(frozen=True)
class Step:
    """A step of a round: its texts, the states that allow it, and the function that does it."""

    wording: Wording
    states: tuple[str, ...]
    do: Callable[[int, int, int, str], None]


STEPS = {
    "announce": Step(
        Wording(
            _l("Announce the round"),
            _l(
                "Students of the round see it at once, with its settings and the commitment to its"
                " secret. From then on you can only move the end, or cancel the round."
            ),
            _l("%(name)s is announced."),
        ),
        ("draft",),
        rounds.announce,
    ),
    "cancel": Step(
        Wording(
            _l("Cancel the round"),
            _l(
                "The round ends without a result, and no seat is given. If it was announced, its"
                " students still see it, with the number of ballots; those with a ballot are"
                " notified."
            ),
            _l("%(name)s is canceled."),
            danger=True,
        ),
        ("draft", "open", "closed", "computed"),
        steps.cancel,
    ),
    "publish": Step(
        Wording(
            _l("Publish the result"),
            _l(
                "The seats are given. Then students read their results, and the file with all"
                " ballots under pseudonyms can be downloaded. You can’t undo this."
            ),
            _l("%(name)s is published. The seats are being given."),
        ),
        ("computed",),
        steps.publish,
    ),
}

# The measures of a comparison: label, and whether it is a share.
MEASURES = {
    "first_choice": (_l("Got their first choice"), True),
    "choices": (_l("Choices obtained, on average"), False),
    "courses": (_l("Courses obtained, on average"), False),
    "nothing": (_l("Got nothing"), True),
    "few": (_l("Two courses or fewer, of those who ranked three or more"), True),
    "envy": (_l("Prefer another student’s schedule"), True),
    "justified_envy": (
        _l(
            "Lost a seat to someone with lower priority (sections without reserved or shared seats)"
        ),
        True,
    ),
    "spread": (
        _l("First choice: gap between the best and the worst cohort of 30 students or more"),
        True,
    ),
    "seats_left": (_l("Seats left"), False),
    "better_ballot": (_l("Students in the sample who would gain from a different ballot"), True),
    "gain": (_l("Their average gain, compared with their own result"), True),
}


@bp.app_template_filter()
def round_state(state: str) -> str:
    """Return the label of the state of a round."""
    return str(STATES[state])


@bp.get("")
@requires(Right.SEE_ROUNDS)
def index(term_id: int) -> ResponseReturnValue:
    found, clock = rounds.of_term(term_id), local_clock()
    rows = [
        (each, [clock.full(milliseconds(at)) for at in (each.begins_at, each.ends_at)])
        for each in found
    ]
    return render_template("admin/rounds.html", term=term_or_404(term_id), rounds=rows)


@bp.get("/<int:round_id>")
@requires(Right.SEE_ROUNDS)
def show(term_id: int, round_id: int) -> ResponseReturnValue:
    """Render a round: its settings, its turnout, and what can be done with it."""
    shown = _shown(term_id, round_id)
    changed = _changed(shown["round"])
    return render_template("admin/round.html", changed=changed, **shown)


@bp.get("/<int:round_id>/now")
@requires(Right.SEE_ROUNDS)
def now(term_id: int, round_id: int) -> ResponseReturnValue:
    """Render the state and turnout of a round, which its page asks for every few seconds."""
    return render_template("admin/round_now.html", **_shown(term_id, round_id))


@bp.route("/new", methods=["GET", "POST"])
@requires(Right.CHANGE_ROUNDS)
def new(term_id: int) -> ResponseReturnValue:
    """Make a draft of a round."""
    term = term_or_404(term_id)
    if term.state == "archived":
        abort(404)
    with transaction() as session:
        form = RoundForm(session, data=first_values(term))
        page = Confirmation(
            title=_("New allocation round"),
            button=_("Save draft"),
            back=(url_for(".index", term_id=term_id), _("Allocation rounds")),
            facts=[(_("Term"), term.name)],
            meaning=[_("Students don’t see the round until you announce it.")],
            first_seen={"key": token_hex(16)},
        )

        def act(reason: str) -> ResponseReturnValue | None:
            key = request.form["key"][:64]
            try:
                made = rounds.create(term_id, form.round, key, visitor().id, reason)
            except RoundRefused as refusal:
                form.refuse(refusal.text, "name")
                return None
            text = _("%(name)s is saved as a draft.", name=form.round.name)
            return done(text, url_for(".show", term_id=term_id, round_id=made))

        return confirm(page, act, form)


@bp.route("/<int:round_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_ROUNDS)
def edit(term_id: int, round_id: int) -> ResponseReturnValue:
    """Change a draft."""
    found = _round(term_id, round_id)
    with transaction() as session:
        form = RoundForm(session, data=values_of(session, found))
        page = Confirmation(
            title=_("Edit the round"),
            button=_("Save"),
            back=_back(found),
            first_seen={"version": found.version},
        )
        if found.state != "draft":
            return refused(page, str(REFUSED["state"]))

        def act(reason: str) -> str | None:
            try:
                rounds.edit(found.id, seen_number(), form.round, visitor().id, reason)
            except RoundRefused as refusal:
                form.refuse(refusal.text, "name")
                return None
            return _("%(name)s is saved.", name=form.round.name)

        return confirm(page, act, form)


@bp.route(f"/<int:round_id>/<any({','.join(STEPS)}):round_step>", methods=["GET", "POST"])
@requires(Right.CHANGE_ROUNDS)
def take_step(term_id: int, round_id: int, round_step: str) -> ResponseReturnValue:
    """Announce, cancel or publish a round, once it is confirmed."""
    found, step = _round(term_id, round_id), STEPS[round_step]
    facts = [(_("Round"), found.name), *_facts(found)]
    if round_step == "publish" and (changed := _changed(found)):
        texts = [f"{name}: {text}" for name, text in changed]
        facts.append((_("Changed since the end"), "; ".join(texts)))
    page = step.wording.page(
        _back(found),
        facts=facts,
        seen={"version": found.version},
        refusal="" if found.state in step.states else str(REFUSED["state"]),
    )

    def act(reason: str) -> str:
        step.do(found.id, seen_number(), visitor().id, reason)
        return str(step.wording.done) % {"name": found.name}

    return confirm(page, act)


@bp.route("/<int:round_id>/end", methods=["GET", "POST"])
@requires(Right.CHANGE_ROUNDS)
def move_end(term_id: int, round_id: int) -> ResponseReturnValue:
    """Let an announced round end earlier or later."""
    found = _round(term_id, round_id)
    form = EndForm(data={"ends": milliseconds(found.ends_at)})
    form.begins_at = milliseconds(found.begins_at)
    page = Confirmation(
        title=_("Move the end"),
        back=_back(found),
        facts=[
            (_("Round"), found.name),
            (_("Ends"), local_clock().full(milliseconds(found.ends_at))),
        ],
        meaning=[
            _("Students see the new end at once, and those with a ballot are notified."),
            _("An earlier end must be at least 24 hours away."),
        ],
        first_seen={"version": found.version},
        refusal="" if found.state == "open" else str(REFUSED["state"]),
    )

    def act(reason: str) -> str:
        steps.move_end(found.id, seen_number(), form.ends.data, visitor().id, reason)
        return _("The end of %(name)s is moved.", name=found.name)

    return confirm(page, act, form)


@bp.route("/<int:round_id>/value", methods=["GET", "POST"])
@requires(Right.CHANGE_ROUNDS)
def enter_value(term_id: int, round_id: int) -> ResponseReturnValue:
    """Enter the public value once it is known; the round is then computed."""
    found = _round(term_id, round_id)
    why = "early" if milliseconds(found.public_at) > rounds.database_now() else ""
    if found.root is None or found.public_value is not None:
        why = "state"

    def act(value: str, reason: str) -> str:
        steps.enter_value(found.id, seen_number(), value, visitor().id, reason)
        enqueue(term_id, ["rounds"])
        return _("The round is being computed.")

    page = value_page(
        [
            (_("Round"), found.name),
            (_("Source"), found.public_source),
            (_("Public value known from"), local_clock().full(milliseconds(found.public_at))),
            (_("Root"), found.root or ""),
        ],
        _back(found),
        first_seen={"version": found.version},
        refusal=str(REFUSED[why]) if why else "",
    )
    return ask_for_value(page, _("Store and compute"), found.public_source, act)


@bp.post("/<int:round_id>/trial")
@requires(Right.CHANGE_ROUNDS)
def try_out(term_id: int, round_id: int) -> ResponseReturnValue:
    """Ask for a comparison of the mechanisms on the ballots so far."""
    found = _round(term_id, round_id)
    address = url_for(".compare", term_id=term_id, round_id=round_id)
    try:
        steps.request_trial(found.id, visitor().id)
    except RoundRefused as refusal:
        return done(refusal.text, address)
    enqueue(term_id, ["rounds"])
    return done(_("The methods are being compared. Reload the page in a moment."), address)


@bp.get("/<int:round_id>/compare")
@requires(Right.SEE_ROUNDS)
def compare(term_id: int, round_id: int) -> ResponseReturnValue:
    """Render the mechanisms side by side, on the same ballots and draw."""
    found = _round(term_id, round_id)
    made = [each for each in steps.trials(found.id) if each.measures]
    latest = made[0] if made else None
    return render_template(
        "admin/round_compare.html",
        term=term_or_404(term_id),
        round=found,
        trial=latest,
        when=local_clock().exact(latest.made_at) if latest else "",
        measures=MEASURES,
        mechanisms=MECHANISMS,
        real=file_of(found.id, "published") is not None,
        may_try=found.state in {"open", "closed"},
    )


def _facts(found: Round) -> list[tuple[str, str]]:
    """Return the settings of a round in words."""
    clock = local_clock()
    with transaction() as session:
        students = cohorts.count_students(session, found.cohort)
    cohort = cohort_names.describe(found.cohort)
    return [
        (_("Begins"), clock.full(milliseconds(found.begins_at))),
        (_("Ends"), clock.full(milliseconds(found.ends_at))),
        (
            _("For"),
            _n("%(whom)s (%(num)s student)", "%(whom)s (%(num)s students)", students, whom=cohort),
        ),
        (_("How seats are given"), str(MECHANISMS[found.mechanism])),
        *([(_("Priorities"), rounds.priorities(found))] if found.priorities else []),
        (_("Reserved seats"), str(RESERVES[found.reserves])),
        (_("Maximum number of courses"), str(found.most_courses)),
        (_("Maximum number of credits"), amount(found.most_credits)),
        (_("Maximum draw tickets"), str(found.tickets)),
        (_("Source of the public value"), found.public_source),
        (_("Public value known from"), clock.full(milliseconds(found.public_at))),
        *([(_("Public value"), found.public_value)] if found.public_value else []),
    ]


def _changed(found: Round) -> list[tuple[str, str]]:
    """Return the sections that changed after the ballots were fixed, and how, until publishing."""
    return problem.changed_since(found) if found.state in {"closed", "computed"} else []


def _shown(term_id: int, round_id: int) -> dict[str, Any]:
    found, at = _round(term_id, round_id), rounds.database_now()
    return {
        "term": term_or_404(term_id),
        "round": found,
        "facts": _facts(found),
        "steps": [name for name, each in STEPS.items() if found.state in each.states],
        "wordings": STEPS,
        "turnout": ballots.turnout(found),
        "commitment": rounds.commitment(found),
        "erased": local_clock().day(milliseconds(found.erased_at)) if found.erased_at else "",
        "over": milliseconds(found.ends_at) <= at,
        "known": milliseconds(found.public_at) <= at,
    }


def _back(found: Round) -> tuple[str, str]:
    return url_for(".show", term_id=found.term_id, round_id=found.id), found.name


def _round(term_id: int, round_id: int) -> Round:
    return rounds.find(term_id, round_id) or abort(404)
