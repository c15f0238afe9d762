"""POST /admin/terms/<t>/windows with a list of students, pasted or from a file."""

import json
import re
from html import unescape
from io import BytesIO

from flask.testing import FlaskClient
from sqlalchemy import insert
from werkzeug.test import TestResponse

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.people.models import Account, Student
from portal.windows import cohorts
from tests.cast import Cast
from tests.web.admin.windows.scheduling import confirm, send, windows


def a_crowd(size: int) -> list[str]:
    """Create so many students and return their numbers."""
    numbers = [f"66{at:06}" for at in range(size)]
    with transaction() as session:
        made = insert(Account).returning(Account.id)
        accounts = session.scalars(made, [{"username": each, "name": each} for each in numbers])
        rows = zip(accounts.all(), numbers, strict=True)
        session.execute(
            insert(Student), [{"account_id": account, "number": each} for account, each in rows]
        )
    return numbers


def plain(answer: TestResponse) -> str:
    """Return the text of a page."""
    return " ".join(unescape(re.sub("<[^>]+>", " ", answer.text)).split())


def test_list_of_students_can_be_uploaded(admin: FlaskClient, term: Term, cast: Cast) -> None:
    listed = f"Number;Name\r\n{cast.ada.number};Ada\r\n{cast.ben.number};Ben\r\n".encode()
    file = (BytesIO(listed), "athletes.csv")
    looked = send(admin, term, whom="some", students=cast.cleo.number, file=file)
    assert "3 students" in looked.text
    confirm(admin, looked)
    people = sorted([cast.ada.number, cast.ben.number, cast.cleo.number])
    assert windows(term)[0].cohort == {"students": people}


def test_invalid_file_is_shown_by_its_beginning(admin: FlaskClient, term: Term) -> None:
    answer = send(admin, term, whom="some", file=(BytesIO(b"1" * 140_000), "photo.csv"))
    assert answer.status_code == 422
    assert f"No student has the number {'1' * 64}." in plain(answer)


def test_cells_may_be_quoted(admin: FlaskClient, term: Term, cast: Cast) -> None:
    listed = f'"Number","Name"\n"{cast.ada.number}","Smith, Ada"\n\n'.encode()
    looked = send(admin, term, whom="some", file=(BytesIO(listed), "list.csv"))
    confirm(admin, looked)
    assert windows(term)[0].cohort == {"students": [cast.ada.number]}


def test_unknown_and_duplicate_numbers_are_reported(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    numbers = [cast.ada.number, cast.ben.number, cast.ada.number, "Z1", "Z2"]
    looked = send(admin, term, whom="some", students="\n".join(numbers))
    page = plain(looked)
    assert "Your list has 5 numbers. 1 duplicate was ignored." in page
    assert "2 of the numbers belong to no student and are left out. Z1, Z2" in page
    assert "2 students will see it" in page
    confirm(admin, looked)
    assert windows(term)[0].cohort == {"students": sorted(numbers[:2])}


def test_long_list_is_not_stored_in_the_ledger(admin: FlaskClient, term: Term) -> None:
    crowd = a_crowd(3000)
    looked = send(admin, term, whom="some", students="\r\n".join([*crowd, *crowd]))
    assert "3,000 students will see it" in plain(looked)
    confirm(admin, looked)
    [window] = windows(term)
    assert window.cohort.keys() == {"list"}
    assert len(json.dumps(window.cohort)) < 50
    with transaction() as session:
        assert cohorts.count_students(session, window.cohort) == 3000
    page = plain(admin.get("/admin"))
    assert "a list of 3,000 students" in page
    assert "3,000 students · 3,000 students" not in page


def test_list_has_a_maximum_length(admin: FlaskClient, term: Term) -> None:
    many = " ".join(f"X{number}" for number in range(100_001))
    answer = send(admin, term, whom="some", students=many)
    assert answer.status_code == 422
    assert "it can have 100,000" in unescape(answer.text)
