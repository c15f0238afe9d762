"""What an admin should know before a window is set to these times; none of it forbids them."""

from datetime import timedelta

from portal.catalog import formatting
from portal.catalog.views import TermView
from portal.core.i18n import _
from portal.windows.localtime import Clockface

EARLY = timedelta(days=366)


def cautions(term: TermView, clock: Clockface, opens: int, closes: int, now: int) -> list[str]:
    """Sentences about a beginning in the past and times outside the term (all in ms)."""
    found = []
    if opens <= now:
        found.append(_("It begins in the past, so it opens at once."))
    if clock.at(opens).date() < term.starts_on - EARLY:
        found.append(
            _(
                "It begins more than a year before the term does, on %(day)s. Mind the year.",
                day=formatting.day(term.starts_on, year=True),
            )
        )
    if clock.at(closes - 1).date() > term.ends_on:
        found.append(
            _(
                "It reaches beyond the last day of the term, %(day)s.",
                day=formatting.day(term.ends_on, year=True),
            )
        )
    return found
