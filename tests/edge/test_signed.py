"""Sessions that a process knows again: only as they were, and never as someone has changed them."""

import json

import pytest
from itsdangerous import BadSignature, SignatureExpired

from portal.edge.signed import Signed

SAID = {"account": 7, "told": ["once"]}


@pytest.fixture
def signed() -> Signed:
    return Signed("ours", json)


@pytest.fixture
def known(signed: Signed) -> str:
    """A session that has been found good once."""
    said = signed.dumps(SAID)
    assert isinstance(said, str)
    signed.loads(said)
    return said


def test_one_that_is_known_is_read_again(signed: Signed, known: str) -> None:
    assert signed.loads(known) == SAID


def test_what_a_request_makes_of_it_is_not_known(signed: Signed, known: str) -> None:
    signed.loads(known)["told"].append("twice")
    assert signed.loads(known) == SAID


def test_one_that_was_changed_is_not(signed: Signed, known: str) -> None:
    for at, letter in enumerate(known[:-1]):  # the last holds bits that are not read
        changed = known[:at] + ("A" if letter != "A" else "B") + known[at + 1 :]
        with pytest.raises(BadSignature):
            signed.loads(changed)


def test_one_of_another_key_is_not(known: str) -> None:
    with pytest.raises(BadSignature):
        Signed("theirs", json).loads(known)


def test_one_that_is_too_old_is_not(signed: Signed, known: str) -> None:
    assert signed.loads(known, max_age=60) == SAID
    with pytest.raises(SignatureExpired):
        signed.loads(known, max_age=-1)
