"""Allocation rounds of a student: the ballot on the plan page, and the page of a round."""

import json
import re
import zlib
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from flask import abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.allocation import verify, verify_root
from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import catalog_of
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds
from portal.ledger.errors import LedgerUnavailable
from portal.people.roles import Right
from portal.people.student_profile import profile
from portal.registration.credits import hundredths
from portal.registration.next_steps import RefusalContext
from portal.registration.plans import Plan
from portal.rounds import ballots, joint, problem, results, steps, store
from portal.rounds.ballots import BallotRefused
from portal.web.forms import decimal_number, whole_number
from portal.web.http import flash_messages
from portal.web.http.access import public, requires, visitor
from portal.web.http.downloads import attachment
from portal.web.http.resuming import resumes
from portal.web.student import bp
from portal.web.student.round_views import BallotView, view_of
from portal.windows import rounds
from portal.windows.models import Round

resumes_ballot = resumes(
    lambda term_id, round_id: _("Log in to continue with your plan."),  # noqa: ARG005
    lambda term_id, round_id: f"/terms/{term_id}/plan",  # noqa: ARG005
)
MOST_NAMED, LARGEST = 10, 2**31 - 1  # student numbers that are read; the id of a joint choice
PUBLISHED = ("applied",)  # once all seats are given, so that no page shows half of it
TOO_LATE = _l(
    "Too late for your ballot: the round ended on %(end)s. Your plan has this change, but your"
    " ballot does not."
)


def late_for_ballot(plan: Plan, number: str) -> str:
    """Return a sentence if a change of the plan came too late for the ballot that it was for."""
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        return ""
    ballot = ballots.ballot_of(int(number), visitor().student_id or 0)
    if ballot is None or ballot.choices == plan.choices:
        return ""
    end = local_clock().exact(rounds.read(ballot.round_id).ends_at)
    return str(TOO_LATE) % {"end": end}


@bp.get("/rounds/<int:round_id>")
@requires(Right.REGISTER)
def allocation_round(term_id: int, round_id: int) -> ResponseReturnValue:
    """Render a round with the student's ballot."""
    found = _round(term_id, round_id)
    student = visitor().student_id or 0
    view = view_of(found, student, _now())
    published = found.state in PUBLISHED and not found.erased_at
    return render_template(
        "student/round.html",
        view=view,
        round=found,
        term_id=term_id,
        priorities=rounds.priorities(found),
        tickets=problem.tickets_of(found, student) if found.state == "open" else 0,
        commitment=rounds.commitment(found),
        public_at=local_clock().full(milliseconds(found.public_at)),
        outcomes=results.outcomes(found, student) if published else [],
        published=published,
        erased=local_clock().day(milliseconds(found.erased_at)) if found.erased_at else "",
        ballots=_number_of_ballots(found),
        joint=[
            (each, _names(term_id, each.sections)) for each in joint.of_student(round_id, student)
        ],
        shareable=_shareable(view) if view.phase == "taking" else [],
    )


@bp.get("/rounds/<int:round_id>/published.json")
@requires(Right.REGISTER, Right.SEE_ROUNDS)
def published_file(term_id: int, round_id: int) -> ResponseReturnValue:
    """Return the file from which anyone can compute the result again."""
    found = _published(term_id, round_id)
    file, digest = store.published_file(found.id, found.root)
    name, packed = f"round-{round_id}.json", request.accept_encodings.quality("deflate") > 0
    answer = attachment(name, file if packed else zlib.decompress(file), "application/json")
    answer.set_etag(f"{digest}-deflate" if packed else digest)
    answer.vary.add("Accept-Encoding")
    if packed:  # as it is stored
        answer.headers["Content-Encoding"] = "deflate"
    return answer.make_conditional(request)


@bp.get("/rounds/<int:round_id>/verify.py")
@requires(Right.REGISTER, Right.SEE_ROUNDS)
def verifier(term_id: int, round_id: int) -> ResponseReturnValue:
    """Return the script that checks the published file."""
    _published(term_id, round_id)
    script = Path(verify.__file__).read_text(encoding="utf-8")
    return attachment("verify.py", script, "text/x-python")


@bp.get("/rounds/<int:round_id>/proof.json")
@requires(Right.REGISTER)
def inclusion(term_id: int, round_id: int) -> ResponseReturnValue:
    """Return the proof that the student's own ballot is under the root."""
    found = _round(term_id, round_id)
    ballot = ballots.ballot_of(found.id, visitor().student_id or 0)
    if found.root is None or found.erased_at or ballot is None:
        abort(404)
    proof = steps.proof_of(found.id, ballot.pseudonym)
    return attachment(f"proof-{round_id}.json", json.dumps(proof, indent=1), "application/json")


