"""Entries to be found."""

from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert

from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def admin(app: Flask, cast: Cast) -> FlaskClient:
    assert cast
    return browser_of(app, "max")


def an_entry(action: str = "window.close", subject: str = "term:1 window:2", **fields: Any) -> int:
    """One entry, of whatever kind earlier versions may have had; `day` is one of January 2030."""
    day = fields.pop("day", None)
    if day:
        fields["at"] = datetime(2030, 1, day, 12, tzinfo=UTC)
    facts = {"action": action, "subject": subject, "reason": "", **fields}
    with transaction() as session:
        made = insert(AuditEntry).values(facts).returning(AuditEntry.id)
        return session.scalars(made).one()
