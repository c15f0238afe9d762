"""What the forms about sections have in common: what is offered to choose, and what follows."""

from typing import Any

from flask import flash
from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.admin.sections import reserves
from portal.admin.sections.fields import Form
from portal.admin.sections.meetings import MOST, rows
from portal.catalog import formatting
from portal.catalog.models import Room
from portal.catalog.sections import named_teachers
from portal.core.i18n import _
from portal.windows import cohorts
from portal.windows.warmup import send_sections


def choices(session: Session, form: Form) -> dict[str, Any]:
    """What the form of a section offers, and how many rows of each kind it has."""
    kept = reserves.rows(form)
    rooms = select(Room.name).where(Room.deleted_at.is_(None)).order_by(Room.name)
    return {
        "teachers": [each.name for each in named_teachers(session)],
        "rooms": list(session.scalars(rooms)),
        "codes": {code: str(name) for code, name in formatting.KINDS.items() if len(code) == 3},
        "days": list(zip(formatting.DAYS, formatting.day_names(), strict=True)),
        "rows": min(MOST, rows(form) + (form.get("more") == "yes")),
        "full": rows(form) >= MOST,
        "keeps": min(reserves.MOST, kept + (form.get("more") == "kept")),
        "all_kept": kept >= reserves.MOST,
        "whom": cohorts.choices(session),
    }


def told(term_id: int, *section_ids: int) -> None:
    """Have the change act; where the ledger is away, say that it will."""
    if not send_sections(term_id, *section_ids):
        flash(
            _(
                "It is stored. The seat ledger does not answer just now;"
                " students’ pages follow as soon as it does."
            )
        )
