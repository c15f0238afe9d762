"""The builders make what they say, in PostgreSQL and in the ledger."""

from portal.backend import Backend
from tests import cast
from tests.cast import Cast, Meets


def test_a_section_is_in_the_ledger_too(backend: Backend) -> None:
    term = cast.a_term()
    section = cast.a_section(cast.a_course(), term, capacity=3, meetings=(Meets("MR"),))
    assert backend.ledger.seats(term.id)[section.id].open == 3


def test_windows_are_open_coming_or_ended(backend: Backend) -> None:
    term = cast.a_term()
    now = backend.ledger.now()
    assert cast.an_open_window(term).opens < now < cast.an_open_window(term).closes
    assert cast.a_coming_window(term).opens > now
    assert cast.an_ended_window(term).state == "closed"


def test_the_cast_is_whole(cast: Cast) -> None:
    assert len({cast.ada.id, cast.ben.id, cast.cleo.id, cast.dan.id}) == 4
    assert cast.max.is_admin
