"""Texts about the wait: a range, in the reader's language."""

import pytest
from flask import Flask

from portal.core.i18n import in_language
from portal.waiting_room import wording
from portal.waiting_room.wait_estimates import MINUTE, NEVER, WaitRange

HOUR = 60 * MINUTE


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (0, MINUTE, "less than a minute"),
        (0, 2 * MINUTE, "at most 2 minutes"),
        (0, 3 * MINUTE, "at most 3 minutes"),
        (2 * MINUTE, 4 * MINUTE, "about 2 to 4 minutes"),
        (70 * MINUTE, 119 * MINUTE, "about 70 to 119 minutes"),
        (70 * MINUTE, 130 * MINUTE, "about 1 to 3 hours"),
        (10 * MINUTE, 130 * MINUTE, "at most 3 hours"),
        (0, NEVER, "not known yet"),
    ],
)
def test_a_wait_is_a_range(application: Flask, least: int, most: int, said: str) -> None:
    with application.test_request_context():
        assert wording.wait(WaitRange(least, most)) == said


def test_numbers_are_in_the_readers_format(application: Flask) -> None:
    with application.test_request_context():
        assert wording.title(wording.grouped(1250)) == "You are number 1,250 in the queue"
        assert wording.ahead(1) == "1 person is ahead of you."
        assert wording.ahead(0) == "You are next."
        with in_language("es"):
            assert wording.grouped(12500) == "12.500"


def test_script_gets_the_same_texts(application: Flask) -> None:
    with application.test_request_context():
        words = wording.script_texts()
        assert words["before"]["other"] == "%(count)s people are ahead of you."
        assert words["about"]["minutes"]["other"] == "about %(count)s minutes"
        assert words["span"] == "%(least)s to %(most)s"


def test_room_constants_are_in_the_readers_language(application: Flask) -> None:
    with application.test_request_context():
        assert wording.lasting("PATIENCE") == "4 minutes"
        with in_language("es"):
            assert wording.lasting("TAKE") == "1 minuto"
