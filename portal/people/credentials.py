"""Changing a password, and ending the sessions of an account; each is kept in the audit log."""

from time import time

from sqlalchemy import select, update

from portal.core.db import transaction
from portal.live.publish import sessions_ended
from portal.notifications.alerts import alert
from portal.people import passwords, visitors
from portal.people.models import Account, AuditEntry

MOST_ENDED = 200  # sessions of an account to remember as ended; with one more, all of them end


def holds(account_id: int, password: str) -> bool:
    """Whether that is the account's password."""
    with transaction() as session:
        kept = session.scalar(select(Account.password_hash).where(Account.id == account_id))
    return passwords.verify(kept or "", password)


def change_password(account_id: int, password: str) -> None:
    """Keep another password, and end every session of the account."""
    _change(account_id, "password.change", password_hash=passwords.hash_password(password))


def end_sessions(account_id: int) -> None:
    """End every session of the account; its access tokens go on."""
    _change(account_id, "sessions.end")


def end_session(account_id: int, name: str, until: float) -> None:
    """End one session of the account, which would have ended by itself at `until`."""
    with transaction() as session:
        account = session.get_one(Account, account_id, with_for_update=True)
        going = {key: at for key, at in account.ended_sessions.items() if at > time()}
        if len(going) >= MOST_ENDED:
            account.session_epoch, account.ended_sessions = account.session_epoch + 1, {}
        else:
            account.ended_sessions = {**going, name: until}
    visitors.forget(account_id)
    sessions_ended(account_id)


def _change(account_id: int, action: str, **values: str) -> None:
    epoch = Account.session_epoch + 1
    with transaction() as session:
        changed = update(Account).where(Account.id == account_id)
        session.execute(changed.values(session_epoch=epoch, **values))
        session.add(
            AuditEntry(
                account_id=account_id, action=action, subject=f"account:{account_id}", reason=""
            )
        )
        if values:
            alert(session, account_id, "password")
    visitors.forget(account_id)
    sessions_ended(account_id)
