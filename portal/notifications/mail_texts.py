"""The texts of mails: the standard one of each kind and language, or one that an admin wrote.

A text is plain, with placeholders such as `{name}`. The values of a mail are filled in once, so no
value can contain a placeholder. A mail keeps the text of the time at which it was queued.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from textwrap import fill
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _, _l
from portal.notifications.kinds import KINDS
from portal.notifications.models import MailText, OutboxEntry
from portal.notifications.outbox import ALERT, CODE, LINK, REPORT

WIDTH = 72
LONGEST_SUBJECT, LONGEST_BODY = 150, 5000
MARK = re.compile(r"\{([^{}\n]*)\}")
# Values of several paragraphs; the others are parts of a line.
BLOCKS = {"text", "link", "settings"}
PLACEHOLDERS = {
    "name": _l("the name of the person; the email address of a person without an account"),
    "title": _l("what happened, in one sentence"),
    "text": _l("the details, including codes and password links"),
    "institution": _l("the name of the university"),
}
OF_NOTIFICATIONS = {
    "link": _l("where to go next"),
    "term": _l("the name of the term"),
    "settings": _l("why the person gets the email, and how to stop that"),
}
NEEDED = "text"  # without it a mail could lack its code, or say nothing
OTHER_KINDS = {
    CODE: _l("Code in place of a captcha"),
    LINK: _l("Link to sign up or to choose a password"),
    ALERT: _l("Account warning"),
    REPORT: _l("Report by email"),
}
# Kinds that people do not choose to get: they say nothing of settings.
UNASKED = {CODE, LINK, ALERT}


@dataclass(frozen=True)
class Wording:
    """The subject and the body of a mail, with placeholders."""

    subject: str
    body: str


def all_kinds() -> list[str]:
    return [*KINDS, *OTHER_KINDS]


def labels() -> dict[str, str]:
    """Return every kind of mail with its name."""
    named = {name: str(kind.label) for name, kind in KINDS.items()}
    return named | {name: str(label) for name, label in OTHER_KINDS.items()}


def placeholders(kind: str) -> dict[str, Any]:
    """Return the placeholders of a kind with their meanings."""
    return PLACEHOLDERS if kind in UNASKED else PLACEHOLDERS | OF_NOTIFICATIONS


def standard(kind: str) -> Wording:
    """Return the standard text in the current language."""
    hello, parts = _("Hello %(name)s,", name="{name}"), ["{title}.", "{text}"]
    sign_off = "{institution}"
    if kind not in UNASKED:
        parts = [*parts, "{link}", "{settings}"]
        if kind not in KINDS or KINDS[kind].of_term:
            sign_off = "{institution}, {term}"
    return Wording("{title}", "\n\n".join([hello, *parts, f"--\n{sign_off}"]) + "\n")


def errors(kind: str, wording: Wording) -> dict[str, str]:
    """Return an error for each field of a text that can't be used."""
    found = {}
    known = placeholders(kind)
    allowed = ", ".join(f"{{{name}}}" for name in known)
    for field, text in (("subject", wording.subject), ("body", wording.body)):
        unknown = [name for name in MARK.findall(text) if name not in known]
        if unknown:
            found[field] = _(
                "There is no {%(name)s}. Use only %(allowed)s.", name=unknown[0], allowed=allowed
            )
    if "subject" not in found and BLOCKS & set(MARK.findall(wording.subject)):
        found["subject"] = _("The subject is one line: {text}, {link} and {settings} don’t fit.")
    if "body" not in found and NEEDED not in MARK.findall(wording.body):
        found["body"] = _("Include {text}: it says what happened.")
    return found


def latest(session: Session, kind: str, language: str, entry: int | None = None) -> MailText | None:
    """Return the last version that an admin stored; its body is None if it is the standard.

    With the number of a mail in the outbox, it is the version that the mail has.
    """
    found = select(MailText).filter_by(kind=kind, language=language)
    if entry is not None:
        found = found.where(MailText.after < entry)
    return session.scalar(found.order_by(MailText.id.desc()).limit(1))


def all_latest(session: Session) -> dict[tuple[str, str], MailText]:
    """Return the last version of each text that was ever changed."""
    return {
        (each.kind, each.language): each
        for each in session.scalars(select(MailText).order_by(MailText.id))
    }


def wording_of(session: Session, kind: str, language: str, entry: int) -> Wording:
    """Return the text of a mail with this number in the outbox, in the current language."""
    return _stored(latest(session, kind, language, entry)) or standard(kind)


def change(  # noqa: PLR0913  the text, what was seen, who and why
    kind: str, language: str, wording: Wording | None, seen: int, *, by: int, reason: str
) -> None:
    """Store a text, or None for the standard one; the outbox keeps the texts that it has.

    `seen` is the version that the page showed. Raise ChangedMeanwhile if there is a newer one with
    another text.
    """
    with transaction() as session:
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"mail {kind}"))))
        known = latest(session, kind, language)
        before = _stored(known)
        if wording == before:
            return
        if (known.id if known else 0) != seen:
            raise ChangedMeanwhile
        session.add(
            MailText(
                kind=kind,
                language=language,
                subject=wording.subject if wording else None,
                body=wording.body if wording else None,
                after=session.scalar(select(func.coalesce(func.max(OutboxEntry.id), 0))),
                account_id=by,
            )
        )
        add_audit_entry(
            session,
            "mail.text",
            f"mail_text:{kind}-{language}",
            by=by,
            before=asdict(before) if before else None,
            after=asdict(wording) if wording else None,
            reason=reason,
        )


def _stored(version: MailText | None) -> Wording | None:
    """Return the text that an admin stored; None for the standard one."""
    if version is None or version.body is None:
        return None
    return Wording(version.subject or "", version.body)


def written(wording: Wording, values: Mapping[str, str], address: str = "") -> Wording:
    """Return the text with the values filled in, its lines no longer than WIDTH.

    The address stands for the name of a person who has no account yet.
    """
    lines = []
    if not values["name"]:
        greeting = _("Hello %(name)s,", name="{name}")
        wording = replace(wording, body=wording.body.replace(greeting, _("Hello,")))
        values = {**values, "name": address}
    for line in wording.body.splitlines():
        alone = MARK.fullmatch(line.strip())
        if alone and alone[1] in BLOCKS:
            lines.append(values[alone[1]])
        elif line.rstrip() == "--":
            lines.append("-- ")  # what follows is the signature
        else:
            lines.append(filled(_filled_in(line, values)))
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
    return Wording(one_line(_filled_in(wording.subject, values)), body)


def _filled_in(text: str, values: Mapping[str, str]) -> str:
    return MARK.sub(lambda mark: values.get(mark[1], mark[0]), text)


def filled(text: str) -> str:
    """Return the text as lines of a mail."""
    return fill(one_line(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def one_line(text: str) -> str:
    """Return the text without line breaks and control characters, for use in a header."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())


def example(kind: str) -> dict[str, str]:
    """Return made-up values for a preview or a test, in the current language."""
    settings, what = backend().settings, labels()[kind]
    why = _("You get this email because your settings include “%(kind)s”.", kind=what)
    return {
        "title": _("Example: %(what)s", what=what),
        "text": _("Details of what happened appear here."),
        "link": f"{_('My classes')}:\n{settings.url}/terms/1/mine",
        "term": _("Example term"),
        "settings": f"{filled(why)}\n{settings.url}/inbox/settings",
    }
