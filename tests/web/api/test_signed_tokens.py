"""Service tokens are exchanged for signed ones (JWT), which others verify with public keys."""

import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey, RSAKey
from sqlalchemy import func, select, update

from portal.backend import backend as parts
from portal.core.db import transaction
from portal.people import service_tokens, signing_keys
from portal.people.models import ApiToken, SigningKey
from tests.web.api.callers import Caller, program

pytestmark = pytest.mark.usefixtures("cast")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    signing_keys.forget()
    yield
    signing_keys.forget()


def exchanged(caller: Caller, **body: Any) -> Caller:
    """Return the program with a signed token."""
    answer = caller.post("/token", body)
    assert answer.status_code == 200, answer.json
    return Caller(caller.client, answer.json["data"]["access_token"])


def published(app: Flask) -> KeySet:
    answer = app.test_client().get("/.well-known/jwks.json")
    assert "private" not in answer.text
    assert not any({"d", "p", "q"} & key.keys() for key in answer.json["keys"])
    return KeySet.import_key_set(answer.json)


def claims(app: Flask, token: str) -> dict[str, Any]:
    return jwt.decode(token, published(app), ["RS256"]).claims


def token_id() -> int:
    return service_tokens.live()[0].id


def works(caller: Caller) -> bool:
    return caller.get("/semesters").status_code == 200


def test_other_services_verify_it_with_the_published_keys(app: Flask) -> None:
    answer = program(app, "windows").post("/token", {})
    data = answer.json["data"]
    assert (data["token_type"], data["expires_in"], data["scope"]) == (
        "Bearer",
        600,
        "read windows",
    )
    assert answer.headers["Cache-Control"] == "no-store"
    found = claims(app, data["access_token"])
    assert (found["iss"], found["aud"]) == (parts().settings.url,) * 2
    assert (found["name"], found["scope"]) == ("Advising system", "read windows")
    assert found["client_id"] == str(token_id())
    assert 590 < found["exp"] - time.time() <= 600


def test_the_portal_accepts_it_with_its_scopes_alone(app: Flask, term: Any) -> None:
    advising = program(app)
    fewer = exchanged(advising, scopes=["read"])
    assert works(fewer)
    answer = fewer.get(f"/admin/semesters/{term.id}/read-models")
    assert (answer.status_code, answer.json["scope"]) == (403, "read-models")
    everything = exchanged(advising)
    assert everything.get(f"/admin/semesters/{term.id}/read-models").status_code == 200


def test_it_cannot_gain_scopes_or_be_exchanged_again(app: Flask) -> None:
    advising = program(app, "windows")
    answer = advising.post("/token", {"scopes": ["registrations"]})
    assert [each["pointer"] for each in answer.json["errors"]] == ["/scopes"]
    assert exchanged(advising).post("/token", {}).status_code == 403


def test_revoking_the_service_token_ends_both_at_once(app: Flask) -> None:
    advising = program(app)
    signed = exchanged(advising)
    assert works(signed)
    assert works(advising)
    service_tokens.revoke(token_id(), by=None, reason="Lost.")
    assert not works(signed)
    assert not works(advising)


def test_an_expired_service_token_ends_both(app: Flask) -> None:
    advising = program(app)
    signed = exchanged(advising)
    with transaction() as session:
        ended = func.now() - timedelta(seconds=1)
        session.execute(update(ApiToken).values(expires_at=ended))
    assert not works(signed)
    assert not works(advising)


def test_after_a_rotation_old_tokens_last_and_new_ones_have_the_new_key(app: Flask) -> None:
    advising = program(app)
    before = exchanged(advising)
    made = signing_keys.rotate(None, "Yearly.")
    after = exchanged(advising)
    assert works(before)
    assert works(after)
    assert json.loads(jws_header(after.token))["kid"] == made
    assert len(published(app).keys) == 2
    with transaction() as session:
        retired = func.now() - timedelta(minutes=16)
        session.execute(
            update(SigningKey).where(SigningKey.retired_at.is_not(None)).values(retired_at=retired)
        )
    signing_keys.forget()
    assert [each.kid for each in published(app).keys] == [made]
    assert not works(before)
    with transaction() as session:
        signing_keys.delete_old(session)
        assert session.scalar(select(func.count()).select_from(SigningKey)) == 1


