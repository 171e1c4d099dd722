"""PostgreSQL: many campaigns in one database, many programs at once."""

import itertools
import time
from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Engine,
    Select,
    and_,
    any_,
    bindparam,
    column,
    create_engine,
    event,
    func,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from dndbots.errors import (
    InvalidSetting,
    StorageError,
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from dndbots.storage.seals import Seal
from dndbots.storage.sql.engine_pool import SharedEngines
from dndbots.storage.sql.schema import metadata

# The limit on connections of one program, however many campaigns it opens.
POOL: Final = 10
# A connection used within so many seconds is not checked again.
_FRESH: Final = 1.0
_SECRETS: Final = ("password", "sslpassword")
_STREAMS = itertools.count(1)
# An arbitrary number for the lock, unlikely to be used by anybody else.
_MIGRATION_LOCK: Final = 0x646E64


def import_driver() -> Any:
    """Import psycopg, which is needed for PostgreSQL only."""
    try:
        import psycopg
    except ImportError as exc:
        raise InvalidSetting(
            "postgresql", "psycopg", reason="is not installed; pip install 'dndbots[postgres]'"
        ) from exc
    return psycopg


_shared = SharedEngines()


class PostgresDialect:
    """The dialect of PostgreSQL, for one address."""

    name = "postgresql"
    lends = True
    begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, url: URL, *, timeout: float, pool: int = POOL) -> None:
        self._psycopg = import_driver()
        self.errors: tuple[type[Exception], ...] = (self._psycopg.Error,)
        self._url, self._timeout, self._pool = url.set(drivername="postgresql+psycopg"), timeout, pool
        shown = url.set(drivername="postgresql").difference_update_query(_SECRETS)
        self.where = shown.render_as_string(hide_password=True)

    def engine(self) -> Engine:
        """Return the engine of this program for this address: all its campaigns share one pool."""
        key = (self._url.render_as_string(hide_password=False), self._timeout, self._pool)
        return _shared.engine(key, self._made)

    def let_go(self, engine: Engine) -> None:
        _shared.let_go(engine)

    def _made(self) -> Engine:
        engine = create_engine(
            self._url,
            paramstyle="format",
            pool_size=self._pool,
            max_overflow=0,
            pool_timeout=max(self._timeout, 1),
            # Last in, first out, so that unneeded connections stay idle.
            pool_use_lifo=True,
            connect_args={"autocommit": True, "connect_timeout": max(2, int(self._timeout))},
        )
        event.listen(engine, "connect", lambda connection, _record: self._prepare(connection))
        event.listen(engine, "checkin", lambda _connection, record: record.info.update(used=time.monotonic()))
        event.listen(engine, "checkout", self._check)
        return engine

    def _prepare(self, connection: Any) -> None:
        connection.autocommit = True
        connection.execute(f"SET lock_timeout = {int(self._timeout * 1000)}")

    def _check(self, connection: Any, record: Any, _proxy: Any) -> None:
        """Check that the server is still there, but only if the connection was idle for a while."""
        used = record.info.get("used")
        if used is None or time.monotonic() - used < _FRESH:
            return
        try:
            connection.execute("")
        except self.errors as exc:
            raise DisconnectionError from exc  # the pool tries another connection

    def configure(self, connection: Any) -> None:
        """Do nothing: a connection is set up when it is made."""

    def is_lost(self, connection: Any) -> bool:
        """Return whether a connection is closed, or stuck in the middle of its last call.

        If the server ends during a pipeline, its message may arrive before the socket closes. Then the driver
        can neither end the pipeline nor see that the connection is gone.
        """
        if connection.closed:
            return True
        asked, status = connection.pgconn, self._psycopg.pq.TransactionStatus
        return bool(
            asked.pipeline_status != self._psycopg.pq.PipelineStatus.OFF
            or asked.transaction_status in (status.ACTIVE, status.UNKNOWN)
        )

    def lock_for_migration(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")

    def begin(self, cursor: Any, campaign: int) -> None:
        cursor.execute("BEGIN")
        cursor.execute("SELECT id FROM campaigns WHERE id = %s FOR UPDATE", (campaign,))

    def listed(self, column: Any, name: str) -> Any:
        return column == any_(bindparam(name))

    def equal(self, columns: Sequence[Any], row: Select[Any]) -> Any:
        # PostgreSQL uses no index to compare a row with a subquery.
        of_each = zip(columns, row.selected_columns, strict=True)
        return and_(*(column == row.with_only_columns(own).scalar_subquery() for column, own in of_each))

    def values(self, name: str, kind: Any = BigInteger) -> Any:
        listed = func.unnest(bindparam(name, type_=ARRAY(kind)))
        return listed.table_valued(column("value", kind)).render_derived().c.value

    def as_list(self, values: Collection[Any]) -> Any:
        return list(values)

    def each(self, cursor: Any, sql: str, params: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        """Run a statement for each set of parameters, in one exchange with the server."""
        if not params:
            return []
        cursor.executemany(sql, params, returning=True)
        found = [cursor.fetchall()]
        while cursor.nextset():
            found.append(cursor.fetchall())
        return found

    def insert(self, cursor: Any, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        cursor.executemany(sql, rows)

    def streaming_cursor(self, connection: Any) -> Any:
        return connection.cursor(name=f"stream_{next(_STREAMS)}", withhold=True)

    def faults(self, cursor: Any) -> list[str]:
        tables = [table.name for table in metadata.tables.values()]
        found = cursor.execute(_FOREIGN, (tables, tables)).fetchall()
        return [
            f"the {kind} {name!r} does not belong to dndbots; drop it if you know it" for kind, name in found
        ]

    def check_before(self, _cursor: Any) -> None:
        """Do nothing: a user who may add triggers to a server's database may do anything there."""

    check_shape = check_before

    def note(self, _branch: int, _seal: Seal) -> None:
        """Do nothing: a server keeps its own journal."""

    def noted_seals(self) -> dict[int, Seal]:
        return {}

    def accept(self, _cursor: Any) -> None:
        """Do nothing: there are no kept seals."""

    def translate(self, exc: Exception) -> StorageError:
        if isinstance(exc, PoolTimeout):
            reason = (
                f"all {self._pool} connections of this program are in use; try again, or add ?pool=<more>"
            )
            return StoreBusy(self.where, reason=reason)
        for name, kind, reason in _REASONS:
            if isinstance(exc, getattr(self._psycopg.errors, name)):
                return kind(self.where, reason=f"{reason} ({exc})")
        if "does not exist" in str(exc):
            return StoreUnavailable(self.where, reason=f"it does not exist; create it first ({exc})")
        if isinstance(exc, self._psycopg.OperationalError):
            return StoreUnavailable(self.where, reason=f"the server does not answer; is it running? ({exc})")
        return StoreUnavailable(self.where, reason=f"the database failed: {exc}")


# Only tables on the search path, which our statements reach.
_FOREIGN: Final = """
    SELECT 'trigger', tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND relname = ANY(%s) AND pg_table_is_visible(pg_class.oid)
    UNION ALL
    SELECT 'rule', rulename FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
    WHERE relname = ANY(%s) AND pg_table_is_visible(pg_class.oid)
    ORDER BY 1, 2
"""
_REASONS: Final[tuple[tuple[str, type[StoreUnavailable], str], ...]] = (
    ("LockNotAvailable", StoreBusy, "another program is writing to this campaign; try again"),
    ("DeadlockDetected", StoreBusy, "two programs waited for each other; try again"),
    ("SerializationFailure", StoreBusy, "another program wrote first; try again"),
    ("UniqueViolation", StoreBusy, "another program did the same first; try again"),
    ("TooManyConnections", StoreBusy, "the server has no connection left; try again"),
    ("DiskFull", StoreFull, "the server has no space left; nothing was written"),
    ("ReadOnlySqlTransaction", StoreReadOnly, "the server accepts no writes"),
    ("InsufficientPrivilege", StoreReadOnly, "this user may not write here"),
)
