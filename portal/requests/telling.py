"""Who is told of a request: every admin when it is made, its author when it is decided."""

from typing import Any

from sqlalchemy.orm import Session

from portal.notifications.creation import Announcement, announce
from portal.notifications.kinds import REQUEST_DECIDED, REQUEST_MADE, Kind
from portal.people.models import Account
from portal.requests.models import Request


def tell_admins(session: Session, request: Request) -> None:
    """That it waits for one of them."""
    about = {"who": request.account.name, "reason": request.reason}
    announce(session, _news(request, REQUEST_MADE, about), Account.is_admin.is_(True))


def tell_author(session: Session, request: Request, more: dict[str, Any]) -> None:
    """What has become of it."""
    about = {"state": request.state, "note": request.note} | more
    announce(session, _news(request, REQUEST_DECIDED, about), Account.id == request.account_id)


def _news(request: Request, kind: Kind, about: dict[str, Any]) -> Announcement:
    asked = {"request": request.id, "wanted": request.wanted}
    return Announcement(kind, request.section, request.id, asked | about)
