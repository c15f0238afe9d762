"""GET and POST /admin/operations/mails/<id or all>/…: mails that were given up, again or never."""

from collections.abc import Sequence
from datetime import datetime

from flask import Blueprint
from flask.typing import ResponseReturnValue

from portal.admin.operations import words
from portal.admin.operations.asking import Question
from portal.admin.operations.fates import Fate, asked, seen_through, settled
from portal.admin.windows.pages import clock
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.notifications import outbox
from portal.notifications.codes import NO_TERM
from portal.notifications.outbox import DeadLetter
from portal.people.models import AuditEntry
from portal.recorder.wake import wake
from portal.web.http.access import requires, visitor

ALL = "all"
GONE = _l("It is gone: somebody else has dealt with it.")
FATES = {
    "retry": Fate(
        _l("Send again what was given up"),
        _l(
            "It leaves as soon as mail does, within a day or never. If it fails it comes back here."
        ),
        _l("Send again"),
        _l("It will be sent again."),
        GONE,
    ),
    "discard": Fate(
        _l("Discard mail that was given up"),
        _l(
            "It is never sent. News stay in the inbox of the person, here in the portal;"
            " a warning about an account was in its mail alone."
        ),
        _l("Discard"),
        _l("It is discarded."),
        GONE,
        danger=True,
    ),
}
ACTS = {"retry": outbox.revive, "discard": outbox.discard}

bp = Blueprint("mails", __name__, url_prefix=f"/mails/<which>/<any({','.join(FATES)}):fate>")


@bp.get("")
@requires("admin")
def ask(which: str, fate: str) -> ResponseReturnValue:
    """Which they are, what went wrong, and what will be done."""
    return asked(FATES[fate], _question(_found(which), fate))


@bp.post("")
@requires("admin")
def act(which: str, fate: str) -> ResponseReturnValue:
    """Do it to those that were seen, unless it can't be noted who did."""
    found = _found(which, seen_through())
    question = _question(found, fate)
    return settled(FATES[fate], question, lambda reason: _act(which, fate, found, reason))


def _act(which: str, fate: str, found: Sequence[DeadLetter], reason: str) -> list[int]:
    with transaction() as session:
        done = ACTS[fate](session, [each.id for each in found])
        if done:
            entry = AuditEntry(
                account_id=visitor().id,
                action=f"mail.{fate}",
                subject=f"mail:{which}",
                before={"error": found[0].error},
                after={"mails": sorted(done)},
                reason=reason,
            )
            session.add(entry)
    wake(NO_TERM, ["notify"])
    return done


def _found(which: str, through: datetime | None = None) -> list[DeadLetter]:
    """Those that are dead still, given up no later than that."""
    with transaction() as session:
        return [
            each
            for each in outbox.dead(session)
            if which in {ALL, str(each.id)} and (through is None or each.dead_at <= through)
        ]


def _question(found: Sequence[DeadLetter], fate: str) -> Question | None:
    if not found:
        return None
    last = found[-1]
    who = last.to if len(found) == 1 else _n("%(num)s mail", "%(num)s mails", len(found))
    facts = [
        (_("For"), who),
        (_("About"), ", ".join(sorted({words.mail(each.kind) for each in found}))),
        (_("Given up"), clock().short(last.dead_at)),
        (_("What went wrong"), last.error),
    ]
    return FATES[fate].question(facts, kept={"through": last.dead_at.isoformat()})
