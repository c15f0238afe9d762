"""How often an account may send, and have sent to it."""

import pytest
from flask.testing import FlaskClient

from tests.protection.captcha.solving import send, work
from tests.protection.captcha.test_code import addresses  # noqa: F401


def until_limited(client: FlaskClient, address: str, most: int) -> int:
    """How many are let through before the first that is too many; a few become free meanwhile."""
    for sent in range(2 * most):
        answer = client.post(address)
        if answer.status_code == 429:
            assert int(answer.headers["Retry-After"]) > 0
            return sent
    return 2 * most


@pytest.mark.parametrize(
    ("address", "most"), [("/captcha", 30), ("/captcha/code", 30), ("/captcha/code/mail", 3)]
)
def test_an_account_has_its_limit(ada: FlaskClient, address: str, most: int) -> None:
    assert most <= until_limited(ada, address, most) < 2 * most


def test_no_one_else_at_the_same_address_is_limited_by_it(
    ada: FlaskClient, ben: FlaskClient
) -> None:
    until_limited(ada, "/captcha", 30)
    assert send(ben, work(ben)).status_code == 204
