"""What the clock wants to know: which terms have something for the worker of notices to do."""

from collections.abc import Sequence

from portal.backend import backend
from portal.core.db import transaction
from portal.core.moments import milliseconds, moment
from portal.notifications import outbox, reminders


def terms_with_mail(terms: Sequence[int]) -> dict[int, int]:
    """Those of the terms, each with a number that changes when there is something else to do."""
    now = moment(backend().ledger.now())
    with transaction() as session:
        found = {each.term: each.seq + each.through for each in reminders.due(session, now)}
        mail = outbox.first_due(session)
    if mail and terms:  # whoever is called sends the mails of all
        found.setdefault(terms[0], milliseconds(mail))
    return {term: why for term, why in found.items() if term in terms}
