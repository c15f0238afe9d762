"""Signed tokens (JWT): a program exchanges its service token for one that lasts ten minutes.

Other services verify them with the public keys alone. The portal also asks whether the service
token still stands, so revoking it ends both at once.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from time import time
from typing import Any
from uuid import uuid4

from joserfc import jwt
from joserfc.errors import JoseError

from portal.backend import backend
from portal.people import signing_keys, tokens
from portal.people.signing_keys import ALGORITHM, LIFETIME
from portal.people.tokens import Bearer

TYPE = "at+jwt"  # RFC 9068
PARTS = 3
LONGEST = 4096  # characters


@dataclass(frozen=True)
class SignedToken:
    """A token, what it may do, and how many seconds it lasts."""

    text: str
    scopes: list[str]
    seconds: int


def is_signed(token: str) -> bool:
    """Return whether a bearer token has the form of a signed one."""
    return token.startswith("eyJ") and token.count(".") == PARTS - 1 and len(token) <= LONGEST


def issue(bearer: Bearer, name: str, scopes: Collection[str] | None = None) -> SignedToken:
    """Return a token for the bearer of a service token, with all its scopes or some of them.

    Raises ValueError for scopes that the service token lacks.
    """
    wanted = bearer.scopes if scopes is None else frozenset(scopes)
    if not wanted <= bearer.scopes:
        raise ValueError(" ".join(sorted(wanted - bearer.scopes)))
    now, url = int(time()), backend().settings.url
    left = LIFETIME.seconds
    if bearer.expires_at:
        left = max(1, min(left, int(bearer.expires_at.timestamp()) - now))
    client = str(bearer.token_id)
    claims = {
        "iss": url,
        "aud": url,
        "sub": client,
        "client_id": client,
        "name": name,
        "scope": " ".join(sorted(wanted)),
        "iat": now,
        "exp": now + left,
        "jti": uuid4().hex,
    }
    key = signing_keys.key_to_sign()
    header = {"alg": ALGORITHM, "typ": TYPE, "kid": key.kid}
    return SignedToken(jwt.encode(header, claims, key, [ALGORITHM]), sorted(wanted), left)


def find_bearer(token: str) -> Bearer | None:
    """Return the bearer of a signed token whose service token still stands."""
    try:
        claims = _claims(token)
        client, scopes = int(claims["client_id"]), frozenset(claims["scope"].split())
    except (JoseError, ValueError, KeyError, TypeError):
        return None
    found = tokens.find_service(client)
    return replace(found, scopes=found.scopes & scopes) if found else None


def _claims(token: str) -> dict[str, Any]:
    """Return the claims of a token that we signed for ourselves, and that has not ended."""
    read = jwt.decode(token, signing_keys.keys().to_verify, [ALGORITHM])
    if read.header.get("typ") != TYPE:
        raise ValueError("another kind of token")
    url = backend().settings.url
    required: Any = {"essential": True}
    jwt.JWTClaimsRegistry(
        iss=required | {"value": url},
        aud=required | {"value": url},
        exp=required,
        client_id=required,
        scope=required,
    ).validate(read.claims)
    return read.claims
