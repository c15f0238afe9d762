"""A hold is in force from its start to its end, unless it is lifted."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from portal.core.db import transaction
from portal.people.models import Hold
from tests.cast import Cast


def test_queries_find_the_same_holds_in_force_as_pages(cast: Cast) -> None:
    past, future = (datetime.now(UTC) + timedelta(days) for days in (-1, 1))
    in_force: list[dict[str, Any]] = [{}, {"starts_at": past, "ends_at": future}]
    others: list[dict[str, Any]] = [{"starts_at": future}, {"ends_at": past}, {"lifted_at": past}]
    with transaction() as session:
        for each in in_force + others:
            session.add(Hold(student_id=cast.ada.id, kind="bursar", reason="a bill", **each))
    with transaction() as session:
        found = set(session.scalars(select(Hold).where(Hold.is_active)))
        every = session.scalars(select(Hold))
        assert found == {each for each in every if each.is_active}
        assert len(found) == len(in_force)
