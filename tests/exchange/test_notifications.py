"""Students are notified if an import changes the times, rooms or instructors of their section."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.exchange.importing.upserts import count_notified
from portal.notifications.kinds import text_of
from tests.cast import Cast
from tests.exchange.enrolled import publish, roster
from tests.exchange.makers import latest, page, press, sent
from tests.exchange.oneroster import School, imported
from tests.notifications.stories import notices
from tests.web.visitors import browser_of

MEETING = ["LEC", 1, "10:00:00", "11:00:00", "2030-08-31", "2030-12-18"]


def school(room: str = "Hall 1", **facts: Any) -> School:
    """A class of three seats with two students in it."""
    meets = {"meetings": [[*MEETING, room, True]]}
    return School().student(2).seats(3, **meets | facts).enroll().enroll("u-2")


def changed() -> list[tuple[str, ...]]:
    """What students read of changes of their section."""
    roster()
    found = [each for each in notices() if each.kind == "section_changed"]
    with in_language("en"):
        return [text_of(x).text for x in found]


@pytest.fixture
def seated(tmp_path: Path, cast: Cast) -> Path:  # noqa: ARG001
    """Two students are in the class."""
    imported(school().write(tmp_path))
    publish()
    roster()
    return tmp_path


def test_students_are_notified_of_a_new_room_once(seated: Path) -> None:
    imported(school("Hall 2").write(seated))
    hall = "Lecture, Mon 10:00–11:00 am, Hall"
    assert [each[0] for each in changed()] == [f"Meetings: now {hall} 2, before {hall} 1."] * 2
    imported(school("Hall 2").write(seated))
    assert len(changed()) == 2


def test_a_new_instructor_alone_is_notified(seated: Path) -> None:
    without = school()
    without.rows["enrollments"] = without.rows["enrollments"][1:]
    imported(without.write(seated), remove=True)
    assert [each[0] for each in changed()] == ["Instructors: no longer Terry Lee."] * 2


def test_an_instructor_that_the_import_adds_is_named(seated: Path) -> None:
    other = school().add(
        "users", sourcedId="t-9", username="nora", givenName="Nora", familyName="New"
    )
    other.add("roles", userSourcedId="t-9", role="teacher")
    other.add("enrollments", classSourcedId="90001", userSourcedId="t-9", role="teacher")
    imported(other.write(seated))
    assert [each[0] for each in changed()] == ["Instructors: now Nora New."] * 2


def test_fields_without_notification_are_not_notified(seated: Path) -> None:
    imported(school(waitlist=9).write(seated))
    assert changed() == []


def test_a_failed_import_notifies_no_student(seated: Path, nobody_may_teach: None) -> None:
    assert nobody_may_teach is None
    more = school("Hall 2").add("classes", **school().rows["classes"][0] | {"sourcedId": "90002"})
    more.add("enrollments", classSourcedId="90002", userSourcedId="u-t", role="teacher")
    with pytest.raises(Exception, match="Instructors of sections: the database can’t store"):
        imported(more.write(seated))
    with transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM section_changes")) == 0
    assert changed() == []


def test_the_preview_counts_the_students_to_notify(app: Flask, seated: Path) -> None:
    assert seated
    boss = browser_of(app, "max")
    import_id = sent(boss, school("Hall 2").zip(), layout="oneroster")
    assert "2 students will be notified of changes to their sections." in page(boss, import_id)
    press(boss, import_id, "apply")
    assert "will be notified" not in page(boss, import_id)
    assert len(changed()) == 2


def test_the_preview_counts_no_student_for_other_fields(app: Flask, seated: Path) -> None:
    assert seated
    sent(browser_of(app, "max"), school(waitlist=9).zip(), layout="oneroster")
    with transaction() as session:
        assert count_notified(session, latest().id, latest().counts) == 0
