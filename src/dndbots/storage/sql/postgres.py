"""PostgreSQL: many campaigns in one database, many programs at once."""

import itertools
from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import ARRAY, BigInteger, Connection, Engine, any_, bindparam, column, create_engine, func
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from dndbots.errors import (
    InvalidSetting,
    StorageError,
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_STREAMS = itertools.count(1)
# Any number that nobody else in the database is likely to lock.
_MIGRATION_LOCK: Final = 0x646E64


def driver() -> Any:
    """psycopg, which only those need who use PostgreSQL."""
    try:
        import psycopg
    except ImportError as exc:
        raise InvalidSetting(
            "postgresql", "psycopg", reason="is not installed; pip install 'dndbots[postgres]'"
        ) from exc
    return psycopg


class PostgresDialect:
    """A database server, by its address."""

    name = "postgresql"
    begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, url: URL, *, timeout: float) -> None:
        self._psycopg = driver()
        self.errors: tuple[type[Exception], ...] = (self._psycopg.Error,)
        self._url, self._timeout = url.set(drivername="postgresql+psycopg"), timeout
        self.where = url.set(drivername="postgresql").render_as_string(hide_password=True)

    def engine(self) -> Engine:
        return create_engine(
            self._url,
            poolclass=NullPool,
            paramstyle="format",
            connect_args={"autocommit": True, "connect_timeout": max(2, int(self._timeout))},
        )

    def configure(self, connection: Any) -> None:
        connection.autocommit = True
        connection.execute(f"SET lock_timeout = {int(self._timeout * 1000)}")

    def is_lost(self, connection: Any) -> bool:
        return bool(connection.closed)

    def lock_for_migration(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")

    def begin(self, cursor: Any, campaign: int) -> None:
        cursor.execute("BEGIN")
        cursor.execute("SELECT id FROM campaigns WHERE id = %s FOR UPDATE", (campaign,))

    def listed(self, column: Any, name: str) -> Any:
        return column == any_(bindparam(name))

    def values(self, name: str) -> Any:
        listed = func.unnest(bindparam(name, type_=ARRAY(BigInteger)))
        return listed.table_valued(column("value", BigInteger)).render_derived().c.value

    def as_list(self, values: Collection[Any]) -> Any:
        return list(values)

    def each(self, cursor: Any, sql: str, params: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        """All of them in one exchange with the server."""
        if not params:
            return []
        cursor.executemany(sql, params, returning=True)
        found = [cursor.fetchall()]
        while cursor.nextset():
            found.append(cursor.fetchall())
        return found

    def streaming_cursor(self, connection: Any) -> Any:
        return connection.cursor(name=f"stream_{next(_STREAMS)}", withhold=True)

    def faults(self, _cursor: Any) -> list[str]:
        return []

    def translated(self, exc: Exception) -> StorageError:
        for name, kind, reason in _REASONS:
            if isinstance(exc, getattr(self._psycopg.errors, name)):
                return kind(self.where, reason=f"{reason} ({exc})")
        if "does not exist" in str(exc):
            return StoreUnavailable(self.where, reason=f"make it first ({exc})")
        if isinstance(exc, self._psycopg.OperationalError):
            return StoreUnavailable(self.where, reason=f"the server does not answer; is it running? ({exc})")
        return StoreUnavailable(self.where, reason=f"the database failed: {exc}")


_REASONS: Final[tuple[tuple[str, type[StoreUnavailable], str], ...]] = (
    ("LockNotAvailable", StoreBusy, "another program is writing to this campaign; try again"),
    ("DeadlockDetected", StoreBusy, "two programs waited for each other; try again"),
    ("SerializationFailure", StoreBusy, "another program wrote first; try again"),
    ("TooManyConnections", StoreBusy, "the server has no connection left; try again"),
    ("DiskFull", StoreFull, "the server has no space left; nothing was written"),
    ("ReadOnlySqlTransaction", StoreReadOnly, "the server accepts no writes"),
    ("InsufficientPrivilege", StoreReadOnly, "this user may not write here"),
)
