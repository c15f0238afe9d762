"""The codes of a draw, fixed under a root before a public value is known.

1. The registrar names a public value of the future for a window, such as a round of drand.
2. Before it can be known, a job gives each student a code and publishes the root of a hash tree
   over the pseudonyms, the SHA-256 of the codes.
3. Once it is known, and before the window opens, the registrar enters it. The ledger then orders
   the early students by seed, public value and pseudonym.

Without it a rank comes from seed and request, and the portal chose both.
"""

import json
import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from secrets import token_hex
from threading import Condition
from typing import Any

from cachetools import LRUCache, cached
from sqlalchemy import Connection, ForeignKey, LargeBinary, String, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from portal.allocation.proof import canonical, code_of, seed_of, sha256, tree_of
from portal.backend import backend
from portal.core.audit_trail import add_audit_entry
from portal.core.db import Base, ChangedMeanwhile, transaction
from portal.core.errors import Refused
from portal.core.i18n import _l
from portal.core.moments import milliseconds, moment
from portal.ledger.function_library import translate_errors
from portal.ledger.types import WindowView
from portal.people.models import Student
from portal.waiting_room import room
from portal.windows import drand, draw_seeds
from portal.windows.draw_seeds import rank, room_key
from portal.windows.rounds import may_be_known

log = logging.getLogger(__name__)
FORMAT = "fairseat draw 1"
TO_FIX = timedelta(minutes=10)  # from when on codes are fixed, before the value may be known
LATE = timedelta(minutes=2)  # after which codes that are still not fixed are late
TO_ENTER = timedelta(minutes=10)  # from the value to the opening, for the registrar


REFUSED = {
    "soon": _l("The value must be known in more than ten minutes: the codes are fixed before."),
    "opening": _l("The value must be known ten minutes before the opening or earlier."),
    "drand": drand.REFUSED,
    "fixed": _l("The codes are fixed, so the public value can’t be another one."),
    "unfixed": _l(
        "No codes were fixed before the value could be known. The draw uses the secret seed alone."
    ),
    "early": _l("The public value can’t be known yet. Enter it from the moment that is shown."),
    "late": _l("Too late: the window opens, or was open. The draw uses the secret seed alone."),
    "other": _l("Another value was entered already."),
    "seed": _l(
        "The ledger has lost the seed that was fixed with the codes. The draw uses its new secret"
        " seed alone."
    ),
    "codes": _l("The ledger has lost the order meanwhile. Try again."),
}


class DrawRefused(Refused):
    """A change to a draw that is not possible."""

    texts = REFUSED


class DrawCodes(Base):
    """The public value that a window's draw will use; `root` and `codes` are set at the fixing.

    The codes are made with `code_key`, which is never published.
    """

    __tablename__ = "draw_codes"

    window_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), index=True)
    public_source: Mapped[str] = mapped_column(String(300))
    public_at: Mapped[datetime]
    version: Mapped[int]
    code_key: Mapped[str] = mapped_column(String(64))
    root: Mapped[str | None] = mapped_column(String(64))
    # Compressed JSON: the settings under the root; pseudonyms and numbers by student.
    codes: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


@dataclass(frozen=True)
class FixedCodes:
    """The content of a root: the settings, and the pseudonym of each student.

    `numbers` are those of the students at the fixing, which their codes begin with.
    """

    settings: dict[str, Any]
    by_student: Mapping[int, str]
    numbers: Mapping[int, str]
    root: str

    @cached_property
    def pseudonyms(self) -> list[str]:
        """Return the pseudonyms in alphabetical order, which says nothing about the students."""
        return sorted(self.by_student.values())

    @cached_property
    def file(self) -> dict[str, Any]:
        """Return the part of the published file that is known before the opening."""
        known = {"root": self.root, "settings": self.settings, "codes": self.pseudonyms}
        return {"format": FORMAT, **known}

    @cached_property
    def text(self) -> bytes:
        """Return `file` as JSON."""
        return canonical(self.file).encode()

    @cached_property
    def is_under_root(self) -> bool:
        """Return whether settings and pseudonyms give the root."""
        return tree_of([self.settings, *self.pseudonyms])[-1][0] == self.root


