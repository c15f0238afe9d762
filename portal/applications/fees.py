"""Fees: charged at most once, whatever is repeated, lost or late, and given back in whole.

A charge is a row with the next call to the provider. The request that pays makes the call at once;
a worker repeats it if that fails. Messages of the provider may come late, twice or in any order.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from time import time

from redis.exceptions import RedisError
from sqlalchemy import Connection, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.applications import payments
from portal.applications.history import locked, move, refresh_pages, tell_applicant
from portal.applications.models import (
    DECLINED,
    DRAFT,
    EXPIRED,
    FAILED,
    MORE,
    NEW,
    OPEN,
    PAID,
    REFUNDED,
    REFUNDING,
    REVIEW,
    WITHDRAWN,
    Application,
    Charge,
    PaymentEvent,
)
from portal.applications.payments.provider import (
    Bill,
    Message,
    Progress,
    Provider,
    ProviderFailed,
    ProviderRefused,
)
from portal.backend import backend
from portal.core.breakers import REST, Breaker, BreakerOpen, breaker_states
from portal.core.db import transaction
from portal.core.errors import Refused
from portal.core.i18n import _k, _l
from portal.core.queue import NO_TERM, enqueue, enqueue_after
from portal.notifications.outbox import due, mark_dead, mark_sent, postpone, retry_later, take_due
from portal.recorder.signals import DueJob, due_since

PART = "payments"  # of the breaker
PAUSES = (2.0, 4.0, 8.0)  # seconds before each retry
POLL = 10 * 60.0  # seconds until the provider is asked about an open checkout
AT_ONCE = 4  # calls of a process to the provider
AT_A_TIME = 5  # charges of one job; if more are due, another continues
PAYABLE = (DRAFT, MORE, REVIEW)
FEE_REFUSED = {
    "off": _l("Paying fees is paused. Your application is saved, and you can pay later."),
    "paid": _l("The fee is already paid."),
    "closed": _l("This application is closed, so there is nothing to pay."),
    "not_paid": _l("There is no payment to refund."),
}


class FeeRefused(Refused):
    """It can't be done."""

    texts = FEE_REFUSED


@cache
def breaker() -> Breaker:
    """Return the breaker and bulkhead round the provider."""
    made = Breaker("The payment provider", (ProviderFailed,), PART, in_a_row=True)
    made.at_once = AT_ONCE
    return made


def is_breaker_open() -> bool:
    """Return whether the breaker of a process keeps calls from the provider now."""
    with suppress(RedisError):
        found = breaker_states(backend().redis)
        return any(each.part == PART and each.state(time() * 1000) == "open" for each in found)
    return False


def are_off() -> bool:
    """Return whether fees are switched off: new applications owe none, and none can be paid."""
    return not backend().settings.payments


def amount_of(fee: int) -> int:
    """Return the fee that a new application owes."""
    return 0 if are_off() else fee


def pay(application: int, account: int) -> str:
    """Return where the applicant pays the fee: the same open checkout, or a new one.

    It is blank while the provider can't be reached. Raises FeeRefused.
    """
    with transaction() as session:
        number = _charge_of(session, locked(session, application, account)).id
    with transaction() as session:
        waits = Charge.id == number, Charge.state == NEW
        # A locked one is being opened now.
        again = select(Charge).where(*waits).with_for_update(skip_locked=True)
        if charge := session.scalar(again):
            charge.dead_at, charge.tries, charge.due_at = None, 0, func.now()
    _advance(number)
    with transaction() as session:
        charge = session.get_one(Charge, number)
        return charge.url if charge.state == OPEN else ""


def refund(application: int, by: int, reason: str) -> None:
    """Give the fee back; a worker asks the provider. Raises FeeRefused."""
    with transaction() as session:
        lock_charges(session, application)
        found = session.get_one(Application, application, with_for_update=True)
        paid = next((each for each in found.charges if each.state == PAID), None)
        if paid is None:
            raise FeeRefused("not_paid")
        move(session, found, found.state, "refunding", by, reason)
        _give_back(session, paid)