@bp.get("/verify_root.py")
@public
def root_verifier(term_id: int) -> ResponseReturnValue:  # noqa: ARG001
    """Return the script that checks the proof of a ballot, or the file of a draw."""
    script = Path(verify_root.__file__).read_text(encoding="utf-8")
    return attachment("verify_root.py", script, "text/x-python")


@bp.post("/rounds/<int:round_id>/ballot")
@requires(Right.REGISTER)
@resumes_ballot
def hand_in(term_id: int, round_id: int) -> ResponseReturnValue:
    """Take part with the plan, or set other limits."""
    found = _round(term_id, round_id)
    # An unreadable number is refused as 0 is.
    credits_ = decimal_number(request.form.get("most_credits", "")) or Decimal(0)
    courses = whole_number(request.form.get("most_courses", "")) or 0
    try:
        ballots.hand_in(found, visitor().student_id or 0, courses, hundredths(credits_))
    except BallotRefused as refusal:
        return _back(found, refusal.text)
    return _back(found)


@bp.post("/rounds/<int:round_id>/ballot/withdraw")
@requires(Right.REGISTER)
@resumes_ballot
def withdraw_ballot(term_id: int, round_id: int) -> ResponseReturnValue:
    """Take the ballot back; the plan stays."""
    found = _round(term_id, round_id)
    try:
        ballots.withdraw(found.id, visitor().student_id or 0)
    except BallotRefused as refusal:
        return _back(found, refusal.text)
    return _back(found, note=_("Your ballot is withdrawn. Your plan is unchanged."))


@bp.post("/rounds/<int:round_id>/joint")
@requires(Right.REGISTER)
@resumes_ballot
def joint_choice(term_id: int, round_id: int) -> ResponseReturnValue:
    """Share a choice with other students, agree to one, or end it for all."""
    found, student = _round(term_id, round_id), visitor().student_id or 0
    page = url_for(".allocation_round", term_id=term_id, round_id=round_id)
    number = min(whole_number(request.form.get("joint", "0")) or 0, LARGEST)
    try:
        match request.form.get("do"):
            case "make":
                sections = map(whole_number, request.form.get("sections", "").split())
                names = re.findall(r"[\w.-]{1,64}", request.form.get("students", ""))[:MOST_NAMED]
                joint.make(round_id, student, [each or 0 for each in sections], {*names})
                note = _("The others see it on this page, and can agree.")
            case "agree":
                joint.agree(round_id, number, student)
                note = _("You agreed. Rank it in your plan, too.")
            case "leave":
                joint.leave(round_id, number, student)
                note = _("The joint choice has ended for all of you.")
            case _:
                abort(400)
    except BallotRefused as refusal:
        return _back(found, refusal.text, page=page)
    return _back(found, note=note, page=page)


def _number_of_ballots(found: Round) -> int | None:
    """Return how many ballots a round has; None while it may still get others."""
    if found.state == "canceled" and not found.erased_at:
        return ballots.turnout(found).ballots
    return found.ballots


def _names(term_id: int, sections: Iterable[int]) -> str:
    return RefusalContext(catalog_of(term_id), None).names(sections)


def _shareable(view: BallotView) -> list[tuple[str, str]]:
    """Return the choices of a ballot that may become joint, as form values and names."""
    if view.ballot is None:
        return []
    return [
        (" ".join(map(str, each.sections)), _names(view.round.term_id, each.sections))
        for each in joint.choices_alone(view.ballot.choices)
    ]


def _back(found: Round, refusal: str = "", note: str = "", page: str = "") -> ResponseReturnValue:
    """Return to a page, by default the plan, with a message."""
    page = page or url_for(".plan", term_id=found.term_id)
    if refusal:
        flash_messages.keep(refusal, "few", page)
    else:
        note = note or _(
            "Your ballot is in. Until the round ends, it changes when you change your plan."
        )
        flash_messages.keep(note, "go", page)
    return redirect(page, 303)


def _round(term_id: int, round_id: int) -> Round:
    """Return a round that the student sees, or 404."""
    found = ballots.rounds_for(profile(visitor().student_id or 0), term_id)
    return next((each for each in found if each.id == round_id), None) or abort(404)


def _published(term_id: int, round_id: int) -> Round:
    """Return a published round; 404 if it is none, or none of a student's."""
    student = visitor().student_id
    found = _round(term_id, round_id) if student else rounds.find(term_id, round_id)
    if found is None or found.state not in PUBLISHED or found.erased_at:
        abort(404)
    return found


def _now() -> int:
    """Return the time (ms); PostgreSQL decides, so that of this process will do for a page."""
    try:
        return backend().ledger.now()
    except LedgerUnavailable:
        return rounds.database_now()
