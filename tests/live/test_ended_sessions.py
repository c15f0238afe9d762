"""That the sessions of an account were ended is known at once in every process."""

from collections.abc import Iterator

import pytest
from sqlalchemy import update

from portal.backend import Backend
from portal.core import redis_clients
from portal.core.db import transaction
from portal.live.hub import Hub
from portal.live.publish import sessions_ended
from portal.people import caches, visitors
from portal.people.models import Account
from tests.cast import Cast
from tests.live.test_slow_pages import until


@pytest.fixture
def hub(backend: Backend) -> Iterator[Hub]:
    hub = Hub(redis_clients.subscriber(backend.settings.redis_url), backend.ledger.seats, str)
    hub.start()
    yield hub
    hub.stop()


@pytest.mark.usefixtures("hub")
def test_a_process_without_pages_hears_it(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches._seen, "seconds", 3600)  # noqa: SLF001  so that it does not look
    account = cast.ada.account_id or 0
    session = visitors.find(account).get_id()
    assert visitors.from_session(session)
    with transaction() as db:
        changed = update(Account).where(Account.id == account)
        db.execute(changed.values(session_epoch=Account.session_epoch + 1))

    def over() -> bool:
        sessions_ended(account)  # the hub may still be on its way to the ledger
        return visitors.from_session(session) is None

    until(over)
