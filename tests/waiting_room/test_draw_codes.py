"""A public value in the draw: codes fixed beforehand, and what a cheating server is caught at."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.allocation import verify_root
from portal.allocation.proof import seed_of, sha256
from portal.backend import Backend
from portal.core.db import ChangedMeanwhile, transaction
from portal.people.models import Account, Student
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.restore import restore
from portal.recorder.recorder import drain
from portal.registration import limits
from portal.rounds import steps
from portal.waiting_room import draw, draw_codes, room
from portal.waiting_room.draw_codes import DrawRefused
from portal.windows import draw_seeds
from tests import cast as builders
from tests.allocation.scripts import Done, alone, here
from tests.cast import Cast
from tests.statements import looked_up
from tests.waiting_room.rooms import key, known_in, open_now
from tests.web.pages import words
from tests.web.visitors import browser_of

MINUTE = builders.MINUTE
VALUE = "b16b00b5"
WHY = "Fair for all"
File = dict[str, Any]


@pytest.fixture
def window(term: Any) -> Any:
    return builders.a_coming_window(term, minutes=60)


@pytest.fixture
def students(cast: Cast) -> list[int]:
    assert cast
    with transaction() as session:
        return list(session.scalars(select(Student.id).order_by(Student.id)))


def ms(minutes: float) -> int:
    now = builders.backend().ledger.now()
    return round(now + minutes * MINUTE)


def max_() -> int:
    """Return the account of the registrar."""
    with transaction() as session:
        return session.scalars(select(Account.id).where(Account.username == "max")).one()


def name(term: Any, window: Any, minutes: float = 15, version: int = 0) -> None:
    draw_codes.name_source(term.id, window, version, "lottery 1234", ms(minutes), max_(), WHY)


def fix(term: Any, window: Any) -> None:
    name(term, window)
    known_in(window, 5)
    steps.work(term.id)


def use(term: Any, window: Any, value: str = VALUE) -> None:
    known_in(window, -1)
    draw_codes.enter_value(term.id, window.id, value, max_(), WHY)


def drawn(term: Any, window: Any) -> draw.Draw:
    draw.forget()
    return draw.published(term.id, window.id, opened=True)


def line(term: Any, window: Any) -> list[int]:
    """Return the students who came early, in order."""
    early, _ = draw.arrivals(term.id, window.id)
    return early


def due(term: Any, window: Any, some: list[int]) -> list[int]:
    """Return these students in the order that follows from seed, value and codes."""
    seed = seed_of(draw_seeds.seed(term.id, window.id), VALUE)
    names = draw_codes.fixed(window.id).by_student
    return sorted(some, key=lambda each: sha256(f"{seed}:{names[each]}"))


def enter(term: Any, window: Any, *students: int) -> None:
    for student in students:
        room.enter(term.id, window.id, student)


def test_a_public_value_orders_who_came_and_who_will_come(
    term: Any, window: Any, students: list[int]
) -> None:
    first, left, back, *others = students
    enter(term, window, first, left, back)
    fix(term, window)
    room.leave(term.id, window.id, left)
    room.leave(term.id, window.id, back)
    use(term, window)
    enter(term, window, *others, back)
    assert line(term, window) == due(term, window, students)
    enter(term, window, first)  # in a second tab
    open_now(term, window)
    assert room.state(term.id, window.id).line == len(students)
    enter(term, window, left, 900_001)  # one comes back, another one comes late
    assert line(term, window) == due(term, window, students)
    place = due(term, window, students).index(left) + 1
    assert room.queue_entry(term.id, window.id, left).number == place
    assert drawn(term, window).is_fair
    assert room.queue_entry(term.id, window.id, 900_001).number == len(students) + 1


def test_who_has_no_code_comes_after_the_others(
    term: Any, window: Any, students: list[int]
) -> None:
    enter(term, window, 900_001)
    fix(term, window)
    enter(term, window, *students[:2])
    use(term, window)
    enter(term, window, 900_002, *students[2:])
    assert line(term, window)[: len(students)] == due(term, window, students)
    assert {*line(term, window)[len(students) :]} == {900_001, 900_002}
    found = drawn(term, window)
    assert found.others == 2
    assert found.is_fair
    assert not replace(found, line=("", *found.line[:-1])).is_fair  # nobody without a code first


def test_without_the_value_the_window_opens_with_the_seed_alone(
    client: FlaskClient, term: Any, window: Any, students: list[int]
) -> None:
    fix(term, window)
    enter(term, window, *students)
    open_now(term, window)
    known_in(window, -1)
    with pytest.raises(DrawRefused, match="late"):
        draw_codes.enter_value(term.id, window.id, VALUE, max_(), WHY)
    assert draw_codes.public_value(term.id, window.id) == ""
    seed = draw_seeds.seed(term.id, window.id)
    requests = draw.drawn_requests(term.id, window.id)
    assert requests == sorted(requests, key=lambda each: sha256(f"{seed}:{each}"))
    text = words(client.get(f"/terms/{term.id}/windows/{window.id}/order").text)
    assert "The public value that was named was not used" in text
    assert "does not prove that the portal did not choose the seed" in text


@pytest.mark.parametrize(
    ("minutes", "code"), [(9, "soon"), (55, "opening")], ids=["soon", "opening"]
)
def test_the_value_leaves_time_to_fix_and_to_enter(
    term: Any, window: Any, minutes: int, code: str
) -> None:
    with pytest.raises(DrawRefused, match=code):
        name(term, window, minutes)


def test_a_change_in_between_is_noticed_and_fixed_codes_stay(term: Any, window: Any) -> None:
    name(term, window)
    with pytest.raises(ChangedMeanwhile):
        name(term, window)
    name(term, window, 20, version=1)
    known_in(window, 5)
    steps.work(term.id)
    root = draw_codes.fixed(window.id).root
    assert root
    draw_codes.fix(window.id)
    assert draw_codes.fixed(window.id).root == root
    with pytest.raises(DrawRefused, match="fixed"):
        name(term, window, 30, version=2)


def test_codes_are_not_fixed_once_the_value_may_be_known(
    term: Any, window: Any, caplog: pytest.LogCaptureFixture
) -> None:
    name(term, window)
    steps.work(term.id)
    assert not draw_codes.fixed(window.id).root  # not yet
    known_in(window, -1)
    assert not looked_up(draw_codes.due, [term.id])
    draw_codes.fix(window.id)
    assert "too late" in caplog.text
    with pytest.raises(DrawRefused, match="unfixed"):
        draw_codes.enter_value(term.id, window.id, VALUE, max_(), WHY)


def test_the_scheduler_is_asked_to_fix_codes(term: Any, window: Any) -> None:
    name(term, window)
    assert "rounds" not in {job.job for job in looked_up(steps.due_jobs, [term.id])}
    known_in(window, 5)
    assert [job.job for job in looked_up(steps.due_jobs, [term.id]) if job.term == term.id] == [
        "rounds"
    ]
    steps.work(term.id)
    assert not looked_up(steps.due_jobs, [term.id])


def test_a_value_is_entered_once_and_not_before_it_is_known(term: Any, window: Any) -> None:
    fix(term, window)
    with pytest.raises(DrawRefused, match="early"):
        draw_codes.enter_value(term.id, window.id, VALUE, max_(), WHY)
    use(term, window)
    use(term, window)  # again, as after a lost answer
    with pytest.raises(DrawRefused, match="other"):
        use(term, window, "another")
    assert draw_codes.public_value(term.id, window.id) == VALUE


def test_a_refused_value_leaves_the_order_as_it_is(
    term: Any, window: Any, students: list[int]
) -> None:
    fix(term, window)
    enter(term, window, *students[:2])
    use(term, window)
    with pytest.raises(DrawRefused, match="other"):
        use(term, window, "another")
    enter(term, window, *students[2:])
    assert line(term, window) == due(term, window, students)
    assert drawn(term, window).is_fair


def test_a_seed_that_the_ledger_lost_is_not_mixed_with_the_codes(
    term: Any, window: Any, backend: Backend
) -> None:
    fix(term, window)
    draw_seeds.seed(term.id, window.id)
    backend.redis.hdel(draw_seeds.room_key(term.id, window.id), "seed")
    with pytest.raises(DrawRefused, match="seed"):
        use(term, window)
    assert draw_codes.public_value(term.id, window.id) == ""


def test_scores_lost_in_a_failover_are_noticed(
    term: Any, window: Any, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix(term, window)
    call = room._call  # noqa: SLF001

    def lose(function: str, *arguments: Any, **more: Any) -> Any:
        for prepared in backend.redis.scan_iter(key(term, window, "drawn:*"), count=1000):
            backend.redis.delete(prepared)
        return call(function, *arguments, **more)

    monkeypatch.setattr(room, "_call", lose)
    with pytest.raises(DrawRefused, match="codes"):
        use(term, window)
    monkeypatch.undo()
    use(term, window)


def test_the_order_survives_the_loss_of_the_ledger(
    term: Any, window: Any, students: list[int], backend: Backend
) -> None:
    half = len(students) // 2
    enter(term, window, *students[:half], 900_001)
    fix(term, window)
    room.leave(term.id, window.id, students[0])
    use(term, window)
    enter(term, window, *students[half:-1])
    before = line(term, window)
    drain(term.id)
    assert audit_term(term.id)["clean"]
    for each in backend.redis.scan_iter(match=f"{{t:{term.id}}}:*"):
        backend.redis.delete(each)
    draw_seeds.forget()
    assert restore(term.id).report["clean"]
    assert line(term, window) == before
    enter(term, window, students[-1])
    assert [each for each in line(term, window) if each < 900_000] == due(term, window, students)
    open_now(term, window)
    assert drawn(term, window).is_fair


def test_another_order_than_the_recorded_value_gives_is_found_by_the_audit(
    term: Any, window: Any, students: list[int], backend: Backend
) -> None:
    enter(term, window, *students)
    fix(term, window)
    use(term, window)
    drain(term.id)
    last = draw.drawn_requests(term.id, window.id)[-1]
    backend.redis.zadd(key(term, window, "line"), {last: 0})
    assert len(audit_term(term.id)["differences"]) == 1
    assert not drawn(term, window).is_in_order


def of_ada(window: Any, cast: Cast) -> str:
    found = draw_codes.find(window.id)
    assert found
    return draw_codes.code(found, cast.ada.id)


def test_pages_show_code_root_file_and_script(
    app: Flask, client: FlaskClient, term: Any, window: Any, cast: Cast
) -> None:
    ada, page = browser_of(app, "ada"), f"/terms/{term.id}/windows/{window.id}/order"
    assert client.get(page.replace("order", "draw.json")).status_code == 404
    fix(term, window)
    code, root = of_ada(window, cast), draw_codes.fixed(window.id).root
    assert code.startswith(f"{cast.ada.number}-")
    text = ada.get(page).text
    assert code in text
    assert root in text
    assert "lottery 1234" in text
    assert code not in client.get(page).text
    early = json.loads(client.get(page.replace("order", "draw.json")).text)
    assert "secret" not in early
    assert "line" not in early
    enter(term, window, cast.ben.id, cast.ada.id)
    use(term, window)
    text = client.get(page).text
    assert VALUE in text
    assert "The public value is entered" in text
    open_now(term, window)
    draw.forget()
    limits.forget_windows()
    text = words(ada.get(page).text)
    assert "The draw is correct" in text
    assert VALUE in text
    assert f"at position {line(term, window).index(cast.ada.id) + 1}." in text
    cleo = browser_of(app, "cleo").get(page).text
    assert "you did not join before the opening" in cleo
    assert client.get(f"{page}.txt").status_code == 404
    script = client.get(f"/terms/{term.id}/verify_root.py")
    assert script.text == Path(verify_root.__file__).read_text()


def test_a_corrected_student_number_leaves_the_code_as_it_was(
    app: Flask, term: Any, window: Any, cast: Cast
) -> None:
    fix(term, window)
    before = of_ada(window, cast)
    with transaction() as session:
        session.execute(update(Student).where(Student.id == cast.ada.id).values(number="NEW-1"))
    assert of_ada(window, cast) == before
    page = browser_of(app, "ada").get(f"/terms/{term.id}/windows/{window.id}/order").text
    assert before in page


@pytest.fixture
def told(term: Any, window: Any, students: list[int]) -> File:
    """Return the published file of an honest draw."""
    enter(term, window, *students)
    fix(term, window)
    use(term, window)
    open_now(term, window)
    found: File = json.loads(drawn(term, window).file)
    return found


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Done]:
    """Return a function that runs the script on a file."""
    return lambda told, *arguments: here(verify_root, told, tmp_path, *arguments)


Check = Callable[..., Done]


def test_a_student_finds_their_place(
    term: Any, window: Any, told: File, tmp_path: Path, cast: Cast
) -> None:
    found = alone(verify_root, told, tmp_path, of_ada(window, cast), told["root"])
    assert (found.returncode, found.stderr) == (0, "")
    assert "NO" not in found.stdout
    place = line(term, window).index(cast.ada.id) + 1
    assert f"Your position in the queue: {place}\n" in found.stdout
    del told["line"]  # as before the opening
    assert alone(verify_root, told, tmp_path, of_ada(window, cast), told["root"]).returncode == 0
    assert alone(verify_root, told, tmp_path, "661-another").returncode == 1


def lines_of(told: File, names: list[str]) -> None:
    """Order the line as it follows from the file, as a cheat would."""
    seed = seed_of(told["secret"], told["public_value"])
    keys = {each: sha256(f"{seed}:{each}")[:13] for each in names}
    told["line"] = sorted(([each, keys[each]] for each in names), key=lambda each: each[1])


def chooses_an_id(told: File) -> None:
    names = [each for each, _ in told["line"]]
    told["codes"].remove(names[-1])
    names[-1] = sha256("one that was tried until it came first")
    told["codes"] = sorted([*told["codes"], names[-1]])
    lines_of(told, names)


def drops_a_code(told: File) -> None:
    told["codes"].remove(told["line"].pop(0)[0])


def adds_a_code(told: File) -> None:
    added = sha256("a friend")
    told["codes"] = sorted([*told["codes"], added])
    lines_of(told, [*(each for each, _ in told["line"]), added])


def gives_a_code_twice(told: File) -> None:
    told["codes"] = sorted([*told["codes"], told["codes"][0]])


def changes_the_source(told: File) -> None:
    told["settings"]["public_source"] = "a number of mine"


def picks_the_seed(told: File) -> None:
    told["secret"] = "0dd" * 20
    told["settings"]["commitment"] = sha256(told["secret"])
    lines_of(told, [each for each, _ in told["line"]])


@pytest.mark.parametrize(
    "cheat",
    [
        chooses_an_id,
        drops_a_code,
        adds_a_code,
        gives_a_code_twice,
        changes_the_source,
        picks_the_seed,
    ],
)
def test_whoever_changes_what_was_fixed_is_caught(
    cheat: Callable[[File], None], told: File, check: Check
) -> None:
    noted = told["root"]
    cheat(told)
    assert "NO  The root is the one of this file." in check(told).stdout
    # The cheat publishes a root that fits. The one that was noted does not.
    told["root"] = verify_root.root_of([told["settings"], *told["codes"]])
    found = check(told, "", noted)
    assert "NO  It is the root that you noted." in found.stdout
    assert found.returncode == 1


def lets_one_without_a_code_in_first(told: File) -> str:
    told["line"].insert(0, ["", ""])
    return "Students without a code come last"


def reorders(told: File) -> str:
    told["line"].reverse()
    return "The order follows"


def forges_a_key(told: File) -> str:
    told["line"][-1][1] = "0" * 13
    told["line"].insert(0, told["line"].pop())
    return "The order follows"


def picks_another_secret(told: File) -> str:
    told["secret"] = "0dd" * 20
    lines_of(told, [each for each, _ in told["line"]])
    return "The secret is the committed one"


def lets_a_stranger_in(told: File) -> str:
    lines_of(told, [*(each for each, _ in told["line"]), sha256("a friend")])
    return "Everyone in the queue has a code"


def puts_one_twice(told: File) -> str:
    told["line"].insert(0, told["line"][0])
    return "Everyone in the queue has a code"


@pytest.mark.parametrize(
    "cheat",
    [
        lets_one_without_a_code_in_first,
        reorders,
        forges_a_key,
        picks_another_secret,
        lets_a_stranger_in,
        puts_one_twice,
    ],
)
def test_whoever_changes_the_line_is_caught(
    cheat: Callable[[File], str], told: File, check: Check
) -> None:
    text = cheat(told)
    assert f"NO  {text}" in check(told).stdout


def test_a_student_who_was_dropped_notices(
    window: Any, told: File, check: Check, cast: Cast
) -> None:
    code = of_ada(window, cast)
    told["line"] = [each for each in told["line"] if each[0] != sha256(code)]
    assert check(told).returncode == 0
    assert "NO  You are in the queue" in check(told, code, told["root"]).stdout


def test_the_line_of_a_draw_is_not_checked_with_the_proof_of_one_ballot(
    told: File, check: Check
) -> None:
    """Such a file has no settings under its root."""
    single = {"pseudonym": told["line"][0][0]}
    root = verify_root.root_of([single])
    found = check({**told, "ballot": single, "proof": [], "root": root, "line": told["line"][:1]})
    assert "The secret is the committed one." not in found.stdout


def test_another_public_value_gives_another_order_or_is_shown(told: File, check: Check) -> None:
    told["public_value"] = "badbee"
    lines_of(told, [each for each, _ in told["line"]])
    found = check(told)
    assert "lottery 1234" in found.stdout  # to compare with its source
    assert "badbee" in found.stdout
