"""Compares the declarations in a SQLite file with those of our migrations.

A trigger or a view in a file runs as soon as its table is used, so this check comes before any other query.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from dndbots.storage.sql.schema import metadata

DECLARED: Final = "SELECT type, name, sql FROM sqlite_master"
_VERSIONS: Final = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
# Tables that SQLite itself makes, such as those of ANALYZE.
_OWN: Final = ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
_SPACE: Final = re.compile(r" ?([(),]) ?")  # for text with single spaces only


class Declared(NamedTuple):
    """A declaration in a SQLite file."""

    kind: str
    name: str
    sql: str | None


def active_faults(rows: Iterable[tuple[str, str, str | None]]) -> list[str]:
    """Return a message for each declaration that could run by itself. No version of dndbots has any."""
    declared = [Declared(*row) for row in rows]
    return [
        _foreign(entry)
        for entry in declared
        if entry.kind not in ("table", "index") or str(entry.sql).upper().startswith("CREATE VIRTUAL")
    ]


def shape_faults(rows: Iterable[tuple[str, str, str | None]]) -> list[str]:
    """Return a message for each declaration that differs from the newest migration."""
    found = {
        (kind, name): None if sql is None else _parts(str(sql))
        for kind, name, sql in rows
        # An index without SQL belongs to a key, which the SQL of its table declares.
        if not (kind == "index" and sql is None) and name not in _OWN
    }
    expected = _expected()
    missing = [f"the {kind} {name} is missing" for kind, name in expected.keys() - found.keys()]
    foreign = [_foreign(Declared(*key, None)) for key in found.keys() - expected.keys()]
    changed = [
        f"the {kind} {name} is declared differently"
        for kind, name in expected.keys() & found.keys()
        if expected[kind, name] != found[kind, name]
    ]
    return [*sorted(foreign), *sorted(missing), *sorted(changed)]


def _foreign(entry: Declared) -> str:
    name = f"the {entry.kind} {entry.name!r}"
    return f"{name} does not belong to dndbots; drop it if you know it, else do not trust the file"


@cache
def _expected() -> dict[tuple[str, str], tuple[str, ...]]:
    dialect = sqlite.dialect()
    made = {("table", "alembic_version"): _VERSIONS}
    for table in metadata.tables.values():
        made["table", table.name] = str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            made["index", str(index.name)] = str(CreateIndex(index).compile(dialect=dialect))
    return {key: _parts(sql) for key, sql in made.items()}


def _parts(sql: str) -> tuple[str, ...]:
    """Split a declaration into sorted parts: a migration adds a column at the end, after the keys."""
    text = _SPACE.sub(r"\1", " ".join(sql.replace('"', "").split()))
    head, _, rest = text.partition("(")
    body, _, tail = rest.rpartition(")")
    parts, depth, begun = [head, tail], 0, 0
    for offset, char in enumerate(f"{body},"):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(body[begun:offset])
            begun = offset + 1
    return (*parts[:2], *sorted(parts[2:]))
