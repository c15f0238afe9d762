"""GET /api/v1/openapi.json and /api/docs: complete, consistent and public."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.web.api.schemas import PROBLEM_KINDS
from portal.web.http.access import PUBLIC, rule_of
from tests.web.pages import words

ALWAYS = {"400", "401", "403", "429", "500", "503"}
OF_BODIES = {"408", "409", "413", "415", "422"}
PARAMETER = re.compile(r"<(?:[^:<>]+:)?([^<>]+)>")
ELSEWHERE = {"/health", "/ready", "/live"}


@pytest.fixture
def document(client: FlaskClient) -> dict[str, Any]:
    answer = client.get("/api/v1/openapi.json")
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    found: dict[str, Any] = answer.json
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]


def test_document_has_exactly_the_routes_of_the_api(app: Flask, document: dict[str, Any]) -> None:
    routes = {
        PARAMETER.sub(r"{\1}", rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("api.")
    }
    assert set(document["paths"]) == routes | ELSEWHERE


def test_every_operation_documents_problems_and_access(document: dict[str, Any]) -> None:
    schemes = set(document["components"]["securitySchemes"])
    for path, method, operation in operations(document):
        if path in ELSEWHERE:
            assert operation["security"] == []
            continue
        expected = ALWAYS | (OF_BODIES if method == "post" else set())
        assert expected <= set(operation["responses"]), path
        assert all(set(each) <= schemes for each in operation["security"])
        needs_form = {"session": [], "form": []} in operation["security"]
        assert needs_form == (method != "get")


def test_every_operation_has_example_name_and_summary(document: dict[str, Any]) -> None:
    found = operations(document)
    assert len({operation["operationId"] for _, _, operation in found}) == len(found)
    for path, _, operation in found:
        assert operation["summary"].endswith("."), path
        if path not in ELSEWHERE:
            result = min(status for status in operation["responses"] if status.startswith("2"))
            [content] = operation["responses"][result]["content"].values()
            assert content["example"], path


def test_every_reference_exists(document: dict[str, Any]) -> None:
    def look(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                found: Any = document
                for step in value["$ref"].removeprefix("#/").split("/"):
                    found = found[step]
            for each in value.values():
                look(each)
        elif isinstance(value, list):
            for each in value:
                look(each)

    look(document)


def test_page_shows_every_operation_schema_and_problem(
    client: FlaskClient, document: dict[str, Any]
) -> None:
    page = client.get("/api/docs").text
    for path, _, operation in operations(document):
        assert f'id="{operation["operationId"]}"' in page
        assert f"<code>{path}</code>" in page
        assert " ".join(operation["summary"].split()) in words(page)
    for name in document["components"]["schemas"]:
        assert f'id="schema-{name}"' in page
    for kind in PROBLEM_KINDS:
        assert f'id="{kind}"' in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert all(link in ids for link in re.findall(r'href="#([^"]+)"', page))


def test_page_loads_nothing_from_other_sites(client: FlaskClient) -> None:
    page = client.get("/api/docs").text
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert "<style" not in page
    assert " style=" not in page


def test_page_and_document_are_public(app: Flask) -> None:
    for endpoint in ("api_docs.page", "api_docs.openapi"):
        assert rule_of(app.view_functions[endpoint]) == {PUBLIC}