def lock_charges(session: Session, application: int) -> None:
    """Lock the charges of an application: before the application, as calls to the provider do."""
    mine = select(Charge).where(Charge.application_id == application).order_by(Charge.id)
    session.scalars(mine.with_for_update()).all()


def refund_after(session: Session, application: Application) -> None:
    """Give back the fee of an application that its person withdrew."""
    for charge in application.charges:
        if charge.state == PAID:
            _give_back(session, charge)


def receive(message: Message) -> None:
    """Handle a message of the provider once; do nothing if it came before, or is not ours."""
    source = payments.provider()
    if source is None:
        return
    seen = {"provider": source.name, "id": message.id}
    with transaction() as session:
        new = insert(PaymentEvent).values(seen).on_conflict_do_nothing()
        if session.scalar(new.returning(PaymentEvent.id)) is None:
            return
        number = _number_of(session, source, message)
        if number is None:
            return
        charge = _locked_charge(session, number)
        if not charge.reference:  # the process died before it stored the provider's answer
            charge.reference = message.reference
        _settle(session, charge, message.progress)


def look(application: int, account: int) -> None:
    """Ask the provider about the open checkout of someone who comes back from it."""
    with transaction() as session:
        mine = select(Application.id).where(
            Application.id == application, Application.account_id == account
        )
        open_ones = Charge.application_id.in_(mine), Charge.state == OPEN
        found = session.scalars(select(Charge).where(*open_ones).with_for_update(skip_locked=True))
        numbers = []
        for charge in found:
            charge.due_at = func.now()
            numbers.append(charge.id)
    for number in numbers:
        _advance(number)


# The calls to the provider


def charge_due() -> None:
    """Make the calls that are due; enqueue another job if there are more."""
    for _each in range(AT_A_TIME):
        if not _advance():
            return
    enqueue(NO_TERM, ["charge"])


FIRST_DUE = select(func.min(Charge.due_at)).where(*due(Charge))


