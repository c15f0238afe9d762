"""nginx as docker/nginx sets it up, in front of two real web servers."""

import re
import subprocess
from collections.abc import Iterator
from ssl import create_default_context

import pytest
from flask import Flask
from simple_websocket import Client

from portal.backend import Backend
from portal.catalog.models import Term
from portal.web.http.uploads import MOST_BYTES
from portal.windows.warmup import warm_up
from tests.cast import Cast, a_course, a_section
from tests.docker.front import GIVEN, Front, front
from tests.ledger_claims import claim
from tests.live.nodes import Node, a_node
from tests.live.tabs import Tab, cookie

BEHIND = {"FAIRSEAT_PROXIES": "1", "FAIRSEAT_HTTPS": "1"}


@pytest.fixture(scope="module")
def nodes(
    connected: Backend,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[Node]]:
    folder = tmp_path_factory.mktemp("nodes")
    with a_node(folder, BEHIND) as one, a_node(folder, BEHIND) as two:
        yield [one, two]


@pytest.fixture(scope="module")
def nginx(nodes: list[Node], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    running = front(tmp_path_factory.mktemp("nginx"), [node.port for node in nodes])
    tested = subprocess.run(
        [*running.child.command[:-2], "-t"], check=False, capture_output=True, text=True
    )
    assert tested.returncode == 0, tested.stderr
    assert "[warn]" not in tested.stderr
    running.child.start()
    while not _up(running):
        assert running.child.alive, running.child.last_output()
    yield running
    running.child.stop(5)


def _up(running: Front) -> bool:
    try:
        return running.ask_plainly("/up").status_code == 204
    except OSError:
        return False


def test_pages_come_by_tls_and_say_that_they_always_do(nginx: Front) -> None:
    answer = nginx.ask("/login")
    assert answer.status_code == 200
    assert answer.headers["Strict-Transport-Security"]
    assert answer.headers["Content-Encoding"]
    assert answer.headers["Fairseat-Padding"]  # hides the exact size of the page
    assert "__Host-fairseat" in answer.headers["Set-Cookie"]
    assert f"wss://127.0.0.1:{nginx.port}" in answer.headers["Content-Security-Policy"]


def test_whoever_comes_without_tls_is_sent_there(nginx: Front) -> None:
    answer = nginx.ask_plainly("/terms/1?q=art")
    assert answer.status_code == 308
    assert answer.headers["Location"] == "https://127.0.0.1/terms/1?q=art"


def test_the_portal_sees_the_visitor_and_believes_nothing_he_says_of_himself(
    nginx: Front, nodes: list[Node]
) -> None:
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Host": "evil.example"}
    answer = nginx.ask("/me", headers=forged)
    assert "evil.example" not in f"{answer.headers}{answer.text}"
    sent = {"Content-Type": "application/x-www-form-urlencoded", **forged}
    assert nginx.ask("/login", "POST", data="username=x", headers=sent).status_code == 400
    logs = "".join(node.child.log.read_text() for node in nodes)
    assert "turned away with 400 POST /login, account unknown, from 127.0.0.1" in logs
    assert "203.0.113.9" not in logs


def test_files_are_kept_by_nginx_and_for_good_by_browsers(nginx: Front) -> None:
    page = nginx.ask("/login").text
    address = re.findall(r'"(/static/build/style\.css[^"]+)"', page)[0]
    for _ in range(2):
        answer = nginx.ask(address, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Content-Encoding"] == "gzip"
    assert [line["cache"] for line in nginx.told("path", "/static/build/style.css", 2)] == [
        "MISS",
        "HIT",
    ]


def test_a_file_that_another_version_asks_for_is_kept_by_no_one(nginx: Front) -> None:
    answer = nginx.ask("/static/build/style.css?v=ofanotherone")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-cache"


def test_the_live_page_of_a_student_gets_claims_by_tls(
    nginx: Front,
    app: Flask,  # noqa: ARG001
    application: Flask,
    term: Term,
    cast: Cast,
) -> None:
    section = a_section(a_course(), term, capacity=2)
    warm_up(term.id)
    session = cookie(application, cast.ada.account_id).replace("fairseat=", "__Host-fairseat=", 1)
    sent = {"Origin": "https://127.0.0.1", "Cookie": session}
    trusted = create_default_context(cafile=str(nginx.folder / "tls" / "fullchain.pem"))
    tab = Tab(Client.connect(f"wss://{nginx.host}/ws", headers=sent, ssl_context=trusted))
    tab.ask(term.id, [section.id])
    tab.shows(section.id, 2)
    assert claim(cast.ben, section).seq
    tab.shows(section.id, 1)
    tab.close()


def test_each_line_of_the_log_has_the_code_that_the_visitor_was_shown(nginx: Front) -> None:
    code = nginx.ask("/login?code").headers["X-Correlation-Id"]
    assert nginx.told("correlation", code)


@pytest.mark.parametrize(
    ("path", "logged"),
    [
        ("/calendar/12-{}.ics", "/calendar/-"),
        ("/sign-up/{}", "/sign-up/-"),
        ("/recovery/{}", "/recovery/-"),
    ],
    ids=["calendar", "sign-up", "recovery"],
)
def test_no_log_has_the_secret_of_an_address(
    nginx: Front, nodes: list[Node], path: str, logged: str
) -> None:
    for secret in ("a" * 43, "b" * 43):
        code = nginx.ask(path.format(secret)).headers["X-Correlation-Id"]
        assert nginx.told("correlation", code)[0]["path"] == logged
        nginx.ask_plainly(path.format(secret))
        nodes[0].child.stop(30)  # nginx notes it in its log of errors
    try:
        assert nginx.ask("/login?after").status_code == 200
    finally:
        nodes[0].child.start()
    logs = [nginx.folder / "access.log", nginx.child.log, *(node.child.log for node in nodes)]
    told = "".join(log.read_text() for log in logs)
    assert "aaaaaaaa" not in told
    assert "bbbbbbbb" not in told


def test_a_node_that_is_down_is_left_out(nginx: Front, nodes: list[Node]) -> None:
    nodes[0].child.stop(30)
    try:
        assert {nginx.ask("/login").status_code for _ in range(10)} == {200}
        sent = {"Content-Type": "application/x-www-form-urlencoded"}
        posts = {
            nginx.ask("/login", "POST", data="a=b", headers=sent).status_code for _ in range(10)
        }
        assert posts == {400}  # the portal's own answer to a form without its token
    finally:
        nodes[0].child.start()


def test_too_much_is_refused_by_the_portal_and_far_too_much_by_nginx(nginx: Front) -> None:
    sent = {"Content-Type": "application/x-www-form-urlencoded"}
    some = nginx.ask("/login", "POST", data="a" * 300_000, headers=sent)
    assert some.status_code == 413
    assert some.headers["X-Correlation-Id"]
    much = nginx.ask("/login", "POST", data="a" * 2**21, headers=sent)
    assert much.status_code == 413
    assert "X-Correlation-Id" not in much.headers


def test_metrics_are_for_the_inside(nginx: Front) -> None:
    assert nginx.ask("/metrics").status_code == 404


def test_wherever_the_portal_takes_files_nginx_lets_them_through(app: Flask) -> None:
    found = re.search(
        r"location ~ (\S+) \{\s+include pass.conf;\s+client_max_body_size (\d+)m;",
        (GIVEN / "nginx.conf").read_text(),
    )
    assert found
    assert int(found[2]) * 2**20 > MOST_BYTES
    taking = [
        rule
        for rule in app.url_map.iter_rules()
        if getattr(app.view_functions[rule.endpoint], "takes_files", False)
    ]
    assert taking
    for rule in taking:
        assert re.search(found[1], re.sub(r"<[^>]+>", "1", rule.rule)), rule.rule
