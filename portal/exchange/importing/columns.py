"""Column mappings: an admin chooses what columns with unknown headings mean, and can save that.

An import has a copy of the choices in its options. So a change of a saved mapping never reaches an
import that has begun.
"""

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from operator import itemgetter

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from portal.catalog.models import Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import _, _k
from portal.exchange.importing import headings, import_jobs, tables
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.files import Files, has_files
from portal.exchange.importing.headings import COLUMNS, HEADINGS
from portal.exchange.importing.models import ColumnMapping, Import, ImportTable, Meanings, Options
from portal.exchange.importing.named_term import name_of
from portal.exchange.importing.semester_tables import shape_of, tables_of
from portal.people.models import Account

LONGEST_NAME = 60  # of a mapping
CLOSE = 0.8  # from 0 to 1: a heading at least this similar to a known one is suggested
# States in which an admin may choose what the columns mean.
OPEN = ("columns", "ready", "failed")


class ChoiceRefusedError(Exception):
    """The choices can't be used. The message says why, for one field of the form or all of it."""

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(why)
        self.field = field


# Before the files are read


def prepare(session: Session, import_id: int, files: Files, options: Options) -> Options:
    """Keep what the columns of a semester hold. Return the options with what the columns mean.

    Raise ImportFailedError if the named mapping is not of such files.
    """
    if options.layout != "semester":
        return options
    known = session.scalar(select(Term.id).where(Term.name == name_of(options))) is not None
    seen = _see(import_id, files, known=known)
    with transaction() as other:  # it stays if the files can't be read
        import_jobs.clear(other, [import_id], [ImportTable])
        other.add_all(seen)
    if options.columns:
        return options
    found = _mapping_of(session, seen, options.mapping)
    return replace(options, mapping=found.name, columns=found.meanings) if found else options


def _see(import_id: int, files: Files, *, known: bool) -> list[ImportTable]:
    found = []
    for file, table in tables_of(files).items():
        shape = shape_of(table, known=known, meanings={})
        if looked := tables.look(files, file, shape):
            headings_, samples = looked
            of_table = {"headings": headings_, "samples": samples, "needed": list(shape.needed)}
            found.append(ImportTable(import_id=import_id, file=file, name=table, **of_table))
    return found


def _mapping_of(
    session: Session, seen: Sequence[ImportTable], name: str = ""
) -> ColumnMapping | None:
    """Return the mapping of that name, else the one saved last for the same headings.

    Raise ImportFailedError if that name is unknown, or of other headings.
    """
    mappings = session.scalars(select(ColumnMapping).order_by(ColumnMapping.saved_at.desc())).all()
    if not name:
        return next((each for each in mappings if _fits(each.meanings, seen)), None)
    named = next((each for each in mappings if each.name == name), None)
    if named is None:
        text = _k("No column mapping is saved under “%(name)s”. Saved are: %(others)s.")
        others = ", ".join(sorted(each.name for each in mappings)) or "–"
        raise ImportFailedError(text, name=name, others=others)
    if not _fits(named.meanings, seen):
        text = _k("The column mapping “%(name)s” is for other headings. The files have: %(known)s.")
        known = ", ".join(heading for each in seen for heading in each.headings)
        raise ImportFailedError(text, name=name, known=known[: tables.LONGEST_VALUE])
    return named


def _fits(meanings: Meanings, seen: Sequence[ImportTable]) -> bool:
    """Return whether all tables that both have are of the same headings, and there is one."""
    common = [each for each in seen if each.name in meanings]
    return bool(common) and all(
        headings.same_headings(each.headings, [heading for heading, _column in meanings[each.name]])
        for each in common
    )


# On the page


def seen_tables(session: Session, import_id: int) -> list[ImportTable]:
    """Return the tables of an import whose files are still stored, else none."""
    if not has_files(session, import_id):
        return []
    found = select(ImportTable).where(ImportTable.import_id == import_id)
    return list(session.scalars(found.order_by(ImportTable.file)))


def choices(table: str) -> dict[str, str]:
    """Return what a column of a table can mean, with labels in the order of the alphabet."""
    labels = [(column, str(COLUMNS[column].label)) for column in HEADINGS[table]]
    return dict(sorted(filter(itemgetter(1), labels), key=lambda each: each[1].casefold()))


def chosen_before(session: Session, found: Import, seen: Sequence[ImportTable]) -> Options:
    """Return the options of an import with the best that is known of its columns."""
    options = Options.read(found.options)
    if not options.columns and (mapping := _mapping_of(session, seen)):
        options = replace(options, mapping=mapping.name, columns=mapping.meanings)
    if _fits(options.columns, seen):
        return options
    return replace(options, mapping="", columns={})


def meant(table: ImportTable, meanings: Meanings) -> list[str]:
    """Return what each column of a table means: as chosen, else as guessed; blank is left out."""
    if chosen := meanings.get(table.name):
        columns = headings.columns_of(table.headings, table.name, chosen)
        return ["" if headings.is_left_out(column) else column for column in columns]
    offered, found = choices(table.name), headings.columns_of(table.headings, table.name)
    guessed = [column if column in offered else "" for column in found]
    unknown = [at for at, each in enumerate(found) if not headings.is_known(each, table.name)]
    likeness = sorted(
        (
            (_likeness(found[at], column, table.name), at, column)
            for at in unknown
            for column in offered
        ),
        key=lambda each: (-each[0], each[1]),
    )
    for close, at, column in likeness:
        if close >= CLOSE and not guessed[at] and column not in guessed:
            guessed[at] = column
    return guessed


