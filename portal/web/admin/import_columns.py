"""Pages to say what the columns of files mean, and to delete what was saved of it."""

from typing import Any

from flask import Blueprint, abort, url_for
from flask.typing import ResponseReturnValue

from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.exchange.importing import columns, import_jobs
from portal.exchange.importing.columns import LONGEST_NAME, OPEN
from portal.exchange.importing.headings import COLUMNS
from portal.exchange.importing.models import ImportTable, Meanings, Options
from portal.people.roles import Right
from portal.web.admin.imports import enqueue, find_import
from portal.web.confirm import Confirmation, NotPossible, confirm, done
from portal.web.forms import Form, SelectOneField, TextField, render_form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("import_columns", __name__, url_prefix="/imports")


class ColumnsForm(Form):
    """What each column means: a field for each is added, named after its table and place."""

    mapping = TextField(
        _l("Save under a name (optional)"),
        required=False,
        longest=LONGEST_NAME,
        description=_l("Later files with the same headings are then read in the same way."),
    )


def _name(table: int, column: int) -> str:
    return f"t{table}_{column}"


def _form(tables: list[ImportTable], options: Options) -> ColumnsForm:
    fields: dict[str, Any] = {}
    for number, table in enumerate(tables):
        offered = {"": _("Leave out"), **columns.choices(table.name)}
        for at, column in enumerate(columns.meant(table, options.columns)):
            heading = columns.heading_of(table, at)
            fields[_name(number, at)] = SelectOneField(heading, choices=offered, default=column)
    form: ColumnsForm = type("ColumnsOfFilesForm", (ColumnsForm,), fields)(mapping=options.mapping)
    return form


@bp.route("/<int:import_id>/columns", methods=["GET", "POST"])
@requires(Right.EXCHANGE_DATA)
def choose(import_id: int) -> ResponseReturnValue:
    """Render the columns of the files with sample values; read the files as was chosen."""
    address = url_for("admin.imports.show", import_id=import_id)
    with transaction() as session:
        found = find_import(session, import_id)
        if found.account_id != visitor().id:
            abort(403)
        tables = columns.seen_tables(session, import_id)
        if found.state not in OPEN or not tables:
            return go(address)
        options = columns.chosen_before(session, found, tables)
    form = _form(tables, options)
    if form.is_submitted() and _read_again(form, tables, import_id):
        enqueue(import_id)
        return go(address)
    return render_form(
        "admin/import_columns.html",
        form,
        found=found,
        tables=tables,
        name=_name,
        columns=COLUMNS,
        mapping=options.mapping,
    )


def _read_again(form: ColumnsForm, tables: list[ImportTable], import_id: int) -> bool:
    """Store what was chosen, so that a worker reads the files again; False with errors."""
    form.validate()
    meanings: Meanings = {}
    for number, table in enumerate(tables):
        chosen = [form[_name(number, at)].data or "" for at in range(len(table.headings))]
        for fault, at in columns.faults(table, chosen):
            form.refuse(fault, "" if at is None else _name(number, at))
        meanings[table.name] = [list(pair) for pair in zip(table.headings, chosen, strict=True)]
    if form.errors:
        return False
    try:
        with transaction() as session:
            name, by = form.mapping.data, visitor().id
            columns.choose(session, import_id, meanings, save_as=name, by=by)
    except columns.ChoiceRefusedError as refused:
        form.refuse(refused, refused.field)
    except import_jobs.Busy as other:
        form.refuse(
            _("Another import is running: %(which)s. Wait until it has finished.", which=other)
        )
    return not form.errors


@bp.route("/columns/<int:mapping_id>/delete", methods=["GET", "POST"])
@requires(Right.EXCHANGE_DATA)
def delete(mapping_id: int) -> ResponseReturnValue:
    back = url_for("admin.imports.index")
    with transaction() as session:
        found = columns.find(session, mapping_id) or abort(404)
    page = Confirmation(
        title=_("Delete the column mapping “%(name)s”?", name=found.name),
        button=_("Delete"),
        back=(back, _("Imports")),
        meaning=[
            _("Imports no longer use it. Imported data stays as it is."),
        ],
        danger=True,
    )

    def act(reason: str) -> ResponseReturnValue:
        with transaction() as session:
            deleted = columns.delete_mapping(session, mapping_id, visitor().id, reason)
        if not deleted:
            raise NotPossible(_("It is already deleted."))
        return done(_("Column mapping “%(name)s” deleted.", name=found.name), back)

    return confirm(page, act)
