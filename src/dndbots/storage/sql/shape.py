"""Compares what is declared in a SQLite file with what our migrations declare.

A trigger or a view in a file runs as soon as its table is used. So it is looked for before anything is.
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
# Tables that SQLite itself makes: what it counted, when somebody asked it to.
_OWN: Final = ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
_SPACE: Final = re.compile(r" ?([(),]) ?")  # of a text in which there are no two blanks in a row


class Declared(NamedTuple):
    kind: str
    name: str
    sql: str | None


def active_faults(rows: Iterable[tuple[str, str, str | None]]) -> list[str]:
    """What is declared that could run by itself. A campaign has none of that in any version."""
    found = [Declared(*row) for row in rows]
    return [
        _foreign(one)
        for one in found
        if one.kind not in ("table", "index") or str(one.sql).upper().startswith("CREATE VIRTUAL")
    ]


def shape_faults(rows: Iterable[tuple[str, str, str | None]]) -> list[str]:
    """What is declared otherwise than by the newest migration."""
    found = {
        (kind, name): None if sql is None else _parts(str(sql))
        for kind, name, sql in rows
        # An index without a text is that of a key, and comes with the text of its table.
        if not (kind == "index" and sql is None) and name not in _OWN
    }
    expected = _expected()
    missing = [f"the {kind} {name} is missing" for kind, name in expected.keys() - found.keys()]
    foreign = [_foreign(Declared(*key, None)) for key in found.keys() - expected.keys()]
    changed = [
        f"the {kind} {name} is not declared as it was"
        for kind, name in expected.keys() & found.keys()
        if expected[kind, name] != found[kind, name]
    ]
    return [*sorted(foreign), *sorted(missing), *sorted(changed)]


def _foreign(one: Declared) -> str:
    return f"the {one.kind} {one.name!r} is not of dndbots; drop it if you know it, else distrust the file"


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
    """A declaration as its parts, in any order: a migration adds a column at the end, behind the keys."""
    text = _SPACE.sub(r"\1", " ".join(sql.replace('"', "").split()))
    head, _, rest = text.partition("(")
    body, _, tail = rest.rpartition(")")
    parts, depth, begun = [head, tail], 0, 0
    for place, char in enumerate(f"{body},"):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(body[begun:place])
            begun = place + 1
    return (*parts[:2], *sorted(parts[2:]))
