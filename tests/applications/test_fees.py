"""Fees: charged at most once, whatever comes late, twice or in another order; and given back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal import backend as connections
from portal.applications import fees, service
from portal.applications.fees import FeeRefused
from portal.applications.models import Charge
from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.core.settings import Stripe
from portal.notifications.outbox import retry
from portal.people.models import Account
from tests import cast as builders
from tests.applications import stripe_api
from tests.applications.stories import (
    a_visiting_application,
    charges,
    decider,
    history,
    pay,
    steps,
    the,
)
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def stripe(backend: Backend) -> Iterator[stripe_api.Account]:
    """Fees go to a stand-in of Stripe."""
    fees.breaker.cache_clear()
    with stripe_api.stripe_api() as account:
        ours = Stripe("sk_test_x", stripe_api.SECRET, account.url)
        settings = replace(backend.settings, payments="stripe", stripe=ours)
        connections.use(replace(backend, settings=settings))
        yield account


@pytest.fixture
def made(free: Section, vera: Account, stripe: stripe_api.Account) -> int:  # noqa: ARG001
    """An application that was sent without the fee."""
    return a_visiting_application(vera, free.term_id, paid=False)


Say = Callable[..., int]


@pytest.fixture
def say(app: Flask, stripe: stripe_api.Account) -> Say:
    """Send a message of Stripe about a checkout; return the status of the answer."""

    def send(kind: str, reference: str = "cs_1", number: int = 1) -> int:
        body, signature = stripe.message(kind, reference, number)
        headers = {"Stripe-Signature": signature}
        return app.test_client().post("/payments/stripe", data=body, headers=headers).status_code

    return send


@pytest.fixture
def withdrawn(made: int, vera: Account, stripe: stripe_api.Account, say: Say) -> int:
    """An application that was withdrawn after its fee was paid."""
    fees.pay(made, vera.id)
    stripe.pays("cs_1")
    say("completed")
    service.withdraw(made, vera.id)
    return made


def states(application: int) -> list[str]:
    return [each.state for each in charges(application)]


def due_again() -> None:
    """What is to be tried later is tried now."""
    with transaction() as session:
        session.execute(update(Charge).values(due_at=Charge.made_at))


def test_a_checkout_is_paid_by_a_signed_message(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    assert fees.pay(made, vera.id) == "https://checkout.stripe.com/cs_1"
    assert stripe.sessions["cs_1"]["amount_total"] == 5000
    stripe.pays("cs_1")
    assert say("completed") == 204
    assert states(made) == ["paid"]
    assert charges(made)[0].payment == "pi_cs_1"
    assert steps(vera.id)[-1] == "paid"
    with pytest.raises(FeeRefused, match="paid"):
        fees.pay(made, vera.id)


def test_a_replay_changes_nothing(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    fees.pay(made, vera.id)
    stripe.pays("cs_1")
    assert [say("completed") for _ in range(3)] == [204] * 3
    assert steps(vera.id).count("paid") == 1


def test_messages_out_of_order_end_the_same(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    fees.pay(made, vera.id)
    assert say("completed", number=1) == 204  # of a bank transfer that is not paid yet
    assert states(made) == ["open"]
    stripe.pays("cs_1")
    say("async_payment_succeeded", number=2)
    stripe.sessions["cs_1"] |= {"payment_status": "unpaid", "status": "expired"}
    say("expired", number=3)
    assert states(made) == ["paid"]


def test_a_payment_that_comes_after_the_expiry_counts(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    fees.pay(made, vera.id)
    stripe.sessions["cs_1"]["status"] = "expired"
    say("expired", number=1)
    assert states(made) == ["expired"]
    stripe.pays("cs_1")
    say("async_payment_succeeded", number=2)
    assert states(made) == ["paid"]


@pytest.mark.parametrize(
    ("kind", "state"), [("expired", "expired"), ("async_payment_failed", "failed")]
)
def test_no_one_is_asked_to_pay_for_a_withdrawn_application(
    made: int, vera: Account, say: Say, kind: str, state: str
) -> None:
    fees.pay(made, vera.id)
    service.withdraw(made, vera.id)
    before = history(made), steps(vera.id)
    say(kind)
    assert states(made) == [state]
    assert (history(made), steps(vera.id)) == before


def test_a_checkout_that_no_one_used_is_no_failed_payment(
    app: Flask, made: int, vera: Account, say: Say, free: Section
) -> None:
    fees.pay(made, vera.id)
    say("expired")
    assert steps(vera.id)[-1] == "expired"
    browser = browser_of(app, "vera")
    inbox = browser.get("/inbox").text
    assert "was not finished in time" in inbox
    assert "failed" not in inbox
    assert "failed" not in browser.get(f"/terms/{free.term_id}/applications/{made}").text


def test_two_payments_leave_one_and_give_the_other_back(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    fees.pay(made, vera.id)
    stripe.sessions["cs_1"]["status"] = "expired"
    say("expired", number=1)
    fees.pay(made, vera.id)
    for number, reference in enumerate(("cs_2", "cs_1"), 2):
        stripe.pays(reference)
        say("completed", reference, number)
    assert states(made) == ["refunding", "paid"]
    fees.charge_due()
    assert states(made) == ["refunded", "paid"]
    assert list(stripe.refunds) == ["pi_cs_1"]


@pytest.mark.parametrize("wrong", ["signature", "body"])
def test_a_message_that_is_not_signed_is_refused(
    app: Flask, made: int, vera: Account, stripe: stripe_api.Account, wrong: str
) -> None:
    fees.pay(made, vera.id)
    stripe.pays("cs_1")
    body, signature = stripe.message("completed", "cs_1")
    sent = {"signature": (body, "t=1,v1=00"), "body": (body + b" ", signature)}[wrong]
    headers = {"Stripe-Signature": sent[1]}
    answer = app.test_client().post("/payments/stripe", data=sent[0], headers=headers)
    assert answer.status_code == 400
    assert states(made) == ["open"]


def test_without_a_message_the_provider_is_asked(
    made: int, vera: Account, stripe: stripe_api.Account
) -> None:
    fees.pay(made, vera.id)
    stripe.pays("cs_1")
    due_again()
    fees.charge_due()
    assert states(made) == ["paid"]


def test_an_answer_that_was_lost_makes_no_second_checkout(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    fees.pay(made, vera.id)
    with transaction() as session:  # as after kill -9 between the answer and the commit
        session.execute(update(Charge).values(state="new", reference="", url=""))
    due_again()
    fees.charge_due()
    assert list(stripe.sessions) == ["cs_1"]
    assert states(made) == ["open"]
    with transaction() as session:
        session.execute(update(Charge).values(state="new", reference="", url=""))
    stripe.pays("cs_1")
    say("completed")  # it names our charge
    assert states(made) == ["paid"]


def test_presses_at_once_make_one_checkout(
    made: int, vera: Account, stripe: stripe_api.Account
) -> None:
    with ThreadPoolExecutor(4) as crowd:
        urls = list(crowd.map(lambda _: fees.pay(made, vera.id), range(8)))
    assert set(urls) <= {"https://checkout.stripe.com/cs_1", ""}
    assert list(stripe.sessions) == ["cs_1"]
    assert states(made) == ["open"]


def test_while_the_provider_is_down_the_rest_goes_on(
    app: Flask, made: int, stripe: stripe_api.Account, free: Section
) -> None:
    browser, here = browser_of(app, "vera"), f"/terms/{free.term_id}/applications/{made}"
    stripe.fails = 500
    answer = browser.post(f"{here}/fee")
    assert answer.status_code == 503
    assert "isn’t responding" in answer.text
    assert "In review" in browser.get(here).text
    for _ in range(3):
        due_again()
        fees.charge_due()
    (charge,) = charges(made)
    assert charge.dead_at
    assert charge.tries == 4
    stripe.fails = 0
    assert browser.post(f"{here}/fee").location == "https://checkout.stripe.com/cs_1"


def test_a_provider_that_fails_is_left_alone_for_a_while(
    made: int, vera: Account, stripe: stripe_api.Account
) -> None:
    stripe.fails = 500
    for _ in range(8):
        assert fees.pay(made, vera.id) == ""
    assert len(stripe.calls) == 5
    assert charges(made)[0].dead_at is None  # the breaker costs no attempt


def test_what_the_provider_refuses_is_a_dead_letter_at_once(
    made: int, vera: Account, stripe: stripe_api.Account
) -> None:
    stripe.fails = 400
    fees.pay(made, vera.id)
    assert charges(made)[0].dead_at
    assert len(stripe.calls) == 1


def test_a_refused_call_can_be_made_again(
    made: int, vera: Account, stripe: stripe_api.Account
) -> None:
    stripe.fails = 400
    fees.pay(made, vera.id)
    stripe.fails = 0
    assert fees.pay(made, vera.id) == "https://checkout.stripe.com/cs_1"


@pytest.mark.parametrize("status", [409, 429])
def test_a_call_that_was_not_begun_keeps_its_key(
    made: int, vera: Account, stripe: stripe_api.Account, status: int
) -> None:
    stripe.fails = status
    fees.pay(made, vera.id)
    assert charges(made)[0].dead_at is None
    stripe.fails = 0
    due_again()
    fees.charge_due()
    assert states(made) == ["open"]
    assert len(stripe.keys) == 2
    assert len(set(stripe.keys)) == 1


def test_a_checkout_behind_an_error_is_shown_to_no_one(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    stripe.fails, stripe.too_late = 500, True
    assert fees.pay(made, vera.id) == ""
    stripe.fails = 0
    assert fees.pay(made, vera.id) == "https://checkout.stripe.com/cs_2"
    stripe.sessions["cs_1"]["status"] = "expired"
    say("expired", "cs_1", 1)
    assert states(made) == ["open"]
    stripe.pays("cs_2")
    say("completed", "cs_2", 2)
    assert states(made) == ["paid"]


def test_a_lost_answer_to_an_earlier_content_does_not_stop_the_payment(
    made: int, vera: Account, stripe: stripe_api.Account
) -> None:
    fees.pay(made, vera.id)
    assert list(stripe.sessions) == ["cs_1"]
    with transaction() as session:  # as after kill -9 between the answer and the commit
        session.execute(update(Charge).values(state="new", reference="", url=""))
        session.get_one(Account, vera.id).email = "vera@elsewhere.example"
    for _ in range(2):
        due_again()
        fees.charge_due()
    assert states(made) == ["open"]
    assert charges(made)[0].reference == "cs_2"


@pytest.mark.parametrize("too_late", [False, True])
def test_a_refund_that_failed_is_made_once(
    withdrawn: int, stripe: stripe_api.Account, *, too_late: bool
) -> None:
    stripe.fails, stripe.too_late = 500, too_late
    fees.charge_due()
    assert states(withdrawn) == ["refunding"]
    stripe.fails = 0
    due_again()
    fees.charge_due()
    assert states(withdrawn) == ["refunded"]
    assert list(stripe.refunds) == ["pi_cs_1"]


def test_a_refund_that_the_provider_could_not_make_is_a_dead_letter(
    withdrawn: int, vera: Account, stripe: stripe_api.Account
) -> None:
    stripe.refund_status = "failed"
    fees.charge_due()
    assert states(withdrawn) == ["refunding"]
    assert charges(withdrawn)[0].dead_at
    assert steps(vera.id)[-1] == "paid"

    stripe.refund_status = "pending"  # accepted, and under way at the bank
    with transaction() as session:
        retry(session, Charge, [charges(withdrawn)[0].id])
    fees.charge_due()
    assert states(withdrawn) == ["refunded"]


def test_withdrawing_gives_the_fee_back_once(
    withdrawn: int, vera: Account, stripe: stripe_api.Account
) -> None:
    for _ in range(2):
        fees.charge_due()
        due_again()
    assert states(withdrawn) == ["refunded"]
    assert list(stripe.refunds) == ["pi_cs_1"]
    assert steps(vera.id)[-1] == "refund"


def test_a_payment_for_a_withdrawn_application_is_given_back(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say
) -> None:
    fees.pay(made, vera.id)
    service.withdraw(made, vera.id)
    stripe.pays("cs_1")
    say("completed")
    fees.charge_due()
    assert states(made) == ["refunded"]


def test_a_payment_for_a_declined_application_is_given_back(
    made: int, vera: Account, stripe: stripe_api.Account, say: Say, cast: Cast
) -> None:
    fees.pay(made, vera.id)
    service.decline(made, decider(made, cast.max.id))
    stripe.pays("cs_1")
    say("completed")
    fees.charge_due()
    assert states(made) == ["refunded"]


@pytest.mark.usefixtures("paying")
@pytest.mark.parametrize(
    ("outcome", "state"), [("paid", "paid"), ("failed", "failed"), ("timeout", "open")]
)
def test_the_test_provider_ends_as_chosen(
    free: Section, vera: Account, outcome: str, state: str
) -> None:
    made = a_visiting_application(vera, free.term_id, paid=False)
    pay(made, vera, outcome)
    assert states(made) == [state]
    if state != "paid":
        assert not the(made).decided_at
        pay(made, vera)
        assert states(made)[-1] == "paid"


@pytest.mark.usefixtures("paying")
def test_the_pages_of_the_test_provider_belong_to_one_student(
    app: Flask, ada: FlaskClient, free: Section, vera: Account
) -> None:
    made = a_visiting_application(vera, free.term_id, paid=False)
    fees.pay(made, vera.id)
    here = f"/payments/test/{charges(made)[0].id}"
    assert ada.get(here).status_code == 404
    browser = browser_of(app, "vera")
    assert browser.get(here).status_code == 200
    assert browser.post(here, data={"outcome": "rich"}).status_code == 400


def test_no_fee_is_due_while_payments_are_off(free: Section, vera: Account, cast: Cast) -> None:
    made = a_visiting_application(vera, free.term_id)
    assert the(made).fee == 0
    assert service.approve(made, decider(made, cast.max.id)).forwarded


@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.usefixtures("paying")
def test_pages_say_that_paying_is_paused(
    app: Flask, backend: Backend, free: Section, vera: Account, *, sent: bool
) -> None:
    made = a_visiting_application(vera, free.term_id, paid=False)
    if not sent:
        service.ask_more(made, decider(made, builders.an_account("mia", is_admin=True).id))
    here, browser = f"/terms/{free.term_id}/applications/{made}", browser_of(app, "vera")
    assert f'href="{here}/fee">Pay the fee' in browser.get(here).text
    assert "Pay now" in browser.get(f"{here}/fee").text

    connections.use(backend)  # without a provider
    for page in (here, f"{here}/fee"):
        shown = browser.get(page).text
        assert "Paying fees is paused" in shown
        assert "Pay the fee" not in shown
        assert "Pay now" not in shown
    refused = browser.post(f"{here}/fee")
    assert refused.status_code == 503
    assert refused.text.count("Paying fees is paused") == 1
    assert charges(made) == []

    connections.use(replace(backend, settings=replace(backend.settings, payments="test")))
    assert f'href="{here}/fee">Pay the fee' in browser.get(here).text
