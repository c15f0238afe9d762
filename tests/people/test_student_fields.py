"""The table of student fields: everything else knows each field of it."""

import pytest
from sqlalchemy import String

from portal.catalog.record_details import RecordField
from portal.exchange.importing.oneroster_fields import STUDENT
from portal.exchange.records import KINDS
from portal.people.models import Student
from portal.people.student_fields import StudentDetails
from portal.web.admin.student_editing import StudentForm

FIELDS = StudentDetails.fields()
PLAIN = StudentDetails.plain_fields()


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_is_in_the_form_and_has_a_label(name: str) -> None:
    assert hasattr(StudentForm, name)
    assert str(FIELDS[name].label)


@pytest.mark.parametrize("field", PLAIN, ids=lambda each: each.name)
def test_each_plain_field_is_a_column_that_imports_store(field: RecordField) -> None:
    stored = Student.__table__.c[field.column].type
    assert not isinstance(stored, String) or stored.length == field.longest
    if field.name == "number":  # the key
        return
    assert f"'{field.name}', " in KINDS["student"].select
    assert f"{field.column} = excluded.{field.column}" in KINDS["student"].upsert
    assert field.name in STUDENT().fields
