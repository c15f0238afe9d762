"""The context of a student's request, for the ledger."""

from portal.core.correlation import correlation
from portal.ledger.types import RequestContext
from portal.web.http.access import visitor
from portal.web.http.admission import access_token
from portal.web.http.request_limits import take_charge


def request_context(term: int, idempotency_key: str) -> RequestContext:
    """Return the context of this request; its cost is then the ledger's to count."""
    who, token = visitor(), access_token()
    return RequestContext(
        term=term,
        student=who.student_id or 0,
        actor=f"account:{who.id}",
        correlation=correlation(),
        idempotency_key=idempotency_key,
        window=token.window if token else None,
        rate=take_charge(),
    )
