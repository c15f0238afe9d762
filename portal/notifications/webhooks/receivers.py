"""Webhook receivers: admins add, change, switch and delete them, with audit entries."""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.notifications.webhooks.outbox import queue_test

SHOWN = 30  # deliveries


class AddressTaken(Exception):
    """Another receiver has this address."""


@dataclass(frozen=True)
class ChangedBy:
    """The account that makes the change, and why."""

    account: int
    reason: str


def webhooks(session: Session) -> Sequence[Webhook]:
    """Return all receivers that are not deleted."""
    found = select(Webhook).where(Webhook.deleted_at.is_(None)).order_by(Webhook.id)
    return session.scalars(found).all()


def webhook(session: Session, webhook_id: int) -> Webhook | None:
    return next((each for each in webhooks(session) if each.id == webhook_id), None)


def latest(session: Session, webhook_id: int) -> Sequence[Delivery]:
    """Return a receiver's latest and waiting deliveries, newest first."""
    found = select(Delivery).where(Delivery.webhook_id == webhook_id)
    return session.scalars(found.order_by(Delivery.id.desc()).limit(SHOWN)).all()


def make(session: Session, url: str, names: Sequence[str], who: ChangedBy) -> Webhook:
    """Add a receiver that gets events from now on; raise AddressTaken."""
    made = Webhook(url=url, names=list(names), seed=new_seed())
    session.add(made)
    _flush(session)
    _note(session, made, "make", who, after={"url": url, "names": list(names)})
    return made


def change(session: Session, known: Webhook, who: ChangedBy, **fields: Any) -> None:
    """Change a receiver if the version matches; raise ChangedMeanwhile and AddressTaken."""
    found = _ours(session, known)
    before = {name: getattr(found, name) for name in fields}
    _set(session, found, **fields)
    _note(session, found, "change", who, before=before, after=fields)


def switch(session: Session, known: Webhook, who: ChangedBy, *, on: bool) -> None:
    """Switch a receiver on or off; raise ChangedMeanwhile."""
    found = _ours(session, known)
    before = {"on": found.is_on}
    _set(session, found, is_on=on)
    _note(session, found, "switch", who, before=before, after={"on": on})


def renew(session: Session, known: Webhook, who: ChangedBy) -> Webhook:
    """Give it another secret that signs from now on; raise ChangedMeanwhile."""
    found = _ours(session, known)
    _set(session, found, seed=new_seed())
    _note(session, found, "secret", who)
    return found


def test(session: Session, known: Webhook, who: ChangedBy) -> None:
    """Send it a test message; raise ChangedMeanwhile, also if it is off."""
    found = _ours(session, known)
    if not found.is_on:
        raise ChangedMeanwhile
    queue_test(session, found.id)
    _note(session, found, "test", who)


def remove(session: Session, known: Webhook, who: ChangedBy) -> None:
    """Delete a receiver and its waiting deliveries; raise ChangedMeanwhile."""
    found = _ours(session, known)
    _set(session, found, is_on=False, deleted_at=func.now())
    _note(session, found, "delete", who, before={"url": found.url, "names": found.names})


def _ours(session: Session, known: Webhook) -> Webhook:
    found = session.get_one(Webhook, known.id, with_for_update=True)
    if found.version != known.version or found.deleted_at:
        raise ChangedMeanwhile
    return found


def _set(session: Session, found: Webhook, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(found, name, value)
    found.version += 1
    _flush(session)


def _flush(session: Session) -> None:
    try:
        session.flush()
    except IntegrityError as error:
        raise AddressTaken from error


def _note(session: Session, about: Webhook, action: str, who: ChangedBy, **facts: Any) -> None:
    add_audit_entry(
        session,
        f"webhook.{action}",
        f"webhook:{about.id}",
        by=who.account,
        reason=who.reason,
        **facts,
    )


# Signatures: the seed of a secret is stored, the secret itself is not.

BEGINNING = "whsec_"


def new_seed() -> str:
    """Return the seed of a new secret."""
    return token_hex(16)


def signing_secret(seed: str) -> str:
    """Return the secret that follows from a seed and our key, as receivers write it."""
    return BEGINNING + b64encode(_key(seed, backend().settings.secret_key)).decode()


def signature(seed: str, message_id: str, at: int, body: bytes) -> str:
    """Return the signatures of a message sent at `at` (s), one per key, per Standard Webhooks."""
    signed = f"{message_id}.{at}.".encode() + body
    keys = [_key(seed, each) for each in reversed(backend().settings.signing_keys)]
    codes = [b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    return " ".join(f"v1,{code}" for code in codes)


def _key(seed: str, secret_key: str) -> bytes:
    ours = f"webhook {secret_key}".encode()
    return hmac.digest(ours, seed.encode(), hashlib.sha256)
