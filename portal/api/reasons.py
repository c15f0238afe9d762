"""Why something is refused, for programs: a code that stays, and a sentence for people."""

from collections.abc import Iterable

from marshmallow import fields

from portal.api.schemas import Said
from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog
from portal.ledger.types import Reason
from portal.seats.case import Case
from portal.seats.reasons import told
from portal.seats.sentences import SENTENCES


class Why(Said):
    code = fields.String(metadata={"description": f"One of {', '.join(sorted(SENTENCES))}."})
    message = fields.String()


def in_words(
    reasons: Iterable[Reason], offered: TermCatalog, section: int, instead: int = 0
) -> list[dict[str, str]]:
    """The reasons about a section; `instead` is the one that was to be given up for it."""
    case = Case(offered, offered.section(section), backend().settings.zone, instead=instead)
    return [{"code": each.code, "message": each.text} for each in told(reasons, case)]