def test_private_keys_are_stored_encrypted_and_survive_a_new_secret(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    advising = program(app)
    kid = claims_kid(exchanged(advising))
    with transaction() as session:
        (stored,) = session.scalars(select(SigningKey))
        assert set(stored.public) == {"kty", "n", "e", "kid", "use", "alg"}
        assert stored.private.count(".") == 4  # a JWE
    old = parts().settings
    known = replace(old, secret_key="another", secret_key_fallbacks=(old.secret_key,))
    monkeypatch.setattr(parts(), "settings", known)
    signing_keys.forget()
    assert claims_kid(exchanged(advising)) == kid
    monkeypatch.setattr(parts(), "settings", replace(old, secret_key="unknown"))
    signing_keys.forget()
    assert claims_kid(exchanged(advising)) != kid


# What differs from a good token: claims, header.
OTHER = "https://other.example"
FORGERIES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "expired": ({"exp": 1}, {}),
    "for another service": ({"aud": OTHER}, {}),
    "another issuer": ({"iss": OTHER}, {}),
    "another kind": ({}, {"typ": "JWT"}),
    "unknown service token": ({"client_id": "2147483647"}, {}),
    "no service token": ({"client_id": "x"}, {}),
    "another key": ({}, {}),
    "no signature": ({}, {}),
    "public key as a secret": ({}, {"alg": "HS256"}),
}


def forged(app: Flask, how: str) -> str:
    """Return a token that must not be accepted."""
    said, key = claims(app, exchanged(program(app)).token), signing_keys.key_to_sign()
    changed, header = FORGERIES[how]
    header = {"alg": "RS256", "typ": "at+jwt", "kid": str(key.kid)} | header
    signs: Any = key
    if how == "another key":
        signs = RSAKey.generate_key(2048, private=True)
    if how == "public key as a secret":
        signs = OctKey.import_key(json.dumps(key.as_dict(private=False)))
    made = jwt.encode(header, said | changed, signs, ["RS256", "HS256"])
    return made.rpartition(".")[0] + "." if how == "no signature" else made


@pytest.mark.parametrize("how", FORGERIES)
def test_a_forged_token_is_refused(app: Flask, how: str) -> None:
    caller = Caller(app.test_client(), forged(app, how))
    assert caller.get("/semesters").status_code == 401


def test_each_service_token_has_its_own_limit(guarded: Flask) -> None:
    first, second = program(guarded), program(guarded, name="Other")
    signed = exchanged(first)
    codes = [signed.get("/semesters").status_code for _ in range(400)]
    assert set(codes[:299]) == {200}  # the exchange was the first
    assert 429 in codes
    # The limit refills five times a second: a single request may fall on such a moment.
    assert 429 in [first.get("/semesters").status_code for _ in range(50)]
    assert works(second)


def test_forged_tokens_are_not_tried_for_long(guarded: Flask) -> None:
    known = exchanged(program(guarded, name="Other"))
    forger = Caller(guarded.test_client(), forged(guarded, "another key"))
    codes = [forger.get("/semesters").status_code for _ in range(700)]
    assert codes[0] == 401
    assert 429 in codes
    assert works(known)


def test_people_have_no_signed_tokens(app: Flask, ada: Caller, admin: Caller) -> None:
    assert ada.post("/token", {}).status_code == 403
    assert admin.post("/token", {}).status_code == 403
    with pytest.raises(JoseError):
        claims(app, ada.token + ".x.y")


def jws_header(token: str) -> bytes:
    part = token.partition(".")[0]
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def claims_kid(caller: Caller) -> str:
    return str(json.loads(jws_header(caller.token))["kid"])
