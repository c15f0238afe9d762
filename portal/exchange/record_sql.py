"""The SQL that reads and writes a kind of record, derived from a description of its fields.

A record has a key, such as a term and a registration number separated by a tab, and fields as JSON.
Credits are hundredths. A meeting is a list of kind, days, times, dates, room and whether it can
clash. `Kind.select` reads all records of the portal. `Kind.upsert` and the statements behind it
write the changes `:kind` of the import `:id`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ARRAY, Column, Numeric, String, Table, literal
from sqlalchemy.dialects.postgresql import JSONB, dialect

from portal.core.db import Base

# The changes of one kind. PostgreSQL plans well for them: the table has been analyzed.
OF_KIND = "FROM import_changes WHERE import_id = :id AND kind = :kind"
CHANGED = f"(SELECT key, before, after {OF_KIND} AND change <> 'removed') AS changed_rows"
REMOVED = f"(SELECT key {OF_KIND} AND change = 'removed') AS removed_rows"


def part(number: int, key: str = "key") -> str:
    """Return the SQL of one part of a key."""
    return f"split_part({key}, E'\\t', {number})"


def section_part(key: str = "key") -> str:
    """Return the SQL of the key of a section, where those of its students begin."""
    return f"{part(1, key)} || E'\\t' || {part(2, key)}"


def instructor_part(key: str) -> str:
    """Return the SQL of what follows the section in the key of a teaching: who teaches it."""
    return f"regexp_replace({key}, '^[^\\t]*\\t[^\\t]*\\t', '')"


# The key of an instructor who is no user, out of the tables of instructors and departments.
INSTRUCTOR_NAME = "instructors.name || E'\\t' || coalesce(departments.code, '')"
# The changes of sections, or of records whose keys begin with a section's, in terms that live.
SECTION_CHANGES = f"""
    import_changes AS changes
    JOIN terms ON terms.name = {part(1, "changes.key")} AND terms.deleted_at IS NULL
    JOIN sections ON term_id = terms.id AND crn = {part(2, "changes.key")}
