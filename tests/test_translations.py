"""Every text that people read has its words in every language."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from portal.core.i18n import ENGLISH, LANGUAGES
from portal.core.settings import ROOT

PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|%%|</?\w+")
OTHERS = [code for code in LANGUAGES if code != ENGLISH.language]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """What stands in the code and the templates."""
    target = tmp_path_factory.mktemp("texts") / "messages.pot"
    subprocess.run(["/bin/sh", ".ci/texts", str(target)], cwd=ROOT, check=True)
    return _read(target)


@pytest.fixture(scope="module", params=OTHERS)
def known(request: pytest.FixtureRequest) -> Catalog:
    """What is translated into one language."""
    path = ROOT / "portal" / "translations" / request.param / "LC_MESSAGES" / "messages.po"
    return _read(path, request.param)


def test_every_text_is_translated(texts: Catalog, known: Catalog) -> None:
    found = {str(message.id): known.get(message.id) for message in _messages(texts)}
    missing = [text for text, message in found.items() if not (message and all(_forms(message)))]
    assert not missing, "\n".join(["Not translated yet:", *missing])


def test_nothing_is_translated_that_nobody_says(texts: Catalog, known: Catalog) -> None:
    stale = [str(message.id) for message in _messages(known) if not texts.get(message.id)]
    assert not stale, "\n".join(["PageText no more:", *stale])
    assert not known.obsolete


def test_no_translation_is_a_guess(known: Catalog) -> None:
    assert [str(message.id) for message in _messages(known) if message.fuzzy] == []


def test_a_translation_keeps_what_is_filled_in(known: Catalog) -> None:
    wrong = [str(message.id) for message in _messages(known) if not _fits(message)]
    assert not wrong, "\n".join(["Other placeholders or tags:", *wrong])


def test_every_plural_has_all_its_forms(known: Catalog) -> None:
    plurals = [message for message in _messages(known) if message.pluralizable]
    assert [str(each.id) for each in plurals if len(_forms(each)) != known.num_plurals] == []


def _read(path: Path, language: str | None = None) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=language)


def _messages(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def _forms(message: Message) -> tuple[str, ...]:
    return tuple(message.string) if message.pluralizable else (str(message.string),)


def _fits(message: Message) -> bool:
    """A form for one may leave the number out, as English may; the others say all of it."""
    said = message.id if message.pluralizable else (message.id,)
    wanted = sorted(PLACEHOLDER.findall(said[-1]))
    one, *others = (sorted(PLACEHOLDER.findall(form)) for form in reversed(_forms(message)))
    fewer = [each for form in others for each in form if each not in wanted]
    return one == wanted and not fewer