def find(window: int) -> DrawCodes | None:
    """Return the named public value of a window, None if there is none."""
    with transaction() as session:
        return session.get(DrawCodes, window)


def public_value(term: int, window: int) -> str:
    """Return the public value that the ledger used for a draw; empty if none."""
    with translate_errors():
        found: Any = backend().ledger.redis(term).hget(room_key(term, window), "public")
    return found.decode() if found else ""


def name_source(  # noqa: PLR0913, PLR0917  the parts of a change
    term: int, window: WindowView, version: int, source: str, at: int, by: int, reason: str
) -> None:
    """Name a public value, and when (ms) it can be known; `version` is 0 for the first name.

    Raise DrawRefused or ChangedMeanwhile.
    """
    if not drand.suits(source, at):
        raise DrawRefused("drand")
    appearing = drand.find(source)
    known = max(at, appearing.appears) if appearing else at
    if moment(known) + TO_ENTER > moment(window.opens):
        raise DrawRefused("opening")
    values = {"term_id": term, "public_source": source, "public_at": moment(at)}
    first = {"window_id": window.id, "version": 0, "code_key": token_hex(32)}
    with transaction() as session:
        session.execute(insert(DrawCodes).values(**values, **first).on_conflict_do_nothing())
        found = session.get_one(DrawCodes, window.id, with_for_update=True)
        if found.version != version:
            raise ChangedMeanwhile
        if found.root:
            raise DrawRefused("fixed")
        if may_be_known(session, moment(at) - TO_FIX):
            raise DrawRefused("soon")
        before = _facts(found) if version else None
        found.public_source, found.public_at, found.version = source, moment(at), version + 1
        _record(session, "window.public_source", found, by, reason, before)


DUE = select(DrawCodes.window_id, DrawCodes.term_id).where(
    DrawCodes.term_id.in_(bindparam("terms", expanding=True)),
    DrawCodes.root.is_(None),
    DrawCodes.public_at > func.clock_timestamp(),
    DrawCodes.public_at <= func.clock_timestamp() + TO_FIX,
)


def due(session: Session | Connection, terms: Sequence[int]) -> list[tuple[int, int]]:
    """Return each window of these terms whose codes are to be fixed now, and its term."""
    return [(window, term) for window, term in session.execute(DUE, {"terms": terms})]


def late(session: Session, terms: Sequence[int]) -> list[DrawCodes]:
    """Return the draws of these terms whose codes should be fixed by now, and are not."""
    query = select(DrawCodes).where(
        DrawCodes.term_id.in_(terms),
        DrawCodes.root.is_(None),
        DrawCodes.public_at <= func.clock_timestamp() + TO_FIX - LATE,
    )
    return list(session.scalars(query))


def fix(window: int) -> None:
    """Give every student a code and store the root, unless the public value may be known."""
    with transaction() as session:
        found = session.get_one(DrawCodes, window)
        students = select(Student.id, Student.number).where(Student.deleted_at.is_(None))
        numbers = dict(session.execute(students).all())
    settings = {
        "term": found.term_id,
        "window": window,
        "public_source": found.public_source,
        "commitment": draw_seeds.commitment(found.term_id, window),
        "public_at": milliseconds(found.public_at),
    }
    key = found.code_key
    codes = {each: sha256(code_of(key, each, number)) for each, number in numbers.items()}
    root = tree_of([settings, *sorted(codes.values())])[-1][0]
    stored = {"settings": settings, "codes": codes, "numbers": numbers}
    packed = zlib.compress(canonical(stored).encode())
    with transaction() as session:
        again = session.get_one(DrawCodes, window, with_for_update=True)
        if again.root or again.version != found.version:
            return
        if may_be_known(session, again.public_at):
            log.warning("The codes of window %s are not fixed: too late.", window)
            return
        again.root, again.codes = root, packed
        _record(session, "window.codes", again, None, "", None, root=root, all=len(codes))


