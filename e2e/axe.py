"""Accessibility checks of a page by axe: the rules of WCAG 2.2 AA, and its best practices."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from playwright.sync_api import Page

from portal.core.settings import ROOT

SCRIPT = ROOT / "node_modules" / "axe-core" / "axe.min.js"
ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CONTRAST = ["color-contrast"]
# Checking contrast takes longest, so it is done once for each look. Texts look alike if they have
# the same element, class, color, size, weight and background.
ONCE = """;axe.configure({
    rules: [{ id: "color-contrast", selector: ":not([data-look-checked])" }],
})"""
# An open dialog makes the rest of the page inert, so only the dialog is checked then.
RUN = """async ([rules, checked]) => {
    if (!window.axe) window.startAxe?.();
    if (!window.axe) return null;
    const root = document.querySelector("dialog:modal") ?? document;
    const looks = new Set(checked);
    const grounds = new Map([[null, ""]]);
    const ground = (it) => {
        if (!grounds.has(it)) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(it);
            const own = `${backgroundColor} ${backgroundImage} ${opacity}`;
            const seen = own === "rgba(0, 0, 0, 0) none 1" ? "" : `/${own}`;
            grounds.set(it, ground(it.parentElement) + seen);
        }
        return grounds.get(it);
    };
    const filled = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
    const texts = [...root.querySelectorAll("*")].filter((it) =>
        [...it.childNodes].some(filled) && it.checkVisibility({ visibilityProperty: true }));
    for (const it of texts) {
        const { color, fontSize, fontWeight } = getComputedStyle(it);
        const own = [it.localName, it.getAttribute("class"), color, fontSize, fontWeight];
        const look = `${own.join(" ")} on ${ground(it)}`;
        it.toggleAttribute("data-look-checked", looks.has(look));
        looks.add(look);
    }
    const options = { runOnly: rules, resultTypes: ["violations"], preload: false };
    const { violations } = await axe.run(root, options);
    return [violations, [...looks]];
}"""
SHOWN = 4  # places of each violation


def stay(page: Page) -> None:
    """Let each page that is opened in this window know axe, and start it when it is checked.

    To send the script to a page takes longer than to check the page.
    """
    page.add_init_script(f"window.startAxe = () => {{ {_script()}{ONCE} }};")


def barriers(
    page: Page, checked: set[str] | None = None, *, rules: Sequence[str] = ALL
) -> list[str]:
    """Return the violations of rules, or groups of rules, on the page or in its open dialog.

    The looks of texts in `checked` were checked on earlier pages; those of this page are added.
    """
    known = set[str]() if checked is None else checked
    asked = [list(rules), list(known)]
    answer = page.evaluate(RUN, asked)
    if answer is None:
        # The page's Content-Security-Policy forbids script elements from other sources.
        page.evaluate(_script() + ONCE)
        answer = page.evaluate(RUN, asked)
    found, looks = answer
    known.update(looks)
    return [_told(violation) for violation in found]


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
