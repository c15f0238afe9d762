"""Applications of the demo, in every state but the short one of being carried out."""

import csv
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw
from sqlalchemy import func, select

from portal.applications import documents, service
from portal.applications.documents import NewDocument
from portal.applications.kinds import KINDS
from portal.applications.models import PAID, REFUNDED, Application, Charge
from portal.applications.service import Decider
from portal.backend import backend
from portal.catalog.models import Course, Section
from portal.core.db import transaction
from portal.people.models import Account

FILE = Path(__file__).with_name("applications.csv")
PAPER = (850, 1100)  # pixels
ANSWERS: dict[str, dict[str, object]] = {
    "visiting": {
        "institution": "Northern College",
        "level": "undergraduate",
        "phone": "+1 555 010 0199",
        "address": "12 Harbor Street, Northern",
        "courses": "HIS-190",
        "why": "I took two years of courses in the field.",
        "truth": ["yes"],
    },
    "late_add": {"why": "I need it to graduate in June."},
    "late_drop": {"why": "I was ill for the first three weeks."},
    "permission": {"waives": ["prerequisite"], "why": "I took it at another university."},
    "credit_overload": {"why": "It is offered every second year.", "workload": "I have no job."},
}


def create(term: int) -> None:
    """Create them in the demo's term."""
    with transaction() as session:
        admin = session.scalars(select(Account).where(Account.username == "admin")).one()
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            _create(row, term, admin)


def _create(row: dict[str, str], term: int, admin: Account) -> None:
    kind, account = KINDS[row["kind"]], _account(row, admin)
    section = _section(row["class"], term)
    made = service.start(kind, account, term, section)
    service.save(made, account, dict(ANSWERS[kind.name]))
    if row["document"]:
        documents.add(made, account, NewDocument(row["document"], "letter.pdf", _paper()))
    _set_fee(made, kind.fee, row["fee"])
    if row["state"] != "draft":
        service.submit(made, account)
    if row["state"] == "withdrawn":
        service.withdraw(made, account)
    elif row["state"] in {"forward", "approved", "more", "declined"}:
        documents.check_due()
        _decide(made, row, admin.id)


def _decide(made: int, row: dict[str, str], admin: int) -> None:
    if row["state"] == "more":
        service.ask_more(made, _decider(made, row, admin))
    elif row["state"] == "declined":
        service.decline(made, _decider(made, row, admin))
    else:
        stages = len(KINDS[row["kind"]].stages) if row["state"] == "approved" else 1
        for _stage in range(stages):
            service.approve(made, _decider(made, row, admin))


def _decider(made: int, row: dict[str, str], admin: int) -> Decider:
    """Return the admin, who has just seen the application."""
    with transaction() as session:
        return Decider(admin, row["note"], session.get_one(Application, made).version)


def _set_fee(made: int, fee: int, state: str) -> None:
    """Set the fee, as if payments had been on, and a payment that ended so."""
    with transaction() as session:
        session.get_one(Application, made).fee = fee
        if state:
            charge = Charge(
                application_id=made,
                amount=fee,
                currency=backend().settings.currency,
                provider="test",
                state={"paid": PAID, "refunded": REFUNDED}[state],
                reference=f"demo_{made}",
                paid_at=func.now(),
                refunded_at=func.now() if state == "refunded" else None,
                sent_at=func.now(),
            )
            session.add(charge)


def _account(row: dict[str, str], admin: Account) -> int:
    """Return the account of a row; one of a visiting student gets the demo's password."""
    with transaction() as session:
        named = select(Account).where(Account.username == row["username"])
        account = session.scalar(named)
        if account is None:
            account = Account(
                username=row["username"],
                email=row["username"],
                name=row["name"],
                password_hash=admin.password_hash,
            )
            session.add(account)
            session.flush()
        return account.id


def _section(name: str, term: int) -> int | None:
    if not name:
        return None
    code, _, number = name.rpartition("-")
    found = select(Section.id).join(Course, Course.id == Section.course_id)
    with transaction() as session:
        return session.scalars(
            found.where(Section.term_id == term, Course.code == code, Section.number == number)
        ).one()


@cache
def _paper() -> bytes:
    """Return a page to look at, as a PDF."""
    page, out = Image.new("RGB", PAPER, "white"), BytesIO()
    lines = (
        "NORTHERN COLLEGE",
        "",
        "To whom it may concern",
        "",
        "This is a document of the demo.",
    )
    ImageDraw.Draw(page).multiline_text((90, 90), "\n".join(lines), "black", font_size=28)
    page.save(out, "PDF")
    return out.getvalue()
