"""The table of a term's rules: everything else knows each of them."""

from portal.catalog.models import Term
from portal.catalog.term_fields import TERM_RULES, rule_values
from portal.exchange.importing.oneroster_fields import SCHEMAS
from portal.exchange.records import KINDS
from portal.web.admin.term_rules import RulesForm
from portal.web.api.catalog import Semester


def test_each_rule_is_a_column_with_the_same_default() -> None:
    assert TERM_RULES
    for each in TERM_RULES.values():
        column = Term.__table__.columns[each.name]
        assert column.nullable == each.optional
        default = column.default.arg if column.default and column.default.is_scalar else None
        assert default is None or default == each.default


def test_each_rule_is_loaded_and_can_be_changed() -> None:
    known = Term(**dict.fromkeys(TERM_RULES))
    assert rule_values(known).keys() == TERM_RULES.keys()
    for each in TERM_RULES.values():
        assert str(each.label)
        assert hasattr(RulesForm, each.name)


def test_each_rule_is_compared_and_stored_by_imports() -> None:
    term = KINDS["term"]
    for name in TERM_RULES:
        assert f"'{name}', " in term.select
        assert f"{name} = excluded.{name}" in term.upsert
        assert name in SCHEMAS["term"]().fields


def test_programs_read_each_rule_that_is_for_them() -> None:
    for each in TERM_RULES.values():
        assert (each.name in Semester().fields) == each.in_api
