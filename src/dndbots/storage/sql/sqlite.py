"""SQLite: a folder for each campaign, nothing to start."""

import sqlite3
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, Engine, bindparam, column, create_engine, func, select
from sqlalchemy.pool import NullPool

from dndbots._json import as_json
from dndbots.errors import (
    CampaignMissing,
    StorageError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

FILE: Final = "campaign.db"
_KIBIBYTES_AT_HAND = 65_536
_PAGES_BEFORE_COPYING = 8_192

_PATIENCE: Final = 2.0  # seconds


class SqliteDialect:
    """A campaign's folder and the database in it."""

    name = "sqlite"
    lends = False  # a file has room for as many connections as there are campaigns open: one
    begin_snapshot = "BEGIN"
    # Text that is no text shows as either.
    errors: tuple[type[Exception], ...] = (sqlite3.Error, UnicodeDecodeError)

    def __init__(self, folder: Path, *, create: bool, timeout: float) -> None:
        self.where = str(folder)
        self._file, self._timeout = folder / FILE, timeout
        try:
            is_there = self._file.exists()
        except OSError as exc:
            raise StoreReadOnly(
                self.where, reason=f"the folder cannot be entered ({exc.strerror}); check its permissions"
            ) from exc
        if not is_there:
            if not create:
                raise CampaignMissing(self.where)
            self._make(folder)

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except PermissionError as exc:
            raise StoreReadOnly(self.where, reason="the folder cannot be made; choose another place") from exc
        except OSError as exc:
            raise StoreUnavailable(self.where, reason=f"the folder cannot be made: {exc.strerror}") from exc

    def engine(self) -> Engine:
        return create_engine(
            f"sqlite:///{self._file}",
            poolclass=NullPool,
            connect_args={
                "timeout": self._timeout,
                "isolation_level": None,
                "check_same_thread": False,
                "cached_statements": 256,
            },
        )

    def let_go(self, engine: Engine) -> None:
        engine.dispose()

    def configure(self, connection: Any) -> None:
        _keep_a_log(connection)
        for pragma in (
            "synchronous = FULL",
            f"cache_size = -{_KIBIBYTES_AT_HAND}",
            # The same pages are written again and again; later, they are copied to their places once.
            f"wal_autocheckpoint = {_PAGES_BEFORE_COPYING}",
            "temp_store = MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}")

    def is_lost(self, _connection: Any) -> bool:
        return False

    def lock_for_migration(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def begin(self, cursor: Any, _campaign: int) -> None:
        cursor.execute("BEGIN IMMEDIATE")

    def listed(self, column: Any, name: str) -> Any:
        values = func.json_each(bindparam(name)).table_valued("value")
        return column.in_(select(values.c.value))

    def values(self, name: str) -> Any:
        return func.json_each(bindparam(name)).table_valued(column("value", BigInteger)).c.value

    def as_list(self, values: Collection[Any]) -> Any:
        return as_json(list(values))

    def each(self, cursor: Any, sql: str, params: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        execute = cursor.execute
        return [execute(sql, one).fetchall() for one in params]

    def streaming_cursor(self, connection: Any) -> Any:
        return connection.cursor()

    def faults(self, cursor: Any) -> list[str]:
        found = [row[0] for row in cursor.execute("PRAGMA integrity_check(20)")]
        remedy = "restore it from a copy or an export"
        return [] if found == ["ok"] else [f"the file is damaged: {fault}; {remedy}" for fault in found]

    def translated(self, exc: Exception) -> StorageError:
        code = getattr(exc, "sqlite_errorname", "")
        if isinstance(exc, UnicodeDecodeError) or str(exc).startswith("Could not decode"):
            code = "SQLITE_CORRUPT"
        for begins, kind, reason in _REASONS:
            if code.startswith(begins):
                return kind(self.where, reason=f"{reason} ({exc})")
        return StoreUnavailable(self.where, reason=f"the database failed: {exc}")


_REASONS: Final[tuple[tuple[str, type[StoreUnavailable], str], ...]] = (
    ("SQLITE_BUSY", StoreBusy, "another program is writing to it; try again, or close that program"),
    ("SQLITE_LOCKED", StoreBusy, "another connection is using it; try again"),
    ("SQLITE_FULL", StoreFull, "no space left; nothing was written; make room and try again"),
    (
        "SQLITE_READONLY",
        StoreReadOnly,
        "it cannot be written to; check its permissions, or copy it elsewhere",
    ),
    ("SQLITE_CANTOPEN", StoreReadOnly, "it cannot be opened for writing; check the folder's permissions"),
    ("SQLITE_PERM", StoreReadOnly, "access is not permitted; check the folder's permissions"),
    ("SQLITE_CORRUPT", StoreDamaged, "the file is damaged; restore it from a copy or an export"),
    ("SQLITE_NOTADB", StoreDamaged, f"{FILE} is not a campaign; restore it from a copy or an export"),
    ("SQLITE_IOERR", StoreUnavailable, "reading or writing the disk failed; nothing was written"),
)


def _keep_a_log(connection: Any) -> None:
    """Several programs may make a campaign at the same moment: SQLite does not wait here, so we do."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as exc:
            if "locked" not in str(exc) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
