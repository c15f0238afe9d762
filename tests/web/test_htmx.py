"""What asks by htmx says itself what it asks for, where that goes and how it is put there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask import Flask

from portal.core.settings import ROOT
from portal.web.http.layout import HTMX as CONFIG
from tests.cast import Cast
from tests.web.all_pages import Values, a_story
from tests.web.pages import HTMX
from tests.web.visitors import browser_of

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
ASKS = {"hx-get", "hx-post"}
# What htmx hands down to all that is inside, whatever its settings say.
HANDED_DOWN = {"hx-headers", "hx-vals", "hx-vars", "hx-ext"}
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
# A tag that asks by htmx, as a look for it takes a tenth of reading the page.
ASKING = re.compile(r'<\w(?:[^<>"]|"[^"]*")*?\shx-(?:get|post)=(?:[^<>"]|"[^"]*")*>')
INTO = {"#dialog", "#results"}  # whose content is replaced, as htmx does unless it is told


@dataclass(frozen=True)
class Tag:
    """An element with its attributes, and those of all that it is in."""

    name: str
    own: dict[str, str | None]
    around: frozenset[str]

    def __str__(self) -> str:
        return f"<{self.name} {' '.join(f'{name}={value}' for name, value in self.own.items())}>"


class Tags(HTMLParser):
    """All elements of a page, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[Tag] = []
        self._open: list[Tag] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parent = self._open[-1] if self._open else Tag("", {}, frozenset())
        around = parent.around | parent.own.keys()
        self.found.append(Tag(tag, dict(attrs), around))
        if tag not in VOID:
            self._open.append(self.found[-1])

    def handle_endtag(self, tag: str) -> None:
        names = [each.name for each in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]


def asking(html: str) -> Iterator[Tag]:
    """The elements that ask by htmx."""
    if not any(name in html for name in HANDED_DOWN):  # so it does not matter what they are in
        html = "".join(ASKING.findall(html))
    return (tag for tag in Tags(html).found if ASKS & tag.own.keys())


def lacks(tag: Tag) -> str:
    """What the element leaves open; blank where that is nothing."""
    target, swap = tag.own.get("hx-target"), tag.own.get("hx-swap")
    if target is None and swap != "none":
        return "no target"
    if swap is None and target not in INTO:
        return "no swap"
    return ", ".join(sorted(HANDED_DOWN & tag.around)) and "takes what is around it"


def lost(tag: Tag, html: str) -> bool:
    """Return whether the element's target is nowhere on a whole page."""
    target = tag.own.get("hx-target") or "this"
    return "<html" in html and target.startswith("#") and f'id="{target[1:]}"' not in html


def plain(template: Path) -> str:
    """The tags of a template, with the attributes of all its cases."""
    return re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", "", template.read_text(), flags=re.DOTALL)


def test_no_htmx_attribute_is_inherited() -> None:
    assert CONFIG["disableInheritance"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_htmx_element_states_its_target(template: Path) -> None:
    tags = Tags(plain(template)).found
    wrong = [f"{lacks(tag)}: {tag}" for tag in tags if ASKS & tag.own.keys() and lacks(tag)]
    assert not wrong
    assert not [str(tag) for tag in tags if {"hx-inherit", "hx-disinherit"} & tag.own.keys()]


@pytest.fixture
def values(app: Flask, cast: Cast) -> Values:
    return a_story(app, cast)


def test_fragments_state_their_own_targets(app: Flask, values: Values) -> None:
    browser = browser_of(app, "ada")
    for term in values["term_id"]:
        for part in ("stage", "plan/panel?full=1"):
            html = browser.get(f"/terms/{term}/{part}", headers=HTMX).text
            assert not [str(tag) for tag in asking(html) if lacks(tag)]
