"""Claims that race with edits: no oversold section and no lost seat."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from portal.backend import Backend
from portal.catalog import sections
from portal.catalog.sections import SeenSection, find_section
from portal.core.db import transaction
from portal.recorder.consistency.audit import audit
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.windows.warmup import send_sections
from tests.cast import an_account
from tests.recorder.rush import Rush, a_rush, claim

STUDENTS, SEATS = 60, 10
SIZES = (30, 5, 25, 8, 20, 12)


def resize(rush: Rush, section: int, by: int, capacity: int) -> None:
    """Change the capacity as an admin's form does."""
    with transaction() as session:
        now = find_section(session, rush.term, section)
    assert now
    seen, wanted = (
        SeenSection(rush.term, section, now.version),
        replace(now.details, capacity=capacity),
    )
    sections.edit_sections([(seen, wanted)], by, "Another room.")
    assert send_sections(rush.term, section)


def test_capacity_changes_during_a_rush_give_each_seat_once(backend: Backend) -> None:
    rush = a_rush(sections=1, students=STUDENTS, capacity=SEATS, waitlist=STUDENTS)
    [section], by = rush.sections, an_account("max", is_admin=True).id

    def resize_again_and_again() -> None:
        for capacity in SIZES:
            resize(rush, section, by, capacity)

    with ThreadPoolExecutor(9) as pool:
        edits = pool.submit(resize_again_and_again)
        answers = list(pool.map(lambda student: claim(rush, student, section), rush.students))
        edits.result()
    promote(rush.term, "tests")
    drain(rush.term)
    seats = backend.ledger.seats_of(rush.term, [section])[section]
    assert seats.capacity == SIZES[-1]
    assert SIZES[-1] <= seats.taken <= max(SIZES)
    assert seats.taken + seats.waiting == STUDENTS == len(answers)
    assert audit()["clean"]


def test_shrinking_section_is_never_oversold(backend: Backend) -> None:
    rush = a_rush(sections=1, students=STUDENTS, capacity=SEATS, waitlist=0)
    [section], by = rush.sections, an_account("max", is_admin=True).id
    resize(rush, section, by, 3)
    with ThreadPoolExecutor(8) as pool:
        pool.map(lambda student: claim(rush, student, section), rush.students)
    assert backend.ledger.seats_of(rush.term, [section])[section].taken == 3
