"""Every text that people read has its words in every language."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo

from tests.translations import (
    OTHERS,
    english,
    file_of,
    forms,
    gather,
    messages,
    missing,
    read,
    update,
)

PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|%%|</?\w+")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """What stands in the code and the templates."""
    return gather(tmp_path_factory.mktemp("texts") / "messages.pot")


@pytest.fixture(scope="module", params=OTHERS)
def known(request: pytest.FixtureRequest) -> Catalog:
    """What is translated into one language."""
    return read(file_of(request.param), request.param)


def test_every_text_is_translated(texts: Catalog, known: Catalog) -> None:
    lacking = [english(each) for each in messages(texts) if each.id not in known]
    assert not lacking + missing(known), "`make translations` lists what lacks a translation."


@pytest.mark.parametrize("language", OTHERS)
def test_file_is_as_make_translations_writes_it(texts: Catalog, language: str) -> None:
    file = file_of(language)
    same = update(read(file, language), texts) == file.read_bytes()
    assert same, f"Run `make translations` and commit {file}."


def test_changed_text_keeps_its_former_translation_out_of_the_build(tmp_path: Path) -> None:
    known, texts, file = Catalog("es", fuzzy=False), Catalog(), tmp_path / "messages.po"
    known.add("The class is full.", "La clase está llena.")
    texts.add("This class is full.")
    file.write_bytes(update(known, texts))

    after = read(file, "es")
    assert after["This class is full."].string == "La clase está llena."
    assert missing(after) == ["This class is full."]
    assert update(after, texts) == file.read_bytes()
    assert "This class is full." not in _built(file)


def test_former_text_stays_at_the_end_until_every_text_is_translated(tmp_path: Path) -> None:
    known, texts, file = Catalog("es", fuzzy=False), Catalog(), tmp_path / "messages.po"
    known.add("The class is full.", "La clase está llena.")
    texts.add("Wait for a free seat")
    file.write_bytes(update(known, texts))

    after = read(file, "es")
    assert missing(after) == ["Wait for a free seat"]
    assert after.obsolete["The class is full."].string == "La clase está llena."
    after["Wait for a free seat"].string = "Espera una plaza libre"
    assert b"The class is full." not in update(after, texts)


def test_a_translation_keeps_what_is_filled_in(known: Catalog) -> None:
    wrong = [str(message.id) for message in messages(known) if not _fits(message)]
    assert not wrong, "\n".join(["Other placeholders or tags:", *wrong])


def test_every_plural_has_all_its_forms(known: Catalog) -> None:
    plurals = [message for message in messages(known) if message.pluralizable]
    assert [str(each.id) for each in plurals if len(forms(each)) != known.num_plurals] == []


def _fits(message: Message) -> bool:
    """A form for one may leave the number out, as English may; the others say all of it."""
    said = message.id if message.pluralizable else (message.id,)
    wanted = sorted(PLACEHOLDER.findall(said[-1]))
    one, *others = (sorted(PLACEHOLDER.findall(form)) for form in reversed(forms(message)))
    fewer = [each for form in others for each in form if each not in wanted]
    return one == wanted and not fewer


def _built(file: Path) -> Catalog:
    """Return the translations that the portal would load."""
    target = file.with_suffix(".mo")
    build = [sys.executable, "-m", "babel.messages.frontend", "-q", "compile", "-i", file]
    subprocess.run([*build, "-o", target], check=True)
    with target.open("rb") as content:
        return read_mo(content)
