"""What a JSON schema says, as people read it; and examples by hand."""

from collections.abc import Mapping
from typing import Any

from flask import json

from portal.api.fields import LARGEST

Schema = Mapping[str, Any]


def kind(schema: Schema) -> tuple[str, str]:
    """A type in words, and the schema that it names, if it does."""
    if "$ref" in schema:
        return name_of(schema), name_of(schema)
    if "anyOf" in schema:
        parts = [kind(each) for each in schema["anyOf"]]
        return " or ".join(name for name, _ in parts), next((link for _, link in parts if link), "")
    kinds = schema.get("type", "anything")
    names = kinds if isinstance(kinds, list) else [kinds]
    if "array" in names:
        inner, link = kind(schema.get("items", {}))
        return f"list of {inner}", link
    return " or ".join(names), ""


def about(description: str, schema: Schema) -> str:
    """The description, and what the value is bound to; that an id fits into a column is no news."""
    bounds = {
        "one of {}": ", ".join(map(str, schema.get("enum", ()))),
        "from {}": schema.get("minimum"),
        "to {}": schema.get("maximum"),
        "at most {} characters": schema.get("maxLength"),
        "at most {} items": schema.get("maxItems"),
        "{}": schema.get("format"),
        "by default {}": json.dumps(schema["default"]) if schema.get("default") else None,
    }
    if schema.get("maximum") == LARGEST:
        bounds |= {"from {}": None, "to {}": None}
    said = [text.format(value) for text, value in bounds.items() if value not in {None, ""}]
    return " ".join([description, f"({', '.join(said)})" if said else ""]).strip()


def name_of(schema: Schema) -> str:
    """The name of the schema that a reference leads to; blank for any other."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def looked_up(document: Mapping[str, Any], told: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference leads to, or the thing itself."""
    if "$ref" not in told:
        return told
    found: Mapping[str, Any] = document
    for step in told["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def curl(url: str, told: Mapping[str, Any], content: Mapping[str, Any] | None) -> str:
    """The same by hand, ids being variables of the shell."""
    needed = [each["name"] for each in told["parameters"] if each.get("required")]
    path = [name for name in needed if f"{{{name}}}" in url]
    query = "&".join(f"{name}=${name}" for name in needed if name not in path)
    for name in path:
        url = url.replace(f"{{{name}}}", f"${name}")
    parts = [f'curl "{url}{"?" + query if query else ""}"']
    if told["security"]:
        parts.append('-H "Authorization: Bearer $TOKEN"')
    if content:
        parts += ['-H "Content-Type: application/json"', f"-d '{json.dumps(content['example'])}'"]
    return " \\\n  ".join(parts)


def pretty(example: Any) -> str:
    """An example as it is shown."""
    return json.dumps(example, indent=2, ensure_ascii=False, sort_keys=False)
