"""Actions have names, or can't be stored; so have the options of imports."""

from dataclasses import fields

import pytest

from portal.core.audit_trail import AUDIT_ACTIONS, AuditEntry
from portal.exchange.importing.models import Options
from portal.reports import audit_labels


def test_no_two_actions_have_the_same_label() -> None:
    names = [audit_labels.action(code) for code in AUDIT_ACTIONS]
    assert len(set(names)) == len(names)


def test_every_option_of_an_import_has_a_label() -> None:
    assert {each.name for each in fields(Options)} == audit_labels.OPTIONS.keys()


def test_an_action_without_a_label_is_refused() -> None:
    with pytest.raises(ValueError, match="comet"):
        AuditEntry(action="comet.seen", subject="comet:1")
