"""The ledger gets every section once, from any number of processes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.ledger.errors import LedgerBehind
from portal.ledger.function_library import prefix
from portal.ledger.types import Outcome
from portal.recorder.recorder import drain
from portal.windows.warmup import section_specs, warm_up
from tests import cast
from tests.exchange.campus import Campus, imported
from tests.ledger_claims import send_claim


def test_meetings_that_can_conflict_are_sent_as_numbers(tmp_path: Path, backend: Backend) -> None:
    assert backend
    campus = (
        Campus(credits="1.5")
        .meeting(days="W", meeting_type="TES")
        .meeting(days="F", start_time="", end_time="")
    )
    term = imported(campus.meeting(days="").write(tmp_path)).term
    with transaction() as session:
        [spec] = section_specs(session, term)
    first, last = (
        (date(2021, 1, 6) - date(1970, 1, 1)).days,
        (date(2021, 4, 30) - date(1970, 1, 1)).days,
    )
    assert spec.times == ((0b1001, 14 * 60, 15 * 60 + 50, first, last),)
    assert (spec.credits_min, spec.credits_max) == (150, 150)


def test_many_nodes_at_once_set_each_section_once(tmp_path: Path, backend: Backend) -> None:
    campus = Campus()
    for number in range(40):
        campus.section(f"3{number:04}")
    term = imported(campus.write(tmp_path)).term
    backend.redis.flushall()  # a ledger that missed the import
    with ThreadPoolExecutor(8) as nodes:
        messages = list(nodes.map(warm_up, [term] * 8))
    assert sum(messages) == 41
    assert backend.redis.xlen(f"{prefix(term)}:journal") == 41


def test_section_with_a_newer_version_is_sent_again(tmp_path: Path, backend: Backend) -> None:
    term = imported(Campus().write(tmp_path)).term
    newer = {"capacity": 31, "version": Section.version + 1}
    with transaction() as session:
        section = session.scalar(update(Section).values(newer).returning(Section.id))
    assert warm_up(term) == 1
    assert backend.ledger.seats(term)[section].capacity == 31


def test_ledger_behind_the_record_gets_no_sections(tmp_path: Path, backend: Backend) -> None:
    term = imported(Campus().write(tmp_path)).term
    warm_up(term)
    drain(term)
    backend.redis.flushall()
    with pytest.raises(LedgerBehind):
        warm_up(term)
    assert backend.ledger.seats(term) == {}


def test_a_deleted_section_counts_as_canceled(tmp_path: Path, backend: Backend) -> None:
    term = imported(Campus().section("10002").write(tmp_path)).term
    deleted = {"deleted_at": func.now(), "version": Section.version + 1}
    with transaction() as session:
        session.execute(update(Section).where(Section.crn == "10002").values(deleted))
        gone = session.scalar(select(Section.id).where(Section.crn == "10002"))
    warm_up(term)
    assert backend.ledger.seats(term)[gone].status == "CANCELED"


def test_exam_blocks_are_not_sent(tmp_path: Path, backend: Backend) -> None:
    exam = {"meeting_type": "TES", "days": "W", "start_time": "8:00AM", "end_time": "9:50PM"}
    campus = (
        Campus().meets(days="W").course("MAT-1").section("10002", {"days": "M"}, course_id="MAT-1")
    )
    made = imported(campus.meeting(**exam).meeting(crn="10002", **exam).write(tmp_path))
    warm_up(made.term)
    term = cast.Term(id=made.term)
    window = cast.an_open_window(term)
    with transaction() as session:
        sections = session.scalars(select(Section.id).where(Section.term_id == made.term)).all()
    answers = [
        send_claim(
            backend.ledger, made.term, student=1, section=section, credits=400,
            credit_limit=2100, windows=[window.id], wait=False,
        )
        for section in sections
    ]  # fmt: skip
    assert [answer.outcome for answer in answers] == [Outcome.ENROLLED] * 2
