"""How late events reach each stage of recording, by their name and the hour."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import text

from portal.backend import Backend
from portal.core.db import transaction
from portal.recorder import status
from portal.recorder.recorder import UnknownStudents, drain
from portal.recorder.status import STAGES, StageLags
from tests.cast import Cast
from tests.recorder.rush import Rush, a_rush, claims, drop, everyone_everywhere
from tests.web.visitors import browser_of

MONTH = timedelta(days=30)


@pytest.fixture
def rush(backend: Backend) -> Rush:
    assert backend
    return a_rush(sections=2, students=4)


def lags() -> dict[tuple[str, str], StageLags]:
    with transaction() as session:
        return {(each.name, each.stage): each for each in status.stage_lags(session, MONTH)}


def test_each_event_counts_at_each_stage_under_its_name(rush: Rush) -> None:
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    drop(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    found = lags()
    counts = {key: each.events for key, each in found.items()}
    reached = STAGES[:-1]
    assert counts == {("enrolled", stage): 8 for stage in reached} | {
        ("dropped", stage): 1 for stage in reached
    }
    for each in found.values():
        assert 0 <= each.percentiles[0] <= each.percentiles[1] <= each.percentiles[2]
        assert each.percentiles[2] <= each.slowest
    for name in ("enrolled", "dropped"):
        slowest = [found[name, stage].slowest for stage in reached]
        assert slowest == sorted(slowest)


def test_failed_attempts_are_a_stage_of_their_own(rush: Rush) -> None:
    unknown = 900_001
    claims(rush, [(rush.students[0], rush.sections[0]), (unknown, rush.sections[0])])
    for _ in range(2):
        with pytest.raises(UnknownStudents):
            drain(rush.term)
    assert {key: each.events for key, each in lags().items()} == {("enrolled", "failed"): 4}


def test_rows_do_not_grow_with_the_events(rush: Rush) -> None:
    for student in rush.students:
        claims(rush, [(student, section) for section in rush.sections])
        drain(rush.term)
    with transaction() as session:
        hours = session.scalar(text("SELECT count(DISTINCT hour) FROM lag_hours")) or 1
        assert session.scalar(text("SELECT count(*) FROM lag_hours")) <= 3 * hours


def test_hours_are_kept_for_a_month(rush: Rush) -> None:
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    with transaction() as session:
        session.execute(text("UPDATE lag_hours SET hour = hour - interval '31 days'"))
        status.forget_lags(session)
        assert session.scalar(text("SELECT count(*) FROM lag_hours")) == 0


def test_page_shows_the_percentiles(rush: Rush, app: Flask, cast: Cast) -> None:
    assert cast
    admin = browser_of(app, "max")
    assert "No decisions in this time." in admin.get("/admin/operations/lag").text
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    page = " ".join(admin.get("/admin/operations/lag?span=30d").text.split())
    assert 'data-event="enrolled" data-stage="projected"' in page
    assert page.count("99th percentile") == 4  # the heading, and a cell of each stage
    assert admin.get("/admin/operations/lag?span=1y").status_code == 404
