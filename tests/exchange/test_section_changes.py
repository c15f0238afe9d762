"""A change of section within a course: no one loses the old seat if the new one is refused."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.backend import backend
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.exchange.importing import runs
from portal.exchange.importing.models import ImportRow
from portal.ledger.function_library import prefix
from portal.web.student.request_form import KEY
from tests.exchange.enrolled import roster, the_term, wait_in_line
from tests.exchange.imported_enrollments import adjust, begin, read, stored, who
from tests.exchange.makers import latest, let_a_minute_pass, page, press
from tests.recorder.processes import running, wait_for

# What is done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1A", "1B"),
        ("1A 2B", "1B 2A"),
        ("1A 2B 3C", "1B 2C 3A"),
        ("1A 2B 3C", "1B 2C 3D"),
        ("1A 2B 3C", "1B 2C"),
        ("1A 2B 3C 4D", "1B 2A 3D 4C"),
    ],
    ids=["change", "swap", "ring of three", "chain", "chain that ends with one who goes", "swaps"],
)
def test_moves_between_full_sections_succeed(boss: FlaskClient, before: str, after: str) -> None:
    seats = dict.fromkeys("ABCD", 1)
    begin(boss, before, **seats)
    press(boss, read(boss, after, **seats), "apply")
    assert "The import was applied." in page(boss, latest().id)
    assert who() == after


def test_a_change_is_one_step_that_the_trail_notes_once(boss: FlaskClient) -> None:
    begin(boss, "1A 2B", A=1, B=1)
    press(boss, read(boss, "1B 2A", A=1, B=1), "apply")
    roster()
    with transaction() as session:
        noted = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert noted.count("selection.move") == 2
    assert "selection.drop" not in noted


def test_the_seats_of_a_pool_are_changed_too(boss: FlaskClient) -> None:
    seats: dict[str, Any] = {"A": 1, "B": 2, "C": 2, "pool": ["shared", 1, "BC"]}
    begin(boss, "1A 2C", **seats)
    press(boss, read(boss, "1B 2A", **seats), "apply")
    assert who() == "1B 2A"


def test_a_ring_that_could_not_go_round_is_tried_again_when_others_have_left(
    boss: FlaskClient,
) -> None:
    seats: dict[str, Any] = {"A": 1, "B": 1, "C": 1, "D": 2, "E": 1}
    seats["pool"] = ["shared", 2, "CD"]
    begin(boss, "1C 2A 3D 4B", **seats)
    press(boss, read(boss, "1B 5D 2C 3A 4E", **seats), "apply")
    assert who() == "1B 2C 3A 4E 5D"


# What is refused in advance


def test_a_refused_move_keeps_the_seat_and_refuses_those_who_need_it(boss: FlaskClient) -> None:
    begin(boss, "1A 2B", A=1, B=1, C=1)
    import_id = read(boss, "1B 2B 3A", A=1, B=1, C=1)
    shown = page(boss, import_id)
    assert "2 enrollments would be refused" in shown
    assert shown.count("The student stays in this section") == 1
    press(boss, import_id, "rest")
    assert "The import was applied, except 3 refused values or rows." in page(boss, import_id)
    assert who() == "1A 2B"


def test_what_clashes_with_the_section_where_one_stays_is_refused_too(boss: FlaskClient) -> None:
    meetings = {"A": "10:00", "X": "10:00"}
    begin(boss, "1A 2B", A=1, B=1, X=1, meetings=meetings)
    import_id = read(boss, "1B 1X 2B", A=1, B=1, X=1, meetings=meetings)
    assert "2 enrollments would be refused" in page(boss, import_id)
    assert "Time conflict" in page(boss, import_id)
    press(boss, import_id, "rest")
    assert who() == "1A 2B"


def test_a_waitlist_comes_before_a_swap(boss: FlaskClient) -> None:
    begin(boss, "1A 2B", A=1, B=1)
    wait_in_line("S-3", "B")
    roster()
    import_id = read(boss, "1B 2A", A=1, B=1)
    assert "2 enrollments would be refused" in page(boss, import_id)
    press(boss, import_id, "rest")
    assert who() == "1A 2B"


# What is refused at the last moment


def test_a_change_that_is_refused_late_keeps_the_old_seat(boss: FlaskClient) -> None:
    begin(boss, "1A", A=1, B=1)
    import_id = stored(boss, "1B", A=1, B=1)
    adjust(2, add="B")
    runs.continue_import(import_id)
    shown = page(boss, import_id)
    assert "The import was applied, except 1 enrollment" in shown
    assert "The student stays in this section" in shown
    output = boss.get(f"/admin/imports/{import_id}/report.csv").text
    assert [row in output for row in ("Fall 2030 · A · S-1", "Fall 2030 · B · S-1")] == [True] * 2
    assert who() == "1A 2B"


def test_a_student_who_joins_the_waitlist_late_stops_a_ring_of_moves(
    boss: FlaskClient,
) -> None:
    begin(boss, "1A 2B", A=1, B=1)
    import_id = stored(boss, "1B 2A", A=1, B=1)
    wait_in_line("S-3", "B")
    runs.continue_import(import_id)
    assert "The import was applied, except 2 enrollments" in page(boss, import_id)
    assert who() == "1A 2B"


def test_a_late_refusal_stops_only_the_moves_that_depend_on_it(boss: FlaskClient) -> None:
    meetings = {"B": "10:00", "X": "10:00"}
    seats: dict[str, Any] = {"A": 1, "B": 2, "C": 1, "X": 9, "meetings": meetings}
    begin(boss, "1A 2B 3A 4B 5C", **seats | {"A": 2})
    import_id = stored(boss, "1B 2A 3B 4A 5C", **seats | {"A": 2})
    adjust(1, add="X")
    runs.continue_import(import_id)
    assert "The import was applied, except 2 enrollments" in page(boss, import_id)
    assert who() in {"1A 1X 2A 3B 4B 5C", "1A 1X 2B 3B 4A 5C"}


@pytest.mark.parametrize("meanwhile", [{"drop": "A"}, {"add": "B"}, {"add": "B", "drop": "A"}])
def test_what_was_done_of_a_change_meanwhile_is_done_once(
    boss: FlaskClient, meanwhile: dict[str, str]
) -> None:
    begin(boss, "1A", A=1, B=1)
    import_id = stored(boss, "1B", A=1, B=1)
    adjust(1, **meanwhile)
    runs.continue_import(import_id)
    assert "The import was applied." in page(boss, import_id)
    assert who() == "1B"


def test_a_seat_that_was_dropped_meanwhile_is_not_given_back(boss: FlaskClient) -> None:
    begin(boss, "1A 2B", A=1, B=1)
    import_id = stored(boss, "1B 2A", A=1, B=1)
    adjust(1, drop="A")
    runs.continue_import(import_id)
    assert who() == "1B 2A"


def test_a_change_whose_key_was_used_before_does_not_stop_the_others(boss: FlaskClient) -> None:
    seats = dict.fromkeys("ABCDX", 1)
    begin(boss, "1A 2B", **seats)
    import_id = stored(boss, "1C 2D", **seats)
    with transaction() as session:
        rows = session.scalars(select(ImportRow).where(~ImportRow.removes))
        row = next(each.id for each in rows if each.key.endswith("S-1"))
    adjust(1, key=f"import:{import_id}:{row}", add="X")
    runs.continue_import(import_id)
    assert "The import was applied." in page(boss, import_id)
    assert who() == "1A 1X 2D"


def test_a_student_can_send_no_request_under_the_key_of_a_change(boss: FlaskClient) -> None:
    begin(boss, "1A", A=1, B=1)
    runs.continue_import(stored(boss, "1B", A=1, B=1))
    own = f"{prefix(the_term().id)}:request:"
    keys = [each.decode().removeprefix(own) for each in backend().redis.keys(f"{own}*")]
    assert keys
    assert not [each for each in keys if KEY.fullmatch(each.partition(":")[2])]


# Who is killed amid it


def test_rings_go_on_where_a_worker_was_killed(boss: FlaskClient) -> None:
    count = 120
    before = [f"{n}{'AB'[n % 2]}" for n in range(1, count + 1)]
    after = [f"{n}{'BA'[n % 2]}" for n in range(1, count + 1)]
    begin(boss, " ".join(sorted(before)), A=count // 2, B=count // 2)
    import_id = stored(boss, " ".join(after), A=count // 2, B=count // 2)
    runs.enqueue(import_id)
    with running(("worker", "background")) as [worker]:
        wait_for(lambda: moved() > 0)
        worker.kill()
        worker.wait()
    assert latest().state == "enrolling"
    let_a_minute_pass()
    runs.resume()
    with running(("worker", "background")):
        wait_for(lambda: latest().state == "done")
    assert who() == " ".join(sorted(after))
    with transaction() as session:
        noted = session.scalars(select(AuditEntry).where(AuditEntry.action == "selection.move"))
        assert len(noted.all()) == count
    assert "The import was applied." in page(boss, import_id)


def moved() -> int:
    """Changes that the ledger has decided."""
    journal = backend().redis.xrange(prefix(the_term().id) + ":journal")
    return sum(b'"instead"' in fields[b"event"] for _, fields in journal)