"""


def _read(column: Column[Any]) -> str:
    """Return the SQL that reads a column; credits are hundredths."""
    return f"({column} * 100)::int" if isinstance(column.type, Numeric) else str(column)


def _written(column: Column[Any], value: str) -> str:
    """Return the SQL of a column out of a value that is a text."""
    match column.type:
        case String():
            return value
        case Numeric():
            return f"({value})::int / 100.0"
        case other:
            return f"({value})::{other}"


def _default(column: Column[Any]) -> str:
    """Return the SQL of the value that the model gives a new row; NULL if it gives none."""
    given: Any = column.default
    value = literal(given.arg if given is not None else None, column.type)
    of_postgresql = dialect()  # type: ignore[no-untyped-call]
    return str(value.compile(dialect=of_postgresql, compile_kwargs={"literal_binds": True}))


@dataclass(frozen=True)
class Field:
    """A field of a record that stands in a column of its table.

    How it is read and written depends on the type of the column, unless `read`, `columns` (their
    SQL out of `after`) and `joins` (to read and to write) say otherwise.
    """

    name: str
    # SQL of the value in a new row, if files do not give any and it is not the model's.
    default: str = ""
    column: str = ""  # if its name is another one
    read: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    joins: tuple[str, str] = ("", "")
    # Only new records have it from files: the portal knows it better afterwards.
    new_only: bool = False
    # Not even a restored record has it from files.
    insert_only: bool = False

    def reading(self, table: Table) -> str:
        """Return the SQL that reads it."""
        return self.read or _read(table.c[self.column or self.name])

    def writing(self, table: Table) -> dict[str, str]:
        """Return the SQL of its columns."""
        if self.read:
            return self.columns
        column, value = table.c[self.column or self.name], f"after ->> '{self.name}'"
        match column.type:
            case ARRAY():
                elements = f"jsonb_array_elements_text(coalesce(after -> '{self.name}', '[]'))"
                written = f"ARRAY(SELECT {elements})"
            case JSONB():
                written = f"nullif(after -> '{self.name}', 'null')"
            case _:
                written = f"coalesce({_written(column, value)}, {self.default or _default(column)})"
        return {column.name: written}


@dataclass(frozen=True)
class Child:
    """A field that lists the rows of another table.

    Each of them is a list of its columns, or a column alone. `references` are columns that refer to
    other rows: how they are read and written, with `joins`. `position` keeps the order of the list.
    """

    name: str
    table: str
    owner: str  # the column that refers to the record
    columns: tuple[str, ...]
    references: dict[str, tuple[str, str]] = field(default_factory=dict)
    joins: tuple[str, str] = ("", "")
    fixed: tuple[str, str] | None = None  # a column and its value
    position: bool = False
    if_changed: bool = False  # else the rows are always written again
    first: str = ""  # a statement that comes before

    @property
    def _where(self) -> str:
        return f"{self.table}.{self.fixed[0]} = {self.fixed[1]}" if self.fixed else "true"

    def listed(self, owner: str) -> str:
        """Return a query of its rows, as a list."""
        columns = Base.metadata.tables[self.table].c
        read = [
            self.references[each][0] if each in self.references else _read(columns[each])
            for each in self.columns
        ]
        one = read[0] if len(read) == 1 else f"jsonb_build_array({', '.join(read)})"
        texts = (each for each in read if not each.startswith("("))
        order = "position" if self.position else ", ".join(f'{each} COLLATE "C"' for each in texts)
        return (
            f"SELECT coalesce(jsonb_agg({one} ORDER BY {order}), '[]')"
            f" FROM {self.table} {self.joins[0]}"
            f" WHERE {self.owner} = {owner}.id AND {self._where}"
        )

    def statements(self, ids: str) -> Iterator[str]:
        """Yield the statements that write it; `ids` is a query of `id` and `key`."""
        known = Base.metadata.tables[self.table].c
        single = len(self.columns) == 1
        columns = {self.owner: "ids.id"} | ({"position": "nth"} if self.position else {})
        for index, each in enumerate(self.columns):
            value = "item #>> '{}'" if single else f"item ->> {index}"
            reference = self.references.get(each)
            columns[each] = reference[1] if reference else _written(known[each], value)
        columns |= dict([self.fixed]) if self.fixed else {}
        changed = f"before -> '{self.name}' IS DISTINCT FROM after -> '{self.name}'"
        changed = changed if self.if_changed else "true"
        if self.first:
            yield self.first
        yield f"""
            DELETE FROM {self.table} USING {CHANGED} JOIN {ids} AS ids USING (key)
            WHERE {self.owner} = ids.id AND {self._where} AND {changed}
        """
        yield f"""
            INSERT INTO {self.table} ({", ".join(columns)})
            SELECT {", ".join(columns.values())}
            FROM {CHANGED} JOIN {ids} AS ids USING (key)
            CROSS JOIN jsonb_array_elements(coalesce(after -> '{self.name}', '[]'))
                WITH ORDINALITY AS listed(item, nth)
            {self.joins[1]} WHERE {changed}
            ORDER BY ids.id, nth ON CONFLICT DO NOTHING
        """


@dataclass(frozen=True)
class Kind:
    """A kind of record. Its rows are found again by the columns of `keys`."""

    name: str  # of the table
    key: str  # SQL that reads the key
    keys: dict[str, str]  # columns, and their SQL out of `key`
    fields: tuple[Field, ...] = ()
    children: tuple[Child, ...] = ()
    joins: tuple[str, str] = ("", "")  # to read and to write the key
    living: str = ""  # unless it is "not deleted"; the others can be restored
    new: dict[str, str] = field(default_factory=dict)  # columns of new rows alone
    update: str = "deleted_at = NULL"  # what else is set in rows that are found again
    then: tuple[str, ...] = ()  # statements after the others
    removal: str = ""  # removes the records of REMOVED

    @property
    def table(self) -> Table:
        return Base.metadata.tables[self.name]

    @property
    def select(self) -> str:
        """Return a query of all living records: `key` and `fields`."""
        read = [f"'{each.name}', {each.reading(self.table)}" for each in self.fields]
        read += [f"'{each.name}', ({each.listed(self.name)})" for each in self.children]
        fields_ = f"jsonb_build_object({', '.join(read)}) AS fields"
        return f"SELECT {self.key} AS key, {fields_} {self._from} WHERE {self._living}"

    @property
    def restorable(self) -> bool:
        """Return whether a deleted record keeps its row."""
        return "deleted_at" in self.table.c and "deleted_at" in self.update

    @property
    def select_deleted(self) -> str:
        """Return a query of the keys of records that can be restored."""
        return f"SELECT {self.key} AS key {self._from} WHERE NOT ({self._living})"

    @property
    def upsert(self) -> str:
        """Return the statement that must write as many rows as there are in CHANGED."""
        columns, updated = dict(self.keys), [self.update] if self.update else []
        for each in self.fields:
            written = each.writing(self.table)
            columns |= written
            if not each.insert_only:
                updated += [f"{column} = excluded.{column}" for column in written]
        columns |= self.new
        return f"""
            INSERT INTO {self.name} ({", ".join(columns)})
            SELECT {", ".join(columns.values())} FROM {CHANGED} {self._joins(1)}
            ON CONFLICT ({", ".join(self.keys)}) DO UPDATE SET {", ".join(updated)}
        """

    def statements(self) -> Iterator[str]:
        """Yield the statements that follow the upsert."""
        ids = f"(SELECT {self.name}.id, {self.key} AS key {self._from} WHERE {self._living})"
        for each in self.children:
            yield from each.statements(ids)
        yield from self.then

    @property
    def _living(self) -> str:
        return self.living or f"{self.name}.deleted_at IS NULL"

    @property
    def _from(self) -> str:
        return f"FROM {self.name} {self._joins(0)}"

    def _joins(self, side: int) -> str:
        return " ".join([self.joins[side], *(each.joins[side] for each in self.fields)])
