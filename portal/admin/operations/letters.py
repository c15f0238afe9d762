"""GET and POST /admin/operations/letters/<id>/…: a job that was given up, once more or never."""

from flask import Blueprint
from flask.typing import ResponseReturnValue

from portal.admin.operations.asking import Question
from portal.admin.operations.fates import Fate, asked, settled
from portal.admin.windows.pages import clock
from portal.backend import backend
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.ledger.function_library import translate_errors
from portal.ops import dead
from portal.ops.dead import DeadLetter
from portal.ops.names import QUEUES
from portal.people.models import AuditEntry
from portal.web.http.access import requires, visitor

GONE = _l("This job is gone: somebody else has dealt with it, or a later one did.")
FATES = {
    "retry": Fate(
        _l("Try this job again"),
        _l("A worker does it as soon as one is free. If it goes on failing it comes back here."),
        _l("Try it again"),
        _l("It will be tried again."),
        GONE,
    ),
    "discard": Fate(
        _l("Discard this job"),
        _l(
            "Nothing is lost with it: what it left undone stands in the ledger or in PostgreSQL."
            " For a term another job is made after a rest; an import, an export or an audit waits"
            " on its page until somebody asks for it again."
        ),
        _l("Discard it"),
        _l("It is discarded."),
        GONE,
        danger=True,
    ),
}
ACTS = {"retry": dead.retry, "discard": dead.discard}

bp = Blueprint("letters", __name__, url_prefix=f"/letters/<job>/<any({','.join(FATES)}):fate>")


@bp.get("")
@requires("admin")
def ask(job: str, fate: str) -> ResponseReturnValue:
    """What went wrong with it, and what will be done."""
    return asked(FATES[fate], _question(_letter(job), fate))


@bp.post("")
@requires("admin")
def act(job: str, fate: str) -> ResponseReturnValue:
    """Do it, unless it can't be noted who did."""
    letter = _letter(job)
    question = _question(letter, fate)
    return settled(FATES[fate], question, lambda reason: letter and _act(letter, fate, reason))


def _act(letter: DeadLetter, fate: str, reason: str) -> bool:
    entry = AuditEntry(
        account_id=visitor().id,
        action=f"job.{fate}",
        subject=f"job:{letter.id}",
        before={"queue": letter.queue, "error": letter.error},
        reason=reason,
    )
    with transaction() as session:
        session.add(entry)
        session.flush()
        with translate_errors():
            done = ACTS[fate](backend().redis, letter)
        if not done:
            session.rollback()
        return done


def _letter(job: str) -> DeadLetter | None:
    with translate_errors():
        found = dead.letters(backend().redis)
    return next((letter for letter in found if letter.id == job), None)


def _question(letter: DeadLetter | None, fate: str) -> Question | None:
    if letter is None:
        return None
    facts = [
        (_("Queue"), str(QUEUES[letter.queue])),
        (_("Given up"), clock().short(letter.died_at)),
        (_("What went wrong"), letter.error),
    ]
    return FATES[fate].question(facts, trace=letter.trace)
