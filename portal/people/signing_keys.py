"""The keys that sign tokens for programs: RSA, in PostgreSQL, private parts encrypted.

All web processes share them. A retired key stays published until the last token that it signed
has ended.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey, RSAKey
from sqlalchemy import delete, func, or_, select, text, update
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.audit_trail import add_audit_entry
from portal.core.cache import Cache
from portal.core.db import transaction
from portal.people.models import SigningKey

ALGORITHM = "RS256"
BITS = 2048
LIFETIME = timedelta(minutes=10)  # of a signed token
PUBLISHED = LIFETIME + timedelta(minutes=5)  # after a key retires: clocks differ
FRESH_SECONDS = 2.0
PROTECTED = {"alg": "dir", "enc": "A256GCM"}
LOCK = "SELECT pg_advisory_xact_lock(hashtext('fairseat signing keys'))"


@dataclass(frozen=True)
class Keys:
    """The keys that are published; `signs` is the private one in use, None if there is none."""

    public: Sequence[Mapping[str, str]]
    signs: RSAKey | None

    @property
    def to_verify(self) -> KeySet:
        """Return the public keys."""
        return KeySet.import_key_set({"keys": [dict(each) for each in self.public]})


def keys() -> Keys:
    """Return the keys, at most 2 s out of date."""
    return _keys.get(())


def key_to_sign() -> RSAKey:
    """Return the private key in use; make the first one, or one that SECRET_KEY can open."""
    found = keys().signs
    if found is None:
        with transaction() as session:
            session.execute(text(LOCK))
            if _in_use(session) is None:  # another process may have made one
                _replace(session, None, "the first one, or SECRET_KEY was replaced")
        forget()
        found = keys().signs
    assert found is not None  # noqa: S101  just made
    return found


def rotate(by: int | None, reason: str) -> str:
    """Put a new key in use, retire the others, and return the id of the new one."""
    with transaction() as session:
        session.execute(text(LOCK))
        made = _replace(session, by, reason)
    forget()
    return made


def forget() -> None:
    """Read the keys again when they are next needed."""
    _keys.forget(())


def delete_old(session: Session) -> None:
    """Delete keys that signed no token which still lasts."""
    ended = SigningKey.retired_at < func.now() - PUBLISHED
    session.execute(delete(SigningKey).where(ended))


def _replace(session: Session, by: int | None, reason: str) -> str:
    made = RSAKey.generate_key(BITS, {"use": "sig", "alg": ALGORITHM}, private=True)
    kid = made.thumbprint()
    private = json.dumps(made.as_dict(private=True) | {"kid": kid}).encode()
    in_use = update(SigningKey).where(SigningKey.retired_at.is_(None))
    session.execute(in_use.values(retired_at=func.clock_timestamp()))
    public = made.as_dict(private=False) | {"kid": kid}
    secret = _secrets()[-1]
    sealed = jwe.encrypt_compact(PROTECTED, private, secret)
    session.add(SigningKey(kid=kid, public=public, private=sealed))
    add_audit_entry(session, "signing_key.make", f"signing_key:{kid}", by=by, reason=reason)
    return kid


def _read(_key: tuple[()]) -> Keys:
    live = or_(SigningKey.retired_at.is_(None), SigningKey.retired_at > func.now() - PUBLISHED)
    with transaction() as session:
        found = session.scalars(select(SigningKey).where(live).order_by(SigningKey.made_at.desc()))
        return Keys([each.public for each in found], _in_use(session))


def _in_use(session: Session) -> RSAKey | None:
    """Return the private key in use, or None if SECRET_KEY can't open one."""
    found = select(SigningKey.private).where(SigningKey.retired_at.is_(None))
    for sealed in session.scalars(found.order_by(SigningKey.made_at.desc())):
        for secret in _secrets():
            try:
                opened: Any = jwe.decrypt_compact(sealed, secret).plaintext
            except JoseError:
                continue
            return RSAKey.import_key(json.loads(opened))
    return None


def _secrets() -> list[OctKey]:
    """Return the keys that open the private parts; the last one seals."""
    return [
        OctKey.import_key(sha256(b"fairseat signing keys " + each.encode()).digest())
        for each in backend().settings.signing_keys
    ]


_keys: Cache[tuple[()], Keys] = Cache(_read, FRESH_SECONDS)
