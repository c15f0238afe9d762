"""Look for barriers on a page with axe, by the rules of WCAG 2.2 AA and by good practice."""

from functools import cache
from typing import Any

from playwright.sync_api import Page

from portal.core.settings import ROOT

SCRIPT = ROOT / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# What an open dialog covers can be neither read nor pressed, and is looked at without it.
RUN = """tags => axe.run(
    document.querySelector("dialog:modal") ?? document,
    { runOnly: tags, resultTypes: ["violations"], preload: false },
)"""
SHOWN = 4  # places of each violation


def barriers(page: Page) -> list[str]:
    """What axe finds on the page, or in its open dialog, as it is seen now."""
    # Not by a script element, as the page's own rules forbid those of strangers.
    if page.evaluate("!window.axe"):
        page.evaluate(_script())
    found: dict[str, Any] = page.evaluate(RUN, list(TAGS))
    return [_told(violation) for violation in found["violations"]]


@cache
def _script() -> str:
    return SCRIPT.read_text()


def _told(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    lines = [f"{violation['id']} ({violation['impact']}): {violation['help']}, {len(nodes)} times"]
    for node in nodes[:SHOWN]:
        why = (node["any"] + node["all"] + node["none"])[0]["message"]
        lines.append(f"    {node['target'][0]}: {why}\n    {node['html'][:160]}")
    return "\n".join(lines)
