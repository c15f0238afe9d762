"""`make translations`: gathers the texts for translators, and lists those that lack a translation.

A changed text keeps its former translation, marked `fuzzy`: the build does not use that. If the
text changed too much, both former texts stand at the end of the file until no text lacks a
translation.
"""

import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from portal.core.i18n import ENGLISH, LANGUAGES
from portal.core.settings import ROOT

OTHERS = [code for code in LANGUAGES if code != ENGLISH.language]


def gather(target: Path) -> Catalog:
    """Write the texts of the code and the templates to a file; return them."""
    subprocess.run(["/bin/sh", ".ci/texts", str(target)], cwd=ROOT, check=True)
    return read(target)


def file_of(language: str) -> Path:
    """Return the file with the translations into a language."""
    return ROOT / "portal" / "translations" / language / "LC_MESSAGES" / "messages.po"


def read(file: Path, language: str | None = None) -> Catalog:
    """Return the texts of a file."""
    with file.open("rb") as content:
        return read_po(content, locale=language)


def update(known: Catalog, texts: Catalog) -> bytes:
    """Bring the translations in line with the texts; return the new content of their file."""
    known.update(texts, update_creation_date=False)
    content = BytesIO()
    write_po(content, known, width=100, ignore_obsolete=not missing(known))
    return content.getvalue()


def missing(known: Catalog) -> list[str]:
    """Return the texts without a translation, or with that of a former text."""
    return [english(each) for each in messages(known) if each.fuzzy or not all(forms(each))]


def messages(catalog: Catalog) -> Iterator[Message]:
    """Return the texts, without the head of the file."""
    return (message for message in catalog if message.id)


def english(message: Message) -> str:
    """Return a text as it is in the code; of one with a plural, both forms."""
    return " / ".join(message.id) if message.pluralizable else message.id


def forms(message: Message) -> tuple[str, ...]:
    """Return the translation of a text: a form for each number that the language tells apart."""
    return tuple(message.string) if message.pluralizable else (message.string or "",)


def main() -> None:
    """Update the file of every language and print what it lacks."""
    texts = gather(ROOT / ".venv" / "messages.pot")
    for language in OTHERS:
        file = file_of(language)
        known = read(file, language)
        file.write_bytes(update(known, texts))
        lacking, name = missing(known), known.locale.english_name
        if not lacking:
            print(f"Every text has a translation: {name}.")
            continue
        print(f"{name} is missing for:", *lacking, sep="\n  ")
        print(
            f"Write it in {file.relative_to(ROOT)}. If a former translation is there,"
            ' correct it and delete the word "fuzzy" above it.'
        )


if __name__ == "__main__":
    main()
