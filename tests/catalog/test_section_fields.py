"""The table of section fields: everything else knows each field of it."""

from dataclasses import fields

import pytest

from portal.catalog.models import Section
from portal.catalog.section_fields import FIELDS, PLAIN, SectionDetails
from portal.catalog.views import SectionView
from portal.exchange.importing.columns import choices
from portal.exchange.importing.headings import SCHEDULE, is_known
from portal.exchange.importing.oneroster_fields import SCHEMAS
from portal.exchange.records import KINDS
from portal.web.admin.section_forms import SectionForm


def test_each_plain_field_is_a_column_and_is_loaded() -> None:
    for each in PLAIN:
        assert each.column in Section.__table__.columns
        assert each.name in {known.name for known in fields(SectionView)}


def test_each_typed_field_is_in_the_form() -> None:
    for each in FIELDS.values():
        assert each.part == "lists" or hasattr(SectionForm, each.name)


def test_each_plain_field_is_compared_and_stored_by_imports() -> None:
    section = KINDS["section"]
    for each in PLAIN:
        assert f"'{each.name}', sections.{each.column}" in section.select
        assert f"{each.column} = excluded.{each.column}" in section.upsert
        assert each.name == "title" or each.name in SCHEMAS["section"]().fields


@pytest.mark.parametrize("table", ["sections.csv", SCHEDULE])
def test_an_import_knows_the_column_of_each_field(table: str) -> None:
    for each in PLAIN:
        if each.imported_from:
            assert is_known(each.imported_from, table)
            assert choices(table)[each.imported_from]


def test_every_field_has_a_label_and_is_worded() -> None:
    nothing = SectionDetails()
    for each in FIELDS.values():
        assert str(each.label)
        assert isinstance(each.lines(getattr(nothing, each.name)), list)
