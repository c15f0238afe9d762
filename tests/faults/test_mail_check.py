"""Mails that are missing, made up or told in two ways are found."""

from dataclasses import replace

from tests.faults.mail_check import Mail, wrong

FIRST = Mail("<notice-20300801130000-1@u.example>", "ada", "A seat is yours.")
SECOND = replace(FIRST, id="<notice-20300801130000-2@u.example>")


def test_mails_that_all_came_are_right_however_often() -> None:
    assert not list(wrong([1, 2], [FIRST, SECOND, FIRST]))


def test_one_that_never_came_is_reported() -> None:
    assert list(wrong([1, 2], [FIRST])) == ["mail 2 never came"]


def test_one_from_nowhere_is_reported() -> None:
    assert list(wrong([1], [FIRST, SECOND])) == ["mail 2 is in no outbox"]


def test_one_that_came_under_two_ids_is_reported() -> None:
    other = replace(FIRST, id="<notice-20300801130005-1@u.example>")
    assert len(list(wrong([1], [FIRST, other]))) == 1


def test_one_that_came_with_two_texts_is_reported() -> None:
    assert len(list(wrong([1], [FIRST, replace(FIRST, text="No seat is yours.")]))) == 1
