"""A swap between sections that share seats: the one that is dropped makes room."""

from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import address, held, press, words
from tests.web.student.seat_pools import share
from tests.web.visitors import browser_of


def test_swap_within_a_full_pool_is_decided_and_shown_as_a_swap(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    old, new = (
        builders.a_section(builders.a_course(code), term, capacity=1, waitlist=0)
        for code in ("CSC-4100", "CSC-6100")
    )
    share(1, old, new)
    press(ada, old, "pick")
    act = f"swap?swap_out={old.id}"
    assert "Swap CSC 4100-01 for CSC 6100-02?" in words(ada.get(address(new, act)).text)
    assert press(ada, new, act).status_code == 303
    assert held(term, cast.ada) == [new.id]


def test_swap_within_a_pool_comes_after_those_who_wait_for_the_old_seat(
    app: Flask, ada: FlaskClient, term: Any
) -> None:
    old, new = (
        builders.a_section(builders.a_course(code), term, capacity=1)
        for code in ("CSC-4100", "CSC-6100")
    )
    share(1, old, new)
    press(ada, old, "pick")
    press(browser_of(app, "ben"), old, "pick", wait="1")
    page = words(ada.get(address(new, f"swap?swap_out={old.id}")).text)
    assert "Keep CSC 4100-01 and join the waitlist for CSC 6100-02?" in page
