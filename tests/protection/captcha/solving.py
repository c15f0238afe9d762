"""What a solver does, in a browser or out of one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from altcha import Challenge, Payload, solve_challenge
from flask.testing import FlaskClient

from portal.backend import backend
from portal.core import redis_clients

SCRIPT = {"HX-Request": "true"}


def solved(given: dict[str, Any]) -> Payload:
    """The puzzle with its solution."""
    challenge = Challenge.from_dict(given)
    solution = solve_challenge(challenge)
    assert solution
    return Payload(challenge, solution)


def ask(client: FlaskClient) -> dict[str, Any]:
    """A puzzle for whoever has logged in."""
    found: dict[str, Any] = client.get("/captcha/challenge").json
    return found


def work(client: FlaskClient) -> str:
    """A puzzle for whoever has logged in, solved, as it is sent."""
    return solved(ask(client)).to_base64()


def send(client: FlaskClient, payload: str) -> Any:
    """As the script of a page sends it."""
    return client.post("/captcha", data={"payload": payload}, headers=SCRIPT)


@contextmanager
def redis_away() -> Iterator[None]:
    """Run a block while nothing answers at the address of Redis."""
    redis, backend().redis = backend().redis, redis_clients.commands("redis://127.0.0.1:1")
    try:
        yield
    finally:
        backend().redis = redis


def is_proven(client: FlaskClient) -> bool:
    """What the page says: it has a puzzle to solve, or leads on."""
    page = client.get("/captcha").text
    done = '<p data-captcha-state="proven"><a' in page
    assert done != ('data-captcha-state="working"' in page)
    return done
