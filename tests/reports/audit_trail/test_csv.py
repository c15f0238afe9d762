"""GET /admin/audit.csv."""

import csv
from io import StringIO

import pytest
from flask.testing import FlaskClient

from portal.reports import audit_trail
from tests.cast import Cast
from tests.reports.audit_trail.conftest import an_entry


def rows(admin: FlaskClient, query: str = "") -> list[list[str]]:
    answer = admin.get(f"/admin/audit.csv{query}")
    assert answer.mimetype == "text/csv"
    return list(csv.reader(StringIO(answer.data.decode("utf-8-sig"))))


def test_it_has_what_fits_as_it_is_kept(admin: FlaskClient, cast: Cast) -> None:
    an_entry("job.retry")
    number = an_entry(account_id=cast.max.id, after={"name": "Ñ"}, reason="Why not.", day=3)
    head, row = rows(admin, "?action=window.close")
    assert head[:4] == ["Entry", "Time", "Who", "Username"]
    assert row == [
        *(str(number), "2030-01-03T12:00:00.000+00:00", "Max", "max"),
        *("window.close", "term:1 window:2", "null", '{"name": "Ñ"}', "Why not."),
    ]


def test_it_goes_on_beyond_a_batch(admin: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_trail, "BATCH", 3)
    made = [str(an_entry()) for _ in range(7)]
    assert [row[0] for row in rows(admin)[1:]] == made[::-1]


def test_no_reason_is_taken_for_a_formula(admin: FlaskClient) -> None:
    an_entry(reason="=1+1")
    assert rows(admin)[1][-1] == "'=1+1"
