"""GET and POST /captcha/code: who can't run scripts gets a code by mail, and types it."""

import re
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from jobs.notify import notify
from portal.backend import Backend, backend
from portal.core.db import transaction
from portal.notifications import mail
from portal.notifications.mail_sender import MailSender
from portal.notifications.models import OutboxEntry
from portal.people.models import Account
from portal.protection import captcha_codes
from portal.protection.captcha import NotProven
from tests.cast import Cast
from tests.notifications.conftest import postman, relay
from tests.notifications.mail_server import Postman
from tests.notifications.stories import a_letter, a_story, give_addresses, outbox
from tests.protection.captcha.solving import is_proven

__all__ = ["postman", "relay"]

NO_CODE = "Your code no longer works"


@pytest.fixture(autouse=True)
def addresses(cast: Cast) -> None:  # noqa: ARG001
    give_addresses()


def ask(client: FlaskClient) -> str:
    """Have a code sent; gives it as the mail says it."""
    answer = client.post("/captcha/code/mail", data={"next": "/inbox"})
    assert (answer.status_code, answer.location) == (303, "/captcha/code?next=/inbox")
    found = re.search(r"Your code is (\d{4} \d{4})\.", str(a_letter().message))
    assert found
    return found[1]


def enter(client: FlaskClient, code: str) -> Any:
    return client.post("/captcha/code", data={"code": code, "next": "/inbox"})


def other_than(code: str) -> str:
    return f"{(int(code.replace(' ', '')) + 1) % 10**8:08}"


def test_the_code_of_the_mail_counts_like_a_solution(ada: FlaskClient) -> None:
    answer = enter(ada, ask(ada))
    assert (answer.status_code, answer.location) == (303, "/inbox")
    assert is_proven(ada)


def test_the_page_says_where_it_went(ada: FlaskClient) -> None:
    ask(ada)
    assert "A code is on its way to ada@u.example." in ada.get("/captcha/code").text


@pytest.mark.parametrize("spelling", ["{0}", " {0} ", "{1}", "{2}"])
def test_it_may_be_typed_with_gaps_or_without(ada: FlaskClient, spelling: str) -> None:
    code = ask(ada)
    typed = spelling.format(code, code.replace(" ", ""), code.replace(" ", "-"))
    assert enter(ada, typed).status_code == 303


def test_it_counts_once(ada: FlaskClient) -> None:
    code = ask(ada)
    enter(ada, code)
    answer = enter(ada, code)
    assert answer.status_code == 422
    assert NO_CODE in answer.text


def test_typed_twice_at_the_same_time_it_counts_once(guarded: Flask, cast: Cast) -> None:
    account = cast.ada.account_id
    mail.send_code(account)
    [sent] = outbox()
    code = captcha_codes.code(account, sent.data["seed"])

    def use(_: int) -> str:
        with guarded.app_context():
            try:
                captcha_codes.check(account, code)
            except NotProven as refused:
                return refused.reason
            return "taken"

    with ThreadPool(4) as threads:
        assert sorted(threads.map(use, range(4))) == ["no_code"] * 3 + ["taken"]


@pytest.mark.parametrize("typed", ["", "00000000", "ü", "١٢٣٤٥٦٧٨", "\0", "1" * 5000])
def test_a_wrong_one_is_refused(ada: FlaskClient, typed: str) -> None:
    ask(ada)
    answer = enter(ada, typed)
    assert answer.status_code == 422
    assert "Wrong code" in answer.text
    assert not is_proven(ada)


def test_after_five_wrong_tries_the_right_one_is_too_late(ada: FlaskClient) -> None:
    code = ask(ada)
    for _ in range(5):
        assert "Wrong code" in enter(ada, other_than(code)).text
    assert NO_CODE in enter(ada, code).text
    assert enter(ada, ask(ada)).status_code == 303


def test_a_newer_one_takes_the_place_of_the_older(ada: FlaskClient) -> None:
    older, newer = ask(ada), ask(ada)
    assert "Wrong code" in enter(ada, older).text
    assert enter(ada, newer).status_code == 303


def test_it_is_good_for_ten_minutes(ada: FlaskClient, backend: Backend) -> None:
    code = ask(ada)
    [key] = backend.redis.keys("captcha:*")
    assert 0 < backend.redis.ttl(key) <= 600
    backend.redis.delete(key)
    assert NO_CODE in enter(ada, code).text


def test_the_code_of_another_does_not_count(ada: FlaskClient, ben: FlaskClient) -> None:
    ask(ben)
    code = ask(ada)
    assert "Wrong code" in enter(ben, code).text


def test_without_one_nothing_that_is_typed_counts(ada: FlaskClient) -> None:
    assert NO_CODE in enter(ada, "12345678").text


def test_it_is_kept_nowhere(ada: FlaskClient, backend: Backend) -> None:
    code = ask(ada).replace(" ", "")
    with transaction() as session:
        kept = session.execute(select(OutboxEntry.data, OutboxEntry.error)).one()
    [key] = backend.redis.keys("captcha:*")
    assert code not in str(kept) + str(backend.redis.get(key))


def test_it_goes_before_all_other_mail(
    ada: FlaskClient, cast: Cast, relay: MailSender, postman: Postman
) -> None:
    a_story(cast).hand_over(cast.cleo, cast.dan)
    ask(ada)
    relay.send_due()
    assert postman.recipients == ["ada@u.example", "dan@u.example"]


def test_its_sender_is_called_at_once(ada: FlaskClient) -> None:
    ask(ada)
    [job] = backend().redis.lrange("rq:queue:notify", 0, -1)
    assert job.startswith(b"0-")


def test_that_call_sends_it(
    ada: FlaskClient, relay: MailSender, postman: Postman, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.notifications.mail_sender.mail_sender", lambda: relay)
    ask(ada)
    notify(0)
    assert postman.recipients == ["ada@u.example"]


def test_one_that_could_not_be_sent_in_time_is_a_dead_letter(
    ada: FlaskClient, relay: MailSender, postman: Postman
) -> None:
    ask(ada)
    [sent] = outbox()
    with transaction() as session:
        session.execute(update(OutboxEntry).values(until=sent.due_at))
    relay.send_due()
    assert (postman.mails, outbox()[0].error) == ([], "Too old to send.")


def test_the_mail_is_in_the_language_of_its_reader(ada: FlaskClient, cast: Cast) -> None:
    with transaction() as session:
        own = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(own.values(language="es"))
    ada.post("/captcha/code/mail")
    assert a_letter().message["Content-Language"] == "es"


def test_who_has_no_address_reads_so(ada: FlaskClient) -> None:
    with transaction() as session:
        session.execute(update(Account).values(email=""))
    answer = ada.post("/captcha/code/mail")
    assert answer.status_code == 422
    assert "We don’t have your email address." in answer.text
    assert outbox() == []
