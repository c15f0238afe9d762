"""The OpenAPI document as a page shows it: every reference looked up, every type in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from portal.api.docs.spellings import Schema, about, curl, kind, looked_up, name_of, pretty

METHODS = ("get", "post")


@dataclass(frozen=True)
class Field:
    """A field of a body, an answer or an address; `links` are the schemas that its type names."""

    name: str
    type: str
    link: str
    required: bool
    about: str
    place: str = ""  # path, query or header


@dataclass(frozen=True)
class Shape:
    """A schema by name, with its fields."""

    name: str
    fields: list[Field]


@dataclass(frozen=True)
class Answer:
    """What may come back; `shape` is blank for problems, which all have the same."""

    status: str
    about: str
    shape: str
    example: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked for."""

    id: str
    method: str
    path: str
    summary: str
    about: str
    parameters: list[Field]
    body: Shape | None
    answers: list[Answer]
    problems: list[Answer]
    curl: str


@dataclass(frozen=True)
class Group:
    """Operations that belong together."""

    name: str
    about: str
    operations: list[Operation]


@dataclass(frozen=True)
class Reference:
    """The whole document; `shapes` are those that several operations share."""

    title: str
    version: str
    about: str
    groups: list[Group]
    shapes: list[Shape]


def reference(document: Mapping[str, Any], address: str) -> Reference:
    """The document in the order of its tags, its examples for a portal at `address`."""
    found = [
        _operation(document, address, *each)
        for each in sorted(_all(document), key=itemgetter(0, 1))
    ]
    groups = [
        Group(tag["name"], tag["description"], [one for name, one in found if name == tag["name"]])
        for tag in document["tags"]
    ]
    schemas = sorted(document["components"]["schemas"].items())
    shapes = [Shape(name, _fields(schema)) for name, schema in schemas]
    info = document["info"]
    return Reference(info["title"], info["version"], info["description"], groups, shapes)


def _all(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                shared = item.get("parameters", [])
                own = item[method].get("parameters", [])
                yield path, method, {**item[method], "parameters": [*shared, *own]}


def _operation(
    document: Mapping[str, Any], address: str, path: str, method: str, told: Mapping[str, Any]
) -> tuple[str, Operation]:
    answers = [_answer(document, *each) for each in sorted(told["responses"].items())]
    content = told.get("requestBody", {}).get("content", {}).get("application/json")
    body = content and _shape(document, content["schema"])
    operation = Operation(
        id=told["operationId"],
        method=method.upper(),
        path=path,
        summary=told["summary"],
        about=told.get("description", ""),
        parameters=[_parameter(each) for each in told["parameters"]],
        body=body,
        answers=[each for each in answers if each.shape],
        problems=[each for each in answers if not each.shape],
        curl=curl(f"{address}{path}", told, content),
    )
    return told["tags"][0], operation


def _answer(document: Mapping[str, Any], status: str, response: Mapping[str, Any]) -> Answer:
    told = looked_up(document, response)
    [content] = told["content"].values()
    shape = name_of(content["schema"])
    return Answer(
        status=status,
        about=told["description"],
        shape="" if shape == "Problem" else shape,
        example=pretty(content["example"]) if "example" in content else "",
        headers={name: each["description"] for name, each in told.get("headers", {}).items()},
    )


def _parameter(told: Mapping[str, Any]) -> Field:
    return Field(
        name=told["name"],
        type=kind(told["schema"])[0],
        link="",
        required=told.get("required", False),
        about=about(told.get("description", ""), told["schema"]),
        place=told["in"],
    )


def _shape(document: Mapping[str, Any], schema: Schema) -> Shape:
    return Shape(name_of(schema), _fields(looked_up(document, schema)))


def _fields(schema: Schema) -> list[Field]:
    required = set(schema.get("required", ()))
    return [
        Field(name, *kind(each), name in required, about(each.get("description", ""), each))
        for name, each in schema.get("properties", {}).items()
    ]
