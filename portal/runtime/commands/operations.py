"""`fairseat jobs`, `queues`, `mail` and `order`: failed work, queues, and the check of a draw."""

import click
import requests

from portal.core import flags
from portal.core.db import transaction
from portal.core.flags import Switched, Switching
from portal.core.i18n import translated
from portal.core.queue import QUEUES, pause_flag
from portal.notifications import outbox
from portal.notifications.models import OutboxEntry
from portal.operations import dead_letters, workers
from portal.runtime.command_context import connected
from portal.runtime.commands.common import REASON, note
from portal.waiting_room import draw
from portal.waiting_room.draw import Draw


@click.command("jobs")
@click.argument("ids", nargs=-1)
@click.option("--retry", is_flag=True, help="Retry these jobs.")
@click.option("--discard", is_flag=True, help="Delete these jobs.")
def jobs_command(ids: tuple[str, ...], *, retry: bool, discard: bool) -> None:
    """List jobs that failed at every attempt.

    With IDS, show only these, with their tracebacks. A job only says that a term has work; that
    work is retried after a pause. Exit status 1 if there are any.
    """
    if retry and discard:
        raise click.UsageError("Use either --retry or --discard, not both.")
    with connected() as parts:
        found = [each for each in dead_letters.find_all(parts.redis) if not ids or each.id in ids]
        missing = set(ids) - {each.id for each in found}
        if missing:
            raise click.BadParameter(f"Unknown job: {', '.join(sorted(missing))}.")
        settle = dead_letters.retry if retry else dead_letters.discard
        for job in found if retry or discard else ():
            note(f"job.{'retry' if retry else 'discard'}", f"job:{job.id}")
            settle(parts.redis, job)
    for job in found:
        click.echo(f"{job.id}  {job.dead_at:%Y-%m-%d %H:%M}  {job.queue}")
        click.echo(job.trace if ids else f"    {job.error}")
    if retry or discard:
        click.echo(f"{'Retrying' if retry else 'Discarded'}: {len(found)}.", err=True)
    elif not found:
        click.echo("No failed jobs.", err=True)
    raise SystemExit(bool(found) and not (retry or discard))


# `fairseat queues`: what each queue does, and whether it is paused.


@click.command("queues")
@click.option("--pause", type=click.Choice(QUEUES), help="Pause this queue: no new job starts.")
@click.option("--resume", type=click.Choice(QUEUES), help="Resume this queue.")
@click.option("--reason", default=REASON, help="Why, for the audit trail.")
def queues_command(pause: str | None, resume: str | None, reason: str) -> None:
    """List the queues: waiting jobs, workers, jobs done a minute, failed runs.

    A paused queue loses nothing: its jobs wait. Workers finish the job that they run.
    """
    if pause and resume:
        raise click.UsageError("Use either --pause or --resume, not both.")
    with connected() as parts:
        if queue := pause or resume:
            _set_paused(queue, paused=bool(pause), reason=reason)
        flags.read()
        found = workers.queues(parts.redis)
    click.echo(f"{'queue':12}{'waiting':>9}{'workers':>9}{'a minute':>10}{'failed':>8}")
    for each in found:
        share = each.counts.error_rate
        failed = "-" if share is None else f"{share:.0%}"
        figures = f"{each.waiting:>9}{each.alive:>9}{each.counts.per_minute:>10.1f}{failed:>8}"
        click.echo(f"{each.name:12}{figures}{'  paused' if each.paused else ''}")


def _set_paused(queue: str, *, paused: bool, reason: str) -> None:
    flag = flags.find(pause_flag(queue))
    if flag.is_on is not paused:
        click.echo(f"The queue is {'already' if paused else 'not'} paused.", err=True)
        return
    try:
        flags.change(Switching(flag.name, not paused, flag.version, reason), None)
    except Switched as changed:
        raise click.ClickException("An admin has just changed it. Try again.") from changed


# `fairseat mail`: mail that could not be sent.


@click.command("mail")
@click.option("--retry", is_flag=True, help="Send all undelivered mail again.")
def mail_command(*, retry: bool) -> None:
    """List mail that could not be sent.

    Shows the last error of each mail. Exit status 1 if there is any.
    """
    with connected():
        with transaction() as session:
            mails = outbox.dead(session)
            revived = (
                outbox.retry(session, OutboxEntry, [each.id for each in mails]) if retry else []
            )
        if revived:
            note("mail.retry", "mail:all", {"mails": revived})
    for each in mails:
        click.echo(f"{each.id}  {each.dead_at:%Y-%m-%d %H:%M}  {each.kind} for {each.to}")
        click.echo(f"    after {each.tries} attempts: {translated(each.error)}")
    if retry:
        click.echo(f"Sending again: {len(revived)}.", err=True)
    elif not mails:
        click.echo("No undelivered email.", err=True)
    raise SystemExit(bool(mails) and not retry)


# `fairseat order TERM WINDOW`: check that a window's draw follows from its published seed.

TIMEOUT_SECONDS = 30


@click.command("order")
@click.argument("term", type=int, required=False)
@click.argument("window", type=int, required=False)
@click.option("--text", help="Check this published order: a file, a URL, or - for stdin.")
def order_command(term: int | None, window: int | None, text: str | None) -> None:
    """Check a window's draw, which ordered the students who came early.

    TERM and WINDOW are numbers, as in the URL of the page that shows the order. Exit status 1 if
    the order does not follow from the published seed.
    """
    found = _read(text) if text else _chosen_draw(term, window)
    click.echo(f"seed: {'OK' if found.has_true_seed else 'does not match its commitment'}")
    if found.public_value:
        click.echo(f"codes: {'OK' if found.is_fixed else 'some were not fixed under the root'}")
    click.echo(f"order: {'OK' if found.is_in_order else 'does not follow from the seed'}")
    click.echo(f"requests: {len(found.line) + found.others}")
    raise SystemExit(not found.is_fair)


def _chosen_draw(term: int | None, window: int | None) -> Draw:
    if term is None or window is None:
        raise click.UsageError("Give TERM and WINDOW, or --text.")
    with connected():
        return draw.published(term, window, opened=True)


def _read(source: str) -> Draw:
    try:
        if "://" in source:
            answer = requests.get(source, timeout=TIMEOUT_SECONDS)
            answer.raise_for_status()
            return draw.parse(str(answer.text))
        with click.open_file(source, encoding="utf-8") as file:
            return draw.parse(str(file.read()))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{source}: {error}") from error
