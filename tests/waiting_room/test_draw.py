"""GET /terms/<t>/windows/<w>/order: the fingerprint before, the seed and the order after."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.registration import limits
from portal.waiting_room import draw, room
from portal.windows import draw_seeds, service
from portal.windows.service import Author, NewWindow
from tests import cast as builders
from tests.cast import Cast
from tests.operations.test_health import stalled
from tests.waiting_room.rooms import open_now
from tests.web.pages import words
from tests.web.visitors import browser_of

WRONG = "does not match the fingerprint"


def drawn(term: Any, students: range | list[int]) -> Any:
    """A window that has just opened, to which these came early."""
    window = builders.a_coming_window(term)
    for student in students:
        room.enter(term.id, window.id, student)
    open_now(term, window)
    limits.forget_windows()
    return window


def page(client: FlaskClient, term: Any, window: Any, end: str = "") -> Any:
    return client.get(f"/terms/{term.id}/windows/{window.id}/order{end}")


def test_before_the_opening_there_is_the_fingerprint_alone(client: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    request = room.enter(term.id, window.id, 7).request
    seed = draw_seeds.seed(term.id, window.id)
    fingerprint = draw_seeds.commitment(term.id, window.id)
    for end in ("", ".txt"):
        told = page(client, term, window, end)
        assert told.status_code == 200
        assert fingerprint in told.text
        assert seed not in told.text
        assert request not in told.text


def test_afterwards_anyone_sees_the_seed_and_the_order(client: FlaskClient, term: Any) -> None:
    window = drawn(term, range(1, 30))
    told = page(client, term, window).text
    assert draw_seeds.seed(term.id, window.id) in told
    listed = re.findall(r"<li[^>]*><code>([0-9a-f]{32})<", told)
    assert listed == draw.drawn_requests(term.id, window.id)
    assert len(listed) == 29
    assert "the order follows from the seed" in words(told)


def test_a_long_order_is_whole_in_the_text(client: FlaskClient, term: Any) -> None:
    window = drawn(term, range(1, 251))
    told = page(client, term, window).text
    assert len(re.findall(r"<li[^>]*><code>", told)) == 100
    assert "150 more are in the text file." in told
    text = page(client, term, window, ".txt")
    assert text.mimetype == "text/plain"
    assert draw.parse(text.text).requests == tuple(draw.drawn_requests(term.id, window.id))


def test_a_student_finds_the_own_request(app: Flask, term: Any, cast: Cast) -> None:
    window = drawn(term, [*range(100_000, 100_040), cast.ada.id])
    place = room.look(term.id, window.id, cast.ada.id).number
    told = page(browser_of(app, "ada"), term, window).text
    assert f"The draw put you at position {place}." in words(told)
    assert "Your request" not in words(page(browser_of(app, "ben"), term, window).text)


def test_who_came_later_is_not_in_it(client: FlaskClient, term: Any) -> None:
    window = drawn(term, [1, 2])
    late = room.enter(term.id, window.id, 3).request
    assert late not in page(client, term, window, ".txt").text


def test_the_three_lines_of_the_page_agree(client: FlaskClient, term: Any, tmp_path: Path) -> None:
    window = drawn(term, range(1, 20))
    told = page(client, term, window).text
    [code] = re.findall(r"<pre[^>]*><code>(.*?)</code>", told, re.DOTALL)
    first, *lines = code.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&").split("\n")
    assert first.startswith("curl -s http")
    text = page(client, term, window, ".txt").text
    assert said(lines, text, tmp_path).count("OK") == 2
    head, seed, one, two, *others = text.split("\n")
    assert said(lines, "\n".join([head, seed, two, one, *others]), tmp_path).count("OK") == 1
    assert said(lines, text.replace(seed, "0" * 64), tmp_path).count("order: OK") == 0


def said(lines: list[str], text: str, folder: Path) -> str:
    """What the lines say of a text."""
    (folder / "order.txt").write_text(text)
    done = subprocess.run(
        ["/bin/bash", "-c", "\n".join(lines)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_it_is_computed_once_however_often_it_is_asked_for(
    client: FlaskClient, app: Flask, term: Any, cast: Cast, backend: Backend
) -> None:
    window = drawn(term, [*range(100_000, 100_020), cast.ada.id])
    ada = browser_of(app, "ada")
    first = page(client, term, window, ".txt")
    assert "number" in words(page(ada, term, window).text)
    line = f"{{t:{term.id}}}:room:{window.id}"
    backend.redis.delete(f"{line}:line", f"{line}:who")  # whoever read these now would find none
    for _ in range(5):
        assert page(client, term, window, ".txt").text == first.text
        assert "The draw put you at position" in words(page(ada, term, window).text)


def test_a_client_that_has_the_text_is_not_sent_it_again(client: FlaskClient, term: Any) -> None:
    coming = builders.a_coming_window(term)
    assert page(client, term, coming, ".txt").headers["Cache-Control"] == "no-store"
    window = drawn(term, [1, 2, 3])
    first = page(client, term, window, ".txt")
    known = {"If-None-Match": first.headers["ETag"]}
    again = client.get(f"/terms/{term.id}/windows/{window.id}/order.txt", headers=known)
    assert (again.status_code, again.data) == (304, b"")


def test_an_order_that_was_tampered_with_is_told(
    client: FlaskClient, term: Any, backend: Backend
) -> None:
    window = drawn(term, [1, 2, 3])
    assert WRONG not in page(client, term, window).text
    last = draw.drawn_requests(term.id, window.id)[-1]
    backend.redis.zadd(f"{{t:{term.id}}}:room:{window.id}:line", {last: 0})
    draw.forget()  # as each process does within a minute
    assert WRONG in page(client, term, window).text


def test_the_audit_notes_the_fingerprint_when_a_window_is_scheduled(
    client: FlaskClient, term: Any, cast: Cast
) -> None:
    now = builders.backend().ledger.now()
    plan = NewWindow("Everyone", now + 10**6, now + 10**7, {})
    number = service.new_id()
    service.schedule(term.id, number, plan, cast.max.id)
    service.move(term.id, number, now + 2 * 10**6, now + 10**7, Author(cast.max.id))
    [(at, fingerprint)] = draw.audited_commitments(term.id, number)
    assert fingerprint == draw_seeds.commitment(term.id, number)
    told = words(client.get(f"/terms/{term.id}/windows/{number}/order").text)
    assert "Recorded" in told
    assert "which is different" not in told
    assert at


def test_another_fingerprint_than_was_noted_is_told(
    client: FlaskClient, term: Any, cast: Cast, backend: Backend
) -> None:
    now = builders.backend().ledger.now()
    number = service.new_id()
    service.schedule(term.id, number, NewWindow("", now + 10**6, now + 10**7, {}), cast.max.id)
    backend.redis.hset(f"{{t:{term.id}}}:room:{number}", "seed", "0" * 64)
    draw_seeds.forget()  # as if the portal had been restarted
    assert "which is different" in words(
        client.get(f"/terms/{term.id}/windows/{number}/order").text
    )


def test_it_is_there_while_postgresql_is_away(client: FlaskClient, term: Any, servers: Any) -> None:
    window = builders.a_coming_window(term)
    assert page(client, term, window).status_code == 200
    with stalled(servers, "postgres"):
        assert page(client, term, window, ".txt").status_code == 200


def test_a_window_of_elsewhere_has_no_order(client: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(builders.a_term("Another"))
    assert page(client, term, window).status_code == 404
    assert page(client, term, window, ".txt").status_code == 404


@pytest.mark.parametrize(
    "text",
    ["", "# fingerprint", f"# fingerprint {'0' * 64}\n", "0" * 64, f"# fingerprint {'g' * 64} x"],
)
def test_a_text_that_is_no_order_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"order|unpack"):
        draw.parse(text)
