"""Dialogs: the forms that ask before a change, and the refusals that they show."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from flask import abort, make_response, render_template, request
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.core import logs
from portal.core.cache import AWAY
from portal.core.i18n import _l
from portal.ledger.errors import KeyReused, LedgerBehind, LedgerUnavailable
from portal.ledger.types import Decision, Outcome, Reason, SeatCounts
from portal.recorder.receipts import code
from portal.registration.next_steps import NextStep, section_name
from portal.registration.reasons import Explanation, any_lasting, decisive_first, explain
from portal.waiting_room import wording
from portal.web.http.errors import LATER, UNSURE, Message, answer, away
from portal.web.student import bp, request_form
from portal.web.student.section_list import CELL_HELPERS, distinct_meetings, unknown_counts
from portal.web.student.student_term import StudentTerm, section_title
from portal.web.student.term_page import mine_of
from portal.web.student.waiting_room import WaitingRoomStatus
from portal.windows.phases import sections_visible

log = logging.getLogger(__name__)

REUSED = Message(
    _l("This form was already sent with other choices"),
    _l("The first decision stands. Go back to the list and start again."),
)
ENDED = Message(
    _l("Registration has ended"),
    _l("You can no longer see the sections. Find your classes under “My classes”."),
)
BECAUSE_OF_ANOTHER = {"together", "already_enrolled"}


@dataclass(frozen=True)
class Refusal:
    """Why a section was refused; the name is blank if only one was requested."""

    name: str
    reasons: list[Explanation]


@dataclass(frozen=True)
class Refusals:
    """Every refusal that a form shows, with receipts if the ledger refused.

    `replayed` is the time of the earlier answer; `retry` means that the form may be sent again.
    """

    refusals: list[Refusal]
    receipts: list[str]
    replayed: str = ""
    retry: bool = False

    @property
    def open(self) -> bool:
        """Return whether the form has a submit button."""
        return self.retry or not self.refusals

    @property
    def urls(self) -> set[str]:
        """Return the addresses of the next steps."""
        return {each.step.url for one in self.refusals for each in one.reasons if each.step}

    def with_step(self, code: str, step: NextStep) -> "Refusals":
        """Return a copy with one next step for all reasons of a code, at the first of them."""
        steps = iter([step])
        refusals = [
            replace(
                one,
                reasons=[
                    replace(each, step=next(steps, None)) if each.code == code else each
                    for each in one.reasons
                ],
            )
            for one in self.refusals
        ]
        return replace(self, refusals=refusals)


NOTHING = Refusals([], [])


def refusals_to_show(
    answers: Sequence[Decision], section: int, known: Sequence[Reason]
) -> list[Decision]:
    """Return the refusals that a form shows: those of the ledger, or the likely ones.

    A replayed refusal may be out of date: show it only if no refusal is likely now.
    """
    if answers and not (answers[0].replayed and known):
        return list(answers)
    return [Decision(Outcome.REFUSED, at=0, section=section, reasons=tuple(known))]


def in_words(
    now: StudentTerm,
    shown: Sequence[Decision],
    answers: Sequence[Decision] = (),
    *,
    retry: bool = False,
    swap_out: int = 0,
) -> Refusals:
    """Return the refusals of a form, what the student can't change first.

    No next step comes twice or leads back to the form.

    `answers` are those of the ledger. If they are replayed, `retry` allows to send the form again.
    """
    own = [each for each in shown if {one.code for one in each.reasons} - BECAUSE_OF_ANOTHER]
    lasting = any_lasting(reason for each in shown for reason in each.reasons)
    offered: set[str] = set()
    refusals = []
    for each in own or shown:
        case = replace(now.case(now.catalog.section(each.section)), swap_out=swap_out)
        here = {case.url(each.section, "pick")}
        if swap_out:
            here.add(case.url(each.section, f"swap?swap_out={swap_out}"))
        reasons = [
            _offered_once(one, here, offered) for one in explain(decisive_first(each.reasons), case)
        ]
        if lasting:  # the student gets all of them or none
            reasons = [one.without_form for one in reasons]
        if reasons:
            refusals.append(Refusal("" if len(shown) == 1 else case.named(each.section), reasons))
    found = Refusals(refusals, receipt_codes(now.term.id, answers))
    if answers and answers[0].replayed:
        return replace(found, replayed=now.texts.when(answers[0].at), retry=retry)
    return found


def _offered_once(reason: Explanation, here: set[str], offered: set[str]) -> Explanation:
    """Drop a next step that is offered already or leads to the current form."""
    if reason.step is None:
        return reason
    url = reason.step.url
    if url in offered or here & {url, urlsplit(url).path}:
        return replace(reason, step=None)
    offered.add(url)
    return reason


def receipt_codes(term: int, answers: Iterable[Decision]) -> list[str]:
    return [code(term, each.seq) for each in answers if each.seq]


def form(act: str, now: StudentTerm, view: SectionView, refused: Refusals, **facts: Any) -> str:
    """Render the page or dialog of that name with its refusals."""
    return _render(
        act,
        now.catalog,
        view,
        refused=refused,
        key=request_form.new_key(),
        student_term=now,
        **CELL_HELPERS,
        **facts,
    )


def _render(template: str, catalog: TermCatalog, view: SectionView, **facts: Any) -> str:
    return render_template(
        f"student/{template}.html",
        view=view,
        name=section_name(view),
        title=section_title(catalog, view),
        meetings=distinct_meetings(view),
        back=request_form.return_address(view.term_id),
        term=catalog.term,
        **facts,
    )


def waiting(stands: WaitingRoomStatus, view: SectionView) -> tuple[str, dict[str, str]]:
    """Render the queue position or the captcha in place of a form; the form replaces it later."""
    page = render_template(
        "waiting_room/waiting.html",
        status=stands,
        wording=wording,
        name=section_name(view),
        here=request.full_path.rstrip("?"),
        back=request_form.return_address(view.term_id),
        term=stands.student_term.term,
    )
    return page, {"HX-Trigger": "fs:window"}  # the page behind the dialog may be out of date


def address(view: SectionView, act: str) -> str:
    return f"/terms/{view.term_id}/sections/{view.id}/{act}"


def seats_of(view: SectionView) -> SeatCounts:
    """Return the current counts of a section."""
    return backend().ledger.seats_of(view.term_id, [view.id]).get(view.id) or unknown_counts(view)


def visible_section(term_id: int, section_id: int) -> tuple[StudentTerm, SectionView]:
    """Return a section that the student may see, holds, waits for or has planned; else 404."""
    view, now = published_section(term_id, section_id), mine_of(term_id)
    require_visible(now, view)
    return now, view


def require_visible(now: StudentTerm, view: SectionView) -> None:
    """Respond with 404 unless the student may see, holds, waits for or has planned a section."""
    if not (now.shows(view) or now.state(view.id) or view.id in now.planned):
        abort(404 if sections_visible(now.phase) else make_response(answer(404, ENDED)))


def published_section(term_id: int, section_id: int) -> SectionView:
    """Return a published section, or respond with 404."""
    return catalog_of(term_id).published(section_id) or abort(404)


@bp.errorhandler(KeyReused)
def _reused(_error: KeyReused) -> ResponseReturnValue:
    return answer(400, REUSED)


def _away(error: Exception) -> ResponseReturnValue:
    """Offer to send the form again under the same key if its result is unknown."""
    sent: dict[str, Any] = request.view_args or {}
    if request.method != "POST" or "section_id" not in sent or not request_form.is_unsure(error):
        return away(error)
    logs.warn(log, "No answer to a decision", repr(error))
    page = _render(
        "again",
        catalog_of(sent["term_id"]),
        published_section(**sent),
        act=request.path.rpartition("/")[2],
        query=request_form.query(),
        message=UNSURE,
        sent=request_form.sent(),
        key=request_form.idempotency_key(),
    )
    return page, 503, LATER


for lost in (LedgerUnavailable, LedgerBehind, *AWAY):
    bp.register_error_handler(lost, _away)
