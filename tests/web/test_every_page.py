"""Every page of everyone in Spanish: nothing English is left over, and no htmx target is lost."""

import re
from html import unescape
from itertools import product

import pytest
from babel.messages.pofile import read_po
from flask import Flask

from portal.core.settings import ROOT
from tests.cast import Cast
from tests.web.all_pages import Values, a_story, pages_of
from tests.web.pages import DIALOG
from tests.web.test_htmx import asking, lacks, lost
from tests.web.visitors import browser_of

CATALOGUE = ROOT / "portal" / "translations" / "es" / "LC_MESSAGES" / "messages.po"
GAPS = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>")
LONG = 12  # what is shorter may be a part of a name
SPANISH = {"Accept-Language": "es"}


# No one reads the names of fields.
NAMES = re.compile(r" (?:name|id|for|class|aria-describedby|href)=\"[^\"]*\"")


@pytest.fixture(scope="module")
def english() -> set[str]:
    """What is said in English, in as many pieces as it is filled in, where Spanish says another."""
    with CATALOGUE.open("rb") as file:
        known = read_po(file, locale="es")
    result = [(message.id, message.string) for message in known if message.id]
    pairs = [
        (each, str(found))
        for ids, found in result
        for each in ([ids] if isinstance(ids, str) else ids)
    ]
    pieces = {piece.strip() for text, found in pairs if text != found for piece in GAPS.split(text)}
    spanish = " ".join(found for _, found in pairs)
    found = {piece for piece in pieces if len(piece) > LONG and piece not in spanish}
    assert not [piece for piece in found if "\n" in piece]  # so lines can be read one by one
    return found


def said(english: set[str], text: str) -> list[str]:
    """Those pieces that are in the text; most don't even begin anywhere in it, which is fast."""
    begun = {text[at : at + LONG] for at in range(len(text))}
    return [piece for piece in english if piece[:LONG] in begun and piece in text]


@pytest.fixture
def story(app: Flask, cast: Cast) -> Values:
    return a_story(app, cast)


@pytest.mark.parametrize("username", ["ada", "iris", "max"])
def test_no_page_or_dialog_has_english_text_or_a_lost_htmx_target(
    app: Flask, story: Values, english: set[str], username: str
) -> None:
    client, seen, asked, left, wrong = browser_of(app, username), 0, 0, dict[str, str](), []
    read = set[str]()  # lines, most of which are on many pages
    for address, headers in product(pages_of(app, story, username), (SPANISH, SPANISH | DIALOG)):
        answer = client.get(address, headers=headers)
        if answer.mimetype == "text/html" and not answer.location:
            lines = set(unescape(NAMES.sub("", answer.text)).split("\n")) - read
            left |= dict.fromkeys(said(english, "\n".join(lines)), address)
            read |= lines
        if answer.mimetype == "text/html" and answer.status_code == 200:
            found = list(asking(answer.text))
            wrong += [f"{address}: {lacks(tag)}: {tag}" for tag in found if lacks(tag)]
            wrong += [f"{address}: lost: {tag}" for tag in found if lost(tag, answer.text)]
            asked += len(found)
            seen += 1
    assert left == {}
    assert not wrong
    assert seen > 3
    assert asked > 20


def test_anonymous_visitor_gets_spanish(app: Flask, english: set[str]) -> None:
    text = unescape(app.test_client().get("/login", headers=SPANISH).text)
    assert said(english, text) == []


def test_check_finds_english_text(app: Flask, english: set[str]) -> None:
    text = unescape(app.test_client().get("/login").text)
    assert said(english, text)
