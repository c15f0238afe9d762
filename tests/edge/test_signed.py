"""Signatures of sessions that a process knows again: only as they were, under the same key."""

import pytest
from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer

from portal.edge.signed import Signer


def serializer(key: str = "ours") -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(key, signer=Signer)


@pytest.fixture
def known() -> str:
    """A session that has been found good once."""
    said = serializer().dumps({"account": 7})
    assert isinstance(said, str)
    serializer().loads(said)
    return said


def test_one_that_is_known_is_read_again(known: str) -> None:
    assert serializer().loads(known) == {"account": 7}


def test_one_that_was_changed_is_not(known: str) -> None:
    for at, letter in enumerate(known[:-1]):  # the last holds bits that are not read
        changed = known[:at] + ("A" if letter != "A" else "B") + known[at + 1 :]
        with pytest.raises(BadSignature):
            serializer().loads(changed)


def test_one_of_another_key_is_not(known: str) -> None:
    with pytest.raises(BadSignature):
        serializer("theirs").loads(known)


def test_one_that_is_too_old_is_not(known: str) -> None:
    with pytest.raises(SignatureExpired):
        serializer().loads(known, max_age=-1)
