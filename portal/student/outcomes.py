"""What a student reads and sees once the ledger has decided."""

import logging
from collections.abc import Iterable, Sequence

from flask import Response, make_response, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup

from portal.backend import backend
from portal.catalog.term_catalog import SectionView
from portal.core import logs
from portal.core.cache import AWAY
from portal.core.i18n import _
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Decision, Outcome, SeatCounts
from portal.student import fragments, saying, wish
from portal.student.pages import mine_of
from portal.student.receipt_links import with_receipts
from portal.student.refused import receipts
from portal.student.scene import Scene
from portal.web.http import flash_messages
from portal.web.http.errors import Words

log = logging.getLogger(__name__)

TONES = {Outcome.ENROLLED: "go", Outcome.WAITLISTED: "wait"}


def done(
    decided: Sequence[Decision], card: SectionView, along: Sequence[SectionView] = ()
) -> ResponseReturnValue:
    """The change in place, or back on the page that the student came from.

    `along` was given up with the section. What was decided is said even where nothing more can
    be read.
    """
    also = [each.id for each in along]
    try:
        now = mine_of(card.term_id, decided[0])
        words = saying.words(decided, now, also)
        parts = _changed(decided, now, also) if request.htmx else []
    except (LedgerUnavailable, *AWAY) as error:
        logs.warn(log, "Decided, but not read again", error)
        return _blind(decided, card, also)
    text = with_receipts(words.advice, receipts(card.term_id, decided))
    if not request.htmx:
        back = wish.back_to(card.term_id)
        flash_messages.keep(Markup("{} {}").format(words.title, text), _tone(decided), back)
        return redirect(back, 303)
    toast = fragments.toast(words.title, text, _tone(decided), brief=True)
    return closing([*map(fragments.out_of_band, parts), toast])


def closing(parts: Iterable[Markup]) -> Response:
    """An answer that closes the dialog once its parts are in their places."""
    response = make_response(Markup().join(parts))
    response.headers["HX-Trigger-After-Settle"] = "fs:close"
    return response


def _changed(decided: Sequence[Decision], now: Scene, also: list[int]) -> list[Markup]:
    """The cells and counts of all sections that were touched, and my selections."""
    touched = [each.section for each in decided] + [each.given_up for each in decided] + also
    sections = [section for section in dict.fromkeys(touched) if section]
    return [
        *(fragments.act(now, section) for section in sections),
        *(fragments.seats(each) for each in _counts(decided[0], now, sections)),
        fragments.mine(now),
        fragments.bar(now),
        fragments.attention(now),
    ]


def _counts(first: Decision, now: Scene, sections: list[int]) -> Iterable[SeatCounts]:
    """The counts by now: those of the answer, unless it is an old one or others moved as well."""
    if len(sections) == 1 and first.seats and not first.replayed:
        return [first.seats]
    return backend().ledger.seats_of(now.term.id, sections).values()


def _blind(decided: Sequence[Decision], card: SectionView, also: list[int]) -> ResponseReturnValue:
    """What was decided, from the answers alone."""
    title = saying.plainly(decided, card.term_id, also)
    advice = _("Refresh the page to see all that you have.")
    text = with_receipts(advice, receipts(card.term_id, decided))
    if not request.htmx:
        back = wish.back_to(card.term_id)
        return render_template("student/decided.html", words=Words(title, text), back=back)
    seats = [fragments.seats(each.seats) for each in decided if each.seats]
    toast = fragments.toast(title, text, _tone(decided))
    return closing([*map(fragments.out_of_band, seats), toast])


def _tone(decided: Sequence[Decision]) -> str:
    outcomes = {each.outcome for each in decided}
    return next((tone for outcome, tone in reversed(TONES.items()) if outcome in outcomes), "")
