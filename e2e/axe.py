"""Accessibility checks of a page by axe: the rules of WCAG 2.2 AA, and its best practices."""

from functools import cache
from typing import Any

from playwright.sync_api import Page

from portal.core.settings import ROOT

SCRIPT = ROOT / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# An open dialog makes the rest of the page inert, so only the dialog is checked then.
RUN = """tags => axe.run(
    document.querySelector("dialog:modal") ?? document,
    { runOnly: tags, resultTypes: ["violations"], preload: false },
)"""
SHOWN = 4  # places of each violation


def barriers(page: Page) -> list[str]:
    """Return the violations on the page, or in its open dialog."""
    # The page's Content-Security-Policy forbids script elements from other sources.
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
