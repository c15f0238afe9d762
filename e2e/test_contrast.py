"""What is seen without full sight: contrast of all that is not text, fewer colours."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from e2e.campus import Campus
from e2e.person import Meet

# The colour of each token as the browser computes it, as [red, green, blue].
COLOURS = """names => {
    const probe = document.body.appendChild(document.createElement("i"));
    const found = names.map((name) => {
        probe.style.color = `var(--${name})`;
        return getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).map(Number);
    });
    probe.remove();
    return found;
}"""

# What must be told from what (WCAG 1.4.11): meters from their ground, fields by their edges.
PAIRS = [
    *((level, ground) for level in ("go", "few", "wait", "stop") for ground in ("paper", "rule")),
    *(("rule-firm", ground) for ground in ("paper", "sheet")),
]
RING = ("signal", "on-signal")  # one colour of it is seen on each of these
GROUNDS = ("paper", "sheet", "signal", "board")
ENOUGH = 3
SCHEMES: tuple[Any, ...] = ("light", "dark")

# Whether a box can be told from what is round it where only the system's colours are used.
EDGE = """it => {
    const { borderTopWidth, borderTopColor, backgroundColor } = getComputedStyle(it);
    const ground = getComputedStyle(document.body).backgroundColor;
    const edged = parseFloat(borderTopWidth) > 0 && borderTopColor !== ground;
    return edged || backgroundColor !== ground;
}"""


def luminance(colour: list[int]) -> float:
    """As WCAG reckons it."""
    parts = [each / 255 for each in colour]
    lit = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * lit[0] + 0.7152 * lit[1] + 0.0722 * lit[2]


def contrast(one: list[int], other: list[int]) -> float:
    """From 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def colours(page: Page) -> dict[str, list[int]]:
    """The tokens that are named above."""
    names = sorted({*RING, *GROUNDS, *(name for pair in PAIRS for name in pair)})
    return dict(zip(names, page.evaluate(COLOURS, names), strict=True))


def test_meters_fields_and_focus_stand_out(meet: Meet) -> None:
    someone = meet("")
    someone.go("/login")
    looks = []
    for scheme in SCHEMES:
        someone.page.emulate_media(color_scheme=scheme)
        known = colours(someone.page)
        looks.append(known)
        found = {pair: contrast(known[pair[0]], known[pair[1]]) for pair in PAIRS}
        assert {pair: ratio for pair, ratio in found.items() if ratio < ENOUGH} == {}
        for ground in GROUNDS:
            ring = max(contrast(known[part], known[ground]) for part in RING)
            assert ring >= ENOUGH, ground
    assert looks[0] != looks[1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_buttons_and_states_are_seen_in_the_colours_of_the_system(
    meet: Meet, campus: Campus, scheme: Any
) -> None:
    ada = meet("ada", forced_colors="active", color_scheme=scheme)
    ada.go(campus.find("/terms/{open}"))
    page = ada.page
    boxes = [".btn:visible", ".chip:visible", ".input:visible", ".banner", ".meter:visible"]
    for box in boxes:
        assert page.locator(box).first.evaluate(EDGE), box
    chip = page.locator(".filters-quick .chip").first
    before = chip.evaluate("it => getComputedStyle(it).backgroundColor")
    page.get_by_label("Open seats only").check()
    assert chip.evaluate("it => getComputedStyle(it).backgroundColor") != before
    expect(page.locator(campus.find("#act-{held}"))).to_contain_text("Enrolled")
    page.locator(campus.find("#act-{free} a")).first.click()
    expect(ada.dialog).to_be_visible()
    assert ada.dialog.evaluate(EDGE)
    page.keyboard.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
