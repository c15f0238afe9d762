"""A page without a socket gets the same fragments, and the ledger's clock, over HTTP."""

from flask.testing import FlaskClient

from portal.backend import Backend
from portal.catalog.models import Section
from tests.cast import Cast
from tests.live.conftest import Claim
from tests.live.tabs import cookie


def as_account(client: FlaskClient, account: int) -> FlaskClient:
    """The client, logged in."""
    name, _, value = cookie(client.application, account).partition("=")
    client.set_cookie(name, value)
    return client


def test_counts_and_own_state_come_together(
    cast: Cast, section: Section, client: FlaskClient, claim: Claim
) -> None:
    claim(cast.ada.id, section.id)
    address = f"/live/fragments?term={section.term_id}&sections={section.id}"
    html = as_account(client, cast.ada.account_id).get(address).text
    assert f'id="seats-{section.id}"' in html
    assert f'id="act-{section.id}"' in html
    assert 'id="mine"' in html


def test_an_instructor_gets_counts_alone(cast: Cast, section: Section, client: FlaskClient) -> None:
    address = f"/live/fragments?term={section.term_id}&sections={section.id}"
    html = as_account(client, cast.iris.account_id).get(address).text
    assert f'id="seats-{section.id}"' in html
    assert "mine" not in html


def test_nonsense_is_a_bad_request(cast: Cast, client: FlaskClient) -> None:
    someone = as_account(client, cast.ada.account_id)
    for query in ("", "?term=x", "?term=1&sections=1,x", "?term=-1", "?term=1&sections=0"):
        assert someone.get(f"/live/fragments{query}").status_code == 400


def test_fragments_need_a_login(client: FlaskClient) -> None:
    assert client.get("/live/fragments?term=1").status_code == 302


def test_the_clock_is_the_ledgers(client: FlaskClient, backend: Backend) -> None:
    before = backend.ledger.now()
    assert before <= client.get("/clock").json["now"] <= backend.ledger.now()
