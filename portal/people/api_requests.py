"""Changes that are made once under an idempotency key, and answered again: of programs and forms.

A refusal changes nothing and is not stored. A process that dies in between leaves a request
without an answer; the next try makes the change again, which must do no harm.
"""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.ledger.errors import KeyReused
from portal.people.models import ApiRequest

KEPT = timedelta(days=1)


class Refusal(Exception):
    """The change is not possible now; the message says why."""


def change_once(
    account: int,
    key: str,
    content: Any,
    act: Callable[[ApiRequest], dict[str, Any]],
    **data: int,
) -> tuple[dict[str, Any], bool]:
    """Return the answer of `act`, and whether it is repeated from an earlier request.

    `data` is stored at the first try. Two requests with the same key wait for each other. Raises
    KeyReused if the first one had other content, and whatever `act` raises. After a Refusal the
    next try counts as the first one.
    """
    digest = sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
    with transaction() as session:
        fields = {"account_id": account, "key": key, "digest": digest, "data": data}
        begun = insert(ApiRequest).values(fields)
        again = {"tries": ApiRequest.tries + 1}
        names, unanswered = ("account_id", "key"), ApiRequest.answer.is_(None)
        same = unanswered & (ApiRequest.digest == digest)
        session.execute(begun.on_conflict_do_update(index_elements=names, set_=again, where=same))
    mine = ApiRequest.account_id == account, ApiRequest.key == key
    try:
        return _answer(mine, digest, act)
    except Refusal:
        with transaction() as session:
            session.execute(update(ApiRequest).where(*mine, unanswered).values(tries=0))
        raise


def _answer(
    mine: Sequence[ColumnElement[bool]],
    digest: str,
    act: Callable[[ApiRequest], dict[str, Any]],
) -> tuple[dict[str, Any], bool]:
    with transaction() as session:
        request = session.scalars(select(ApiRequest).where(*mine).with_for_update()).one()
        if request.digest != digest:
            raise KeyReused
        if request.answer is not None:
            return request.answer, True
        request.answer = act(request)
        return request.answer, False


def delete_expired(session: Session) -> None:
    """Delete answers that are no longer given again."""
    session.execute(delete(ApiRequest).where(ApiRequest.at < func.now() - KEPT))
