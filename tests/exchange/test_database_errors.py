"""What the database refuses of an import is told in words, and in full in the log alone."""

import logging
import re
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from portal.core.i18n import in_language, translated
from portal.exchange.importing.failures import ImportFailedError
from tests.cast import Cast
from tests.exchange.makers import latest, page, press, sent
from tests.exchange.oneroster import School, imported
from tests.owner_role import as_owner
from tests.web.visitors import browser_of


def test_a_value_that_only_one_may_have_is_named_and_the_rest_is_in_the_log(
    app: Flask, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    boss = browser_of(app, "max")
    import_id = sent(boss, School().zip(), layout="oneroster")
    with as_owner() as session:
        session.execute(text("CREATE UNIQUE INDEX only_one ON sections ((1))"))
    try:
        press(boss, import_id, "apply")
        more = School().add("classes", **School().rows["classes"][0] | {"sourcedId": "90002"})
        import_id = sent(boss, more.zip(), layout="oneroster")
        with caplog.at_level(logging.ERROR, "fairseat.imports"):
            press(boss, import_id, "apply")
    finally:
        with as_owner() as session:
            session.execute(text("DROP INDEX only_one"))
    shown = page(boss, import_id)
    assert "Sections: “1” is already used by another record" in shown
    assert "only_one" not in shown
    code = re.search(r"under ([0-9a-f]{16})", shown)
    assert code
    assert code[1] in caplog.text
    assert "only_one" in caplog.text
    assert latest().state == "failed"
    assert cast.max


@pytest.mark.usefixtures("backend")
def test_the_command_says_the_same(tmp_path: Path, nobody_may_teach: None) -> None:
    assert nobody_may_teach is None
    with pytest.raises(
        ImportFailedError, match=r"Instructors of sections: .* values that are too long"
    ):
        imported(School().write(tmp_path))


@pytest.mark.usefixtures("app")
def test_the_kind_of_record_is_translated() -> None:
    failure = ImportFailedError("%(what)s: it is so.", what="Sections")
    with in_language("es"):
        assert translated(failure.stored).startswith("Grupos: ")
