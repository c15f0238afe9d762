"""GET /terms/<t>/windows/<w>/order: first the commitment; after the opening seed and order."""

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

WRONG = "does not match the commitment"


def drawn(term: Any, students: range | list[int]) -> Any:
    """Return a window that has just opened, with early students."""
    window = builders.a_coming_window(term)
    for student in students:
        room.enter(term.id, window.id, student)
    open_now(term, window)
    limits.forget_windows()
    return window


def page(client: FlaskClient, term: Any, window: Any, end: str = "") -> Any:
    return client.get(f"/terms/{term.id}/windows/{window.id}/order{end}")


def test_only_the_commitment_is_public_before_the_opening(client: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    request = room.enter(term.id, window.id, 7).request
    seed = draw_seeds.seed(term.id, window.id)
    fingerprint = draw_seeds.commitment(term.id, window.id)
    for end in ("", ".txt"):
        text = page(client, term, window, end)
        assert text.status_code == 200
        assert fingerprint in text.text
        assert seed not in text.text
        assert request not in text.text


def test_seed_and_order_are_public_after_the_opening(client: FlaskClient, term: Any) -> None:
    window = drawn(term, range(1, 30))
    text = page(client, term, window).text
    assert draw_seeds.seed(term.id, window.id) in text
    listed = re.findall(r"<li[^>]*><code>([0-9a-f]{32})<", text)
    assert listed == draw.drawn_requests(term.id, window.id)
    assert len(listed) == 29
    assert "the order follows from the seed" in words(text)


def test_text_has_the_whole_of_a_long_order(client: FlaskClient, term: Any) -> None:
    window = drawn(term, range(1, 251))
    result = page(client, term, window).text
    assert len(re.findall(r"<li[^>]*><code>", result)) == 100
    assert "150 more are in the file." in result
    text = page(client, term, window, ".txt")
    assert text.mimetype == "text/plain"
    assert draw.parse(text.text).line == tuple(draw.drawn_requests(term.id, window.id))


def test_student_finds_their_own_request(app: Flask, term: Any, cast: Cast) -> None:
    window = drawn(term, [*range(100_000, 100_040), cast.ada.id])
    entry = room.queue_entry(term.id, window.id, cast.ada.id).number
    text = page(browser_of(app, "ada"), term, window).text
    assert f"The draw put you at position {entry}." in words(text)
    assert "Your request" not in words(page(browser_of(app, "ben"), term, window).text)


def test_late_student_is_not_in_the_draw(client: FlaskClient, term: Any) -> None:
    window = drawn(term, [1, 2])
    late = room.enter(term.id, window.id, 3).request
    assert late not in page(client, term, window, ".txt").text


def test_three_commands_on_the_page_give_the_same_result(
    client: FlaskClient, term: Any, tmp_path: Path
) -> None:
    window = drawn(term, range(1, 20))
    result = page(client, term, window).text
    [code] = re.findall(r"<pre[^>]*><code>(.*?)</code>", result, re.DOTALL)
    first, *lines = code.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&").split("\n")
    assert first.startswith("curl -s http")
    text = page(client, term, window, ".txt").text
    assert output_of(lines, text, tmp_path).count("OK") == 2
    head, seed, one, two, *others = text.split("\n")
    assert output_of(lines, "\n".join([head, seed, two, one, *others]), tmp_path).count("OK") == 1
    assert output_of(lines, text.replace(seed, "0" * 64), tmp_path).count("order: OK") == 0


def output_of(lines: list[str], text: str, folder: Path) -> str:
    """Run the page's commands on a text and return their output."""
    (folder / "order.txt").write_text(text)
    done = subprocess.run(
        ["/bin/bash", "-c", "\n".join(lines)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_draw_is_computed_once(
    client: FlaskClient, app: Flask, term: Any, cast: Cast, backend: Backend
) -> None:
    window = drawn(term, [*range(100_000, 100_020), cast.ada.id])
    ada = browser_of(app, "ada")
    first = page(client, term, window, ".txt")
    assert "number" in words(page(ada, term, window).text)
    line = f"{{t:{term.id}}}:room:{window.id}"
    backend.redis.delete(f"{line}:line", f"{line}:who")  # a process that reads them now finds none
    for _ in range(5):
        assert page(client, term, window, ".txt").text == first.text
        assert "The draw put you at position" in words(page(ada, term, window).text)


def test_client_with_the_current_text_gets_304(client: FlaskClient, term: Any) -> None:
    coming = builders.a_coming_window(term)
    assert page(client, term, coming, ".txt").headers["Cache-Control"] == "no-store"
    window = drawn(term, [1, 2, 3])
    first = page(client, term, window, ".txt")
    known = {"If-None-Match": first.headers["ETag"]}
    again = client.get(f"/terms/{term.id}/windows/{window.id}/order.txt", headers=known)
    assert (again.status_code, again.data) == (304, b"")


def test_changed_order_is_reported(client: FlaskClient, term: Any, backend: Backend) -> None:
    window = drawn(term, [1, 2, 3])
    assert WRONG not in page(client, term, window).text
    last = draw.drawn_requests(term.id, window.id)[-1]
    backend.redis.zadd(f"{{t:{term.id}}}:room:{window.id}:line", {last: 0})
    draw.forget()  # as each process does within a minute
    assert WRONG in page(client, term, window).text


def test_audit_trail_has_the_commitment_of_a_scheduled_window(
    client: FlaskClient, term: Any, cast: Cast
) -> None:
    now = builders.backend().ledger.now()
    plan = NewWindow("Everyone", now + 10**6, now + 10**7, {})
    number = service.new_id()
    service.schedule(term.id, number, plan, cast.max.id)
    service.move(term.id, number, now + 2 * 10**6, now + 10**7, Author(cast.max.id))
    [(at, fingerprint)] = draw.audited_commitments(term.id, number)
    assert fingerprint == draw_seeds.commitment(term.id, number)
    text = words(client.get(f"/terms/{term.id}/windows/{number}/order").text)
    assert "Recorded" in text
    assert "which is different" not in text
    assert at


def test_commitment_that_differs_from_the_audit_trail_is_reported(
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


def test_draw_is_shown_while_postgresql_is_down(
    client: FlaskClient, term: Any, servers: Any
) -> None:
    window = builders.a_coming_window(term)
    assert page(client, term, window).status_code == 200
    with stalled(servers, "postgres"):
        assert page(client, term, window, ".txt").status_code == 200


def test_unknown_window_has_no_order(client: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(builders.a_term("Another"))
    assert page(client, term, window).status_code == 404
    assert page(client, term, window, ".txt").status_code == 404


@pytest.mark.parametrize(
    "text",
    ["", "# fingerprint", f"# fingerprint {'0' * 64}\n", "0" * 64, f"# fingerprint {'g' * 64} x"],
)
def test_invalid_text_is_refused_as_a_draw(text: str) -> None:
    with pytest.raises(ValueError, match=r"order|unpack"):
        draw.parse(text)
