"""What assistive technology is told of a page, by the browser's accessibility tree."""

import time
from typing import Any

from e2e.person import PATIENCE, Person, context_of

ICONS = "\u00d7→←↑↓+-"
WORKED = {"button", "link", "textbox", "combobox"}
PLACES = {"dialog", "navigation", "region"}


def tree(person: Person) -> list[dict[str, Any]]:
    """The page as assistive technology is told of it, with what that passes over."""
    line = context_of(person).new_cdp_session(person.page)
    nodes: list[dict[str, Any]] = line.send("Accessibility.getFullAXTree")["nodes"]
    line.detach()
    return nodes


def seen(person: Person) -> list[dict[str, Any]]:
    """All that assistive technology sees of the page."""
    return [node for node in tree(person) if not node["ignored"]]


def fact(node: dict[str, Any], name: str) -> Any:
    """A property of a node, None where it has none."""
    facts = node.get("properties", [])
    return next((each["value"].get("value") for each in facts if each["name"] == name), None)


def heard(person: Person) -> list[str]:
    """The texts in live regions; fails if one of them interrupts."""
    nodes = tree(person)
    by_id = {node["nodeId"]: node for node in nodes}
    texts = []
    for node in nodes:
        if node["ignored"] or node["role"]["value"] != "StaticText":
            continue
        above = node
        while above := by_id.get(above.get("parentId", ""), {}):
            if live := fact(above, "live"):
                assert live == "polite"
                texts.append(node["name"]["value"])
                break
    return texts


def until_heard(person: Person, words: str) -> None:
    """Wait until a live region says it."""
    deadline = time.monotonic() + PATIENCE
    while words not in " ".join(said := heard(person)):
        assert time.monotonic() < deadline, f"“{words}” is not in {said}"
        person.page.wait_for_timeout(250)


def nameless(person: Person) -> list[str]:
    """The roles of what has no name, though it can be worked or is a place to go to."""
    found = []
    for node in seen(person):
        role, name = node["role"]["value"], node.get("name", {}).get("value", "").strip()
        worked = role in WORKED and fact(node, "focusable") and not name.strip(ICONS)
        if worked or (role in PLACES and not name):
            found.append(f"has no name: {role} “{name}”")
    return found