def due_jobs(look: Connection, _terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that calls the provider, if a charge is due."""
    return due_since("charge", look.scalar(FIRST_DUE))


def _advance(number: int = 0) -> bool:
    """Make the next call of a charge, or of any; return whether one was due."""
    which = [Charge.id == number] if number else []
    with transaction() as session:
        order = (Charge.due_at, Charge.id)
        found = next(iter(take_due(session, Charge, *which, order=order, most=1)), None)
        source = payments.provider()
        if found is None:
            return False
        if source is None:
            mark_dead(found, _k("Payments are switched off."))
            return True
        try:
            _call(session, found, source)
        except BreakerOpen:
            postpone(
                found, REST, _k("The payment provider keeps failing. It is called again later.")
            )
        except ProviderRefused as error:
            found.attempt += 1
            mark_dead(found, str(error))
        except ProviderFailed as error:
            # If the call was answered with an error, no student has a link to its checkout.
            found.attempt += error.answered
            if found.state == OPEN:
                postpone(found, POLL, str(error))
            else:
                retry_later(found, str(error), PAUSES)
        refresh_pages(session, found.application)
    return True


def _call(session: Session, charge: Charge, source: Provider) -> None:
    if charge.state == NEW:
        made = breaker().call(source.open, _bill(charge))
        charge.reference, charge.url, charge.state = made.reference, made.url, OPEN
        charge.tries = 0
        postpone(charge, POLL, "")
    elif charge.state == OPEN:
        found = breaker().call(source.progress, charge.reference)
        postpone(charge, POLL, "")
        _settle(session, charge, found)
    else:
        breaker().call(source.refund, charge.key, charge.reference, charge.payment)
        _settle(session, charge, Progress("refunded"))


def _bill(charge: Charge) -> Bill:
    application = charge.application
    back = f"/terms/{application.term_id}/applications/{application.id}/fee/back"
    return Bill(
        charge.id,
        charge.key,
        charge.amount,
        charge.currency,
        f"{backend().settings.institution}, {application.term.name}",
        application.account.email,
        backend().settings.url + back,
    )


def _settle(session: Session, charge: Charge, progress: Progress) -> None:
    """Store how a charge stands, if that is news: what came first in truth may come last here."""
    owner = session.get_one(Application, charge.application_id, with_for_update=True)
    state, outcome = charge.state, progress.outcome
    charge.payment = progress.payment or charge.payment
    if outcome == "paid" and state in {NEW, OPEN, FAILED, EXPIRED}:
        _settle_paid(session, owner, charge)
    elif outcome in {"failed", "expired"} and state in {NEW, OPEN}:
        _settle_unpaid(session, owner, charge, expired=outcome == "expired")
    elif outcome == "refunded" and state in {PAID, REFUNDING}:
        charge.refunded_at = func.now()
        _end(charge, REFUNDED)
        entry = move(session, owner, owner.state, "refund", None)
        tell_applicant(
            session, owner, entry, "refund", amount=charge.amount, currency=charge.currency
        )
    refresh_pages(session, owner)


def _settle_paid(session: Session, owner: Application, charge: Charge) -> None:
    """Accept the money, or give it back if the fee is paid already or no longer owed."""
    others = [each for each in owner.charges if each.id != charge.id]
    charge.paid_at = func.now()
    if owner.state in {WITHDRAWN, DECLINED} or any(each.state == PAID for each in others):
        _give_back(session, charge)
        return
    for each in others:
        if each.state in {NEW, OPEN}:  # a second checkout; if it is paid too, that is given back
            _end(each, EXPIRED)
    session.flush()
    _end(charge, PAID)
    entry = move(session, owner, owner.state, "paid", None)
    tell_applicant(session, owner, entry, "paid", amount=charge.amount, currency=charge.currency)


def _settle_unpaid(session: Session, owner: Application, charge: Charge, *, expired: bool) -> None:
    """End the charge; ask the applicant to pay again if the fee is still owed."""
    _end(charge, EXPIRED if expired else FAILED)
    if owner.state in PAYABLE:
        step = "expired" if expired else "unpaid"
        entry = move(session, owner, owner.state, step, None)
        tell_applicant(session, owner, entry, step)


def _end(charge: Charge, state: str) -> None:
    charge.state = state
    charge.dead_at = None
    mark_sent(charge)


def _give_back(session: Session, charge: Charge) -> None:
    charge.state, charge.tries = REFUNDING, 0
    charge.sent_at, charge.due_at = None, func.now()
    enqueue_after(session, "charge")


def _charge_of(session: Session, application: Application) -> Charge:
    """Return the live charge of an application, or a new one; raise FeeRefused."""
    if application.paid:
        raise FeeRefused("paid")
    if application.state not in PAYABLE:
        raise FeeRefused("closed")
    source = payments.provider()
    if source is None:
        raise FeeRefused("off")
    for charge in application.charges:
        if charge.state in {NEW, OPEN}:
            return charge
    made = Charge(
        application_id=application.id,
        amount=application.fee,
        currency=backend().settings.currency,
        provider=source.name,
        state=NEW,
    )
    session.add(made)
    session.flush()
    return made


def _number_of(session: Session, source: Provider, message: Message) -> int | None:
    """Return the charge that a message is about."""
    ours = Charge.provider == source.name
    found = select(Charge.id).where(ours, Charge.reference == message.reference)
    by_number = select(Charge.id).where(ours, Charge.id == message.charge, Charge.reference == "")
    return session.scalar(found) or session.scalar(by_number)


def _locked_charge(session: Session, number: int) -> Charge:
    """Return a charge, locked; a call to the provider may hold it for some seconds."""
    session.execute(text("SET LOCAL lock_timeout = '12s'"))
    return session.get_one(Charge, number, with_for_update=True)