def enter_value(term: int, window: int, value: str, by: int, reason: str) -> None:
    """Let the public value order the early students, once. Raise DrawRefused."""
    found = find(window)
    if found is None or not found.root:
        raise DrawRefused("unfixed")
    draw_seeds.forget()  # the ledger may have lost the seed that this process knows
    seed = draw_seeds.seed(term, window)
    if sha256(seed) != fixed(window).settings["commitment"]:
        raise DrawRefused("seed")
    scores = ranks(window, seed, value)
    with transaction() as session:
        if not may_be_known(session, found.public_at):
            raise DrawRefused("early")
        _record(session, "window.public_value", found, by, reason, None, public_value=value)
        session.flush()
        # The ledger's step is the last one. If the transaction fails after it, the same value can
        # be entered again, and no other one.
        if refusal := room.use_public_value(term, window, value, seed, scores):
            raise DrawRefused(refusal)


def not_yet(found: DrawCodes) -> str:
    """Return why the public value can't be entered now, a code of DrawRefused; empty if it can.

    Only the ledger knows whether it is too late.
    """
    if not found.root:
        return "unfixed"
    return "" if is_known(found) else "early"


def is_known(found: DrawCodes) -> bool:
    """Return whether the public value may be known, so that no codes can be fixed any more."""
    with transaction() as session:
        return may_be_known(session, found.public_at)


@lru_cache(maxsize=8)
def ranks(window: int, seed: str, value: str) -> dict[int, float]:
    """Return the score under a public value of each student with a code, below a half."""
    drawn = seed_of(seed, value)
    return {student: rank(drawn, each) / 2 for student, each in fixed(window).by_student.items()}


def score(of: Mapping[str, Any], student: int, entry: str) -> float:
    """Return the score of an early entry in a recorded room, as its functions compute it."""
    own = rank(of["seed"], entry)
    if of["public"] is None:
        return own
    return ranks(of["window_id"], of["seed"], of["public"]).get(student, 0.5 + own / 2)


def code(found: DrawCodes, student: int) -> str:
    """Return a student's code; empty for one who came after the fixing."""
    number = fixed(found.window_id).numbers.get(student)
    return code_of(found.code_key, student, number) if number else ""


def fixed(window: int) -> FixedCodes:
    """Return what was fixed for a window; without codes if nothing was."""
    with transaction() as session:
        root = session.scalar(select(DrawCodes.root).where(DrawCodes.window_id == window))
    return _fixed(window, root) if root else FixedCodes({}, {}, {}, "")


@cached(LRUCache(maxsize=8), condition=Condition())
def _fixed(window: int, root: str) -> FixedCodes:
    """Return the codes under a root, which never change: each process reads them once."""
    with transaction() as session:
        packed = session.scalar(select(DrawCodes.codes).where(DrawCodes.window_id == window))
    stored = json.loads(zlib.decompress(packed or b""))
    codes, numbers = (
        {int(student): each for student, each in stored[name].items()}
        for name in ("codes", "numbers")
    )
    return FixedCodes(stored["settings"], codes, numbers, root)


def _facts(found: DrawCodes) -> dict[str, Any]:
    at = milliseconds(found.public_at)
    return {"public_source": found.public_source, "public_at": at}


def _record(  # noqa: PLR0913, PLR0917  the parts of an entry
    session: Session,
    action: str,
    found: DrawCodes,
    by: int | None,
    reason: str,
    before: dict[str, Any] | None,
    **more: str | int,
) -> None:
    subject = f"term:{found.term_id} window:{found.window_id}"
    after = _facts(found) | more
    add_audit_entry(session, action, subject, by=by, before=before, after=after, reason=reason)
