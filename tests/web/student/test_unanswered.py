"""An unanswered form can be sent again, and has one effect."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.runtime.embedded_servers import Servers
from tests import cast as builders
from tests.cast import Cast
from tests.operations.test_health import stalled
from tests.web.pages import DIALOG, address, held, hidden, press, words


@pytest.fixture
def pair(term: Any) -> list[Any]:
    """Return a lecture and its lab, and a section of another course."""
    return [
        builders.a_section(builders.a_course("BIO-1"), term, corequisites={"course": "BIO-2"}),
        builders.a_section(builders.a_course("BIO-2"), term, corequisites={"course": "BIO-1"}),
        builders.a_section(builders.a_course("MAT-1"), term),
    ]


def where(html: str) -> str:
    """Return the address that the form is sent to."""
    found = re.search(r'<form action="([^"]+)" method="post"', html[html.index("<h1>") :])
    assert found
    return found[1]


def test_unanswered_swap_is_sent_again_unchanged(
    ada: FlaskClient, servers: Servers, term: Any, pair: list[Any], cast: Cast
) -> None:
    lecture, lab, old = pair
    press(ada, old, "pick")
    path = address(lecture, f"swap?swap_out={old.id}")
    form = hidden(ada.get(path).text)
    sent = {"request": form["request"], "with-1": str(lab.id), "wait": "1"}
    assert ada.post(path, data=sent).status_code == 303  # decided, but suppose the answer was lost
    with stalled(servers, "valkey"):
        answer = ada.post(path, data={**sent, "unsure": "1"})
    assert answer.status_code == 503
    assert "We don’t know yet if your request was processed" in words(answer.text)
    assert "Swap for BIO 1-01: send again" in words(answer.text)
    assert where(answer.text) == path
    assert hidden(answer.text) == {**hidden(answer.text), **sent, "unsure": "1"}
    again = ada.post(path, data=hidden(answer.text))
    assert "Swapped: you now have BIO 1-01 and BIO 2-02." in words(ada.get(again.location).text)
    assert held(term, cast.ada) == [lecture.id, lab.id]


def test_unanswered_form_stays_in_its_dialog(
    ada: FlaskClient, servers: Servers, pair: list[Any]
) -> None:
    lecture, lab, _ = pair
    press(ada, lecture, "pick", **{"with-1": str(lab.id)})
    path = address(lecture, f"drop?along={lab.id}")
    form = hidden(ada.get(path, headers=DIALOG).text)
    with stalled(servers, "valkey"):
        answer = ada.post(path, data={**form, "unsure": "1"}, headers=DIALOG)
    assert answer.status_code == 503
    assert "<html" not in answer.text
    assert f'hx-post="{path}"' in answer.text
    assert f'name="request" value="{form["request"]}"' in answer.text
