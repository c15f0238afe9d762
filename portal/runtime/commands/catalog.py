"""`fairseat catalog` and `fairseat term`: records deleted and restored, terms published."""

import click

from portal.catalog import deletion, terms
from portal.catalog.deletion import KINDS, CatalogRecord, InTheWay
from portal.catalog.term_catalog import catalog_of, terms_named
from portal.catalog.terms import STATE_CHANGES
from portal.core.db import ChangedMeanwhile, transaction
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


@click.command("term")
@click.argument("name")
@click.argument("action", type=click.Choice(tuple(STATE_CHANGES)))
@click.option("--reason", default=REASON, help="Why, for the audit trail.")
def term_command(name: str, action: str, reason: str) -> None:
    """Publish the term with this NAME, make it a draft again, archive it, or bring it back.

    Only admins see a draft; imports create drafts. A term is not hidden or archived while it has
    windows to come or decisions that are not recorded, and not hidden while students are in it.
    """
    with connected():
        try:
            [(term_id, _name)] = terms_named(name)
            terms.change_state(term_id, action, None, reason)
        except InTheWay as way:
            names = "\n".join(f"  {each.text}" for each in way.obstacles)
            raise click.ClickException(f"The term has these:\n{names}") from way
        except ChangedMeanwhile as error:
            state = catalog_of(term_id).term.state
            found = {"draft": "a draft", "archived": "archived", "published": "published"}[state]
            raise click.ClickException(f"{name} is {found}.") from error
    click.echo(f"{name}: {STATE_CHANGES[action].to}.", err=True)


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
