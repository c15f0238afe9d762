"""`fairseat catalog`: records of the catalog, deleted and restored."""

import click

from portal.catalog import deletion
from portal.catalog.deletion import KINDS, CatalogRecord, InTheWay
from portal.core.db import transaction
from portal.runtime.command_context import connected
from portal.runtime.commands.common import REASON


@click.command("catalog")
@click.argument("kind", type=click.Choice(tuple(KINDS)))
@click.argument("code", required=False)
@click.option("--delete", "act", flag_value="delete", help="Delete the record.")
@click.option("--restore", "act", flag_value="restore", help="Restore the record.")
@click.option("--deleted", is_flag=True, help="List the deleted records.")
@click.option("--reason", default=REASON, help="Why, for the audit trail.")
def catalog_command(
    kind: str, code: str | None, act: str | None, reason: str, *, deleted: bool
) -> None:
    """List records of the catalog, or delete or restore the one with a CODE.

    A deleted record disappears from lists, forms and exports, and its history stays. It is refused
    while other records depend on it; their names are printed. A term is also refused until all its
    decisions are recorded.
    """
    if act and not code:
        raise click.UsageError(f"Name the record to {act}.")
    with connected():
        if act and code:
            _change(kind, code, delete=act == "delete", reason=reason)
        else:
            _list(kind, code or "", deleted=deleted)


def _list(kind: str, search: str, *, deleted: bool) -> None:
    page, more = 1, True
    while more:
        with transaction() as session:
            found, more = deletion.records(session, kind, search, page, deleted=deleted)
        for each in found:
            click.echo(each.code if each.code == each.title else f"{each.code}  {each.title}")
        page += 1


def _change(kind: str, code: str, *, delete: bool, reason: str) -> None:
    try:
        with transaction() as session:
            record: CatalogRecord | None = deletion.find_by_code(session, kind, code)
            if record is None:
                raise click.ClickException(f"There is no {kind} {code!r}.")
            changed = deletion.change(session, record, delete=delete, by=None, reason=reason)
    except InTheWay as way:
        names = "\n".join(f"  {each.text}" for each in way.obstacles)
        why = "These depend on it:" if delete else "Restore first what it needs:"
        raise click.ClickException(f"{why}\n{names}") from way
    done = "deleted" if delete else "restored"
    click.echo(f"{code}: {done}." if changed else f"{code} was already {done}.", err=True)
