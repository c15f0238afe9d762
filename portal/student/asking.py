"""What every form that asks has in common: which section it is about, and what if all is silent."""

import logging
from typing import Any

from flask import abort, request
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import NoSuchTerm, SectionView, catalog_of
from portal.core import logs
from portal.core.cache import AWAY
from portal.core.i18n import _l
from portal.ledger.errors import KeyReused, LedgerBehind, LedgerUnavailable
from portal.student import bp, forms, wish
from portal.student.pages import mine_of
from portal.student.scene import Scene
from portal.web.http.errors import LATER, Words, answer, away
from portal.windows.phases import sections_visible

log = logging.getLogger(__name__)

REUSED = Words(
    _l("This form was sent before with another choice"),
    _l("Go back to the list and begin again. What was decided then stands."),
)
ENDED = Words(
    _l("Selection has ended"),
    _l("Sections are no longer shown. What you have is under My selections."),
)


class NotShown(Exception):  # noqa: N818  a state of the world, not a mistake
    """Selection has ended, so that sections of others are no longer shown."""


def seen(term_id: int, section_id: int) -> tuple[Scene, SectionView]:
    """A section that the student may see, holds, waits for or has planned.

    404 otherwise; raises NotShown where selection has ended.
    """
    card, now = card_of(term_id, section_id), mine_of(term_id)
    if not (now.shows(card) or now.state(card.id) or card.id in now.planned):
        if not sections_visible(now.phase):
            raise NotShown
        abort(404)
    return now, card


def card_of(term_id: int, section_id: int) -> SectionView:
    """A section that has been published; 404 otherwise."""
    try:
        return catalog_of(term_id).published(section_id) or abort(404)
    except NoSuchTerm:
        abort(404)


@bp.errorhandler(KeyReused)
def _reused(_error: KeyReused) -> ResponseReturnValue:
    return answer(400, REUSED)


@bp.errorhandler(NotShown)
def _not_shown(_error: NotShown) -> ResponseReturnValue:
    return answer(404, ENDED)


def _away(error: Exception) -> ResponseReturnValue:
    """The same form once more where nobody knows what came of it."""
    sent: dict[str, Any] = request.view_args or {}
    decides = request.method == "POST" and "section_id" in sent
    if not decides or not wish.unsure_of(error):
        return away(error)
    logs.warn(log, "No answer to a decision", repr(error))
    act = request.path.rpartition("/")[2]
    return forms.again(act, catalog_of(sent["term_id"]), card_of(**sent)), 503, LATER


for lost in (LedgerUnavailable, LedgerBehind, *AWAY):
    bp.register_error_handler(lost, _away)
