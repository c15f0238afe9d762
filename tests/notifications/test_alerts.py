"""Mails about what was done to an account."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from portal.core.db import transaction
from portal.notifications import outbox
from portal.notifications.mail import Mail, compose
from portal.notifications.models import NotificationSetting, OutboxEntry
from portal.people import accounts, tokens
from portal.people.models import Account
from portal.people.tokens import TokenRequest
from tests.cast import Cast
from tests.notifications.stories import give_addresses


@pytest.fixture
def ada(cast: Cast) -> int:
    """An account with an address."""
    give_addresses()
    return cast.ada.account_id


def written() -> Iterator[Mail]:
    """The mails of the outbox, the oldest first."""
    with transaction() as session:
        for outgoing in session.scalars(select(OutboxEntry).order_by(OutboxEntry.id)):
            yield compose(session, outgoing)


def body(mail: Mail) -> str:
    return str(mail.message.get_content())


def test_a_changed_password_is_mailed(ada: int) -> None:
    accounts.change_password(ada, "copper lantern walks twice")
    (mail,) = written()
    assert mail.to == "ada@u.example"
    assert mail.message["Subject"] == "Your password was changed"
    assert "contact the registrar" in " ".join(body(mail).split())
    assert "copper" not in body(mail)


def test_a_new_token_is_mailed_with_its_name(ada: int) -> None:
    secret = tokens.create(ada, TokenRequest("My script\nTo: eve@evil.example"))
    tokens.create_for("ada", TokenRequest("operator's"))
    mine, given = written()
    assert mine.message["To"].addresses[0].addr_spec == "ada@u.example"
    assert "My script" in mine.message["Subject"]
    assert secret not in body(mine)
    assert "operator's" in given.message["Subject"]


def test_it_is_mailed_in_the_language_of_the_account(ada: int) -> None:
    with transaction() as session:
        session.get_one(Account, ada).language = "es"
    accounts.change_password(ada, "copper lantern walks twice")
    (mail,) = written()
    assert mail.message["Content-Language"] == "es"


def test_no_one_can_choose_not_to_be_notified(ada: int) -> None:
    with transaction() as session:
        session.add(NotificationSetting(account_id=ada, kind="alert", by_mail=False))
    accounts.change_password(ada, "copper lantern walks twice")
    with transaction() as session:
        assert outbox.take(session)


def test_without_an_address_no_one_is_mailed(cast: Cast) -> None:
    accounts.change_password(cast.ada.account_id, "copper lantern walks twice")
    assert list(written()) == []


def test_sessions_that_one_ended_oneself_are_no_alarm(ada: int) -> None:
    accounts.end_sessions(ada)
    assert list(written()) == []


def test_what_was_not_done_is_not_mailed(ada: int) -> None:
    tokens.create(ada, TokenRequest("script"))
    with pytest.raises(tokens.NameTakenError):
        tokens.create(ada, TokenRequest("script"))
    assert len(list(written())) == 1
