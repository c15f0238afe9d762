"""What a visitor reads when something goes wrong."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.exc import OperationalError

import portal
from portal.core.errors import Refused
from portal.ledger.errors import LedgerUnavailable
from portal.web.http import access


def failing(error: Exception) -> access.View:
    @access.public
    def view() -> str:
        raise error

    return view


@pytest.fixture
def broken(app: Flask) -> Iterator[Flask]:
    """The portal with /clock in trouble."""
    stored = app.view_functions["live.clock"]
    yield app
    app.view_functions["live.clock"] = stored


def test_missing_page_says_so(client: FlaskClient) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert "Page not found" in answer.text


def test_missing_term_says_so(client: FlaskClient) -> None:
    assert client.get("/terms/999999999").status_code in {302, 404}


def test_wrong_method_names_the_allowed_ones(client: FlaskClient) -> None:
    answer = client.post("/clock")
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]


def test_too_many_requests_are_refused(client: FlaskClient) -> None:
    answer = client.post("/login", data={"username": "x" * 300_000})
    assert answer.status_code == 413
    assert "Nothing was changed" in answer.text


@pytest.mark.parametrize(
    "error",
    [LedgerUnavailable("gone"), OperationalError("SELECT 1", {}, Exception("gone"))],
    ids=["ledger", "database"],
)
def test_unavailable_store_asks_to_retry(broken: Flask, error: Exception) -> None:
    broken.view_functions["live.clock"] = failing(error)
    answer = broken.test_client().get("/clock")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert "Your seats and waitlist positions are safe" in answer.text
    assert '<meta http-equiv="refresh"' in answer.text


def test_unexpected_error_shows_a_code_without_details(broken: Flask) -> None:
    broken.view_functions["live.clock"] = failing(RuntimeError("the secret inside"))
    answer = broken.test_client().get("/clock")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.headers["X-Correlation-Id"] in answer.text


def test_api_gets_problem_details(client: FlaskClient) -> None:
    answer = client.get("/api/v1/nowhere")
    assert answer.status_code == 404
    assert answer.mimetype == "application/problem+json"
    assert answer.json["status"] == 404
    assert answer.json["title"] == "Not found"


def test_htmx_gets_a_toast(client: FlaskClient) -> None:
    answer = client.get("/nowhere", headers={"HX-Request": "true", "HX-Target": "results"})
    assert answer.headers["HX-Retarget"] == "#toasts"
    assert answer.headers["HX-Reswap"] == "beforeend"
    assert 'class="toast"' in answer.text
    assert "<html" not in answer.text


def test_dialog_gets_its_content(client: FlaskClient) -> None:
    answer = client.get("/nowhere", headers={"HX-Request": "true", "HX-Target": "dialog"})
    assert "HX-Retarget" not in answer.headers
    assert 'id="dialog-title"' in answer.text
    assert "<html" not in answer.text


def raised(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each code that is raised literally, with the name of the exception."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        code = node.exc.args[0]
        for each in [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]:
            if isinstance(each, ast.Constant):
                yield ast.unparse(node.exc.func), str(each.value)


def test_each_refusal_that_is_raised_has_a_text(app: Flask) -> None:  # noqa: ARG001  it imports all
    texts = {kind.__name__: kind.texts for kind in Refused.__subclasses__()}
    files = Path(portal.__file__).parent.rglob("*.py")
    codes = {pair for file in files for pair in raised(ast.parse(file.read_text()))}
    refusals = {(kind, code) for kind, code in codes if kind in texts}
    assert {kind for kind, _code in refusals} == {*texts}
    assert not [(kind, code) for kind, code in refusals if code not in texts[kind]]
