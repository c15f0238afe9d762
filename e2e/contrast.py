"""Ways in which people look at a page."""

from playwright.sync_api import Page, ViewportSize

LAPTOP = ViewportSize(width=1366, height=768)
DESKTOP = ViewportSize(width=1280, height=860)
ZOOMED = ViewportSize(width=640, height=430)  # the desktop at 200 %
PHONE = ViewportSize(width=390, height=844)
NARROW = ViewportSize(width=320, height=640)

# What WCAG 1.4.12 lets a reader set.
SPACED = """
* { line-height: 1.5 !important }
* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
p { margin-block-end: 2em !important }
"""


def space_text(page: Page, css: str = SPACED) -> None:
    """Set the text wider, as a reader's own style sheet does."""
    page.evaluate(
        """css => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(css);
            document.adoptedStyleSheets = [sheet];
        }""",
        css,
    )


def places(page: Page, *selectors: str) -> list[list[float]]:
    """Left, top, width and height of what is shown, all of one moment between two updates."""
    found: list[list[float]] = page.evaluate(
        """selectors => selectors.map((selector) => {
            const box = document.querySelector(selector).getBoundingClientRect();
            return [box.x, box.y, box.width, box.height];
        })""",
        selectors,
    )
    return found