def _likeness(written: str, column: str, table: str) -> float:
    names = column, *HEADINGS[table].get(column, ())
    return max(SequenceMatcher(None, written, name).ratio() for name in names) if written else 0.0


def faults(table: ImportTable, columns: Sequence[str]) -> list[tuple[str, int | None]]:
    """Return errors in the meanings of a table's columns; each has its column, or None."""
    found: list[tuple[str, int | None]] = []
    first: dict[str, int] = {}
    for at, column in enumerate(columns):
        if not column:
            continue
        if first.setdefault(column, at) != at:
            text = _(
                "%(file)s: “%(one)s” and “%(other)s” both mean “%(meaning)s”. Leave one of them"
                " out.",
                file=table.file,
                one=heading_of(table, first[column]),
                other=heading_of(table, at),
                meaning=COLUMNS[column].label,
            )
            found.append((text, at))
    for column in table.needed:
        if not headings.has(list(columns), column):
            parts = headings.made_of(column)
            made = ", ".join(f"“{COLUMNS[each].label}”" for each in parts)
            what = {"file": table.file, "meaning": COLUMNS[column].label}
            text = _("%(file)s: no column means “%(meaning)s”. Choose one.", **what)
            if made:
                text = _(
                    "%(file)s: no column means “%(meaning)s”. Choose one, or those of %(parts)s.",
                    parts=made,
                    **what,
                )
            found.append((text, None))
    return found


def heading_of(table: ImportTable, at: int) -> str:
    """Return the heading of a column, or its number if it has none."""
    return table.headings[at] or _("Column %(number)s", number=at + 1)


def choose(session: Session, import_id: int, meanings: Meanings, *, save_as: str, by: int) -> None:
    """Let an import be read again with columns of that meaning; save them if there is a name.

    Raise ChoiceRefusedError if that is not possible, and Busy while another import is read.
    """
    if save_as and not save(session, save_as, meanings, by):
        taken = _("This name is already used for files with other headings. Choose another one.")
        raise ChoiceRefusedError(taken, "mapping")
    found = session.get_one(Import, import_id)
    options = replace(Options.read(found.options), columns=meanings, mapping=save_as)
    if not import_jobs.change_state(
        session, import_id, "waiting", of=OPEN, error="", options=options.as_json()
    ):
        raise ChoiceRefusedError(_("This is no longer possible. Go back to the import."))
    import_jobs.reset_tries(session, import_id)


# Saved mappings


def saved(session: Session) -> list[tuple[ColumnMapping, str]]:
    """Return all saved mappings by name, and who saved each."""
    found = select(ColumnMapping, Account.name).join(Account)
    rows = session.execute(found.order_by(ColumnMapping.name))
    return [(mapping, name) for mapping, name in rows]


def save(session: Session, name: str, meanings: Meanings, by: int) -> bool:
    """Save a mapping under a name. It replaces one for the same headings.

    Return False if the name is that of a mapping for other headings.
    """
    before = session.scalar(select(ColumnMapping).filter_by(name=name).with_for_update())
    if before and not _same_headings(before.meanings, meanings):
        return False
    if before and before.meanings == meanings:
        return True
    new = {"meanings": meanings, "account_id": by}
    stored = upsert(ColumnMapping).values(name=name, **new)
    if before:
        stored = stored.on_conflict_do_update(
            index_elements=["name"], set_=new | {"saved_at": func.now()}
        )
    else:  # someone else may have saved one of that name just now
        stored = stored.on_conflict_do_nothing()
    number = session.scalar(stored.returning(ColumnMapping.id))
    if number is None:
        return False
    add_audit_entry(
        session,
        "columns.save",
        f"columns:{number}",
        by=by,
        before={"name": name, "columns": before.meanings} if before else None,
        after={"name": name, "columns": meanings},
    )
    return True


def _same_headings(one: Meanings, other: Meanings) -> bool:
    return one.keys() == other.keys() and all(
        headings.same_headings([pair[0] for pair in one[table]], [pair[0] for pair in other[table]])
        for table in one
    )


def find(session: Session, mapping_id: int) -> ColumnMapping | None:
    return session.get(ColumnMapping, mapping_id) if mapping_id < 2**31 else None


def delete_mapping(session: Session, mapping_id: int, by: int, reason: str) -> bool:
    """Delete a saved mapping; False if it is deleted already."""
    gone = delete(ColumnMapping).where(ColumnMapping.id == mapping_id)
    row = session.execute(gone.returning(ColumnMapping.name, ColumnMapping.meanings)).first()
    if row is None:
        return False
    before = {"name": row.name, "columns": row.meanings}
    subject = f"columns:{mapping_id}"
    add_audit_entry(session, "columns.delete", subject, by=by, before=before, reason=reason)
    return True
