"""A database connection that runs SQLAlchemy Core statements, each compiled once and passed to the driver.

SQLAlchemy's own execution costs more than most of our statements. Every driver error leaves here as one of
our errors; nothing above knows a driver.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from threading import RLock
from typing import Any, NamedTuple, Protocol
from weakref import finalize

from sqlalchemy import BigInteger, Connection, Engine, PoolProxiedConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.sql import Executable, Select

from dndbots.errors import StorageError
from dndbots.storage.seals import Seal

Values = Mapping[str, Any]
Row = tuple[Any, ...]


class Dialect(Protocol):
    """The parts that differ between SQLite and PostgreSQL."""

    name: str
    where: str
    errors: tuple[type[Exception], ...]
    # True if the connection goes back to a pool between two calls.
    lends: bool

    def engine(self) -> Engine: ...
    def let_go(self, engine: Engine) -> None:
        """Release an engine that was got by `engine`. May be called by any thread at any moment."""
        ...

    def configure(self, connection: Any) -> None:
        """Set up a fresh driver connection, in autocommit mode."""
        ...

    def is_lost(self, connection: Any) -> bool: ...
    def lock_for_migration(self, connection: Connection) -> None: ...

    begin_snapshot: str

    def begin(self, cursor: Any, campaign: int) -> None:
        """Begin a transaction that locks out other writers of this campaign."""
        ...

    def listed(self, column: Any, name: str) -> Any:
        """Return the condition that a column has one of the values of a list parameter."""
        ...

    def equal(self, columns: Sequence[Any], row: Select[Any]) -> Any:
        """Return the condition that columns equal the only row of a select, each its own column."""
        ...

    def values(self, name: str, kind: Any = BigInteger) -> Any:
        """Return the values of a list parameter, as a column."""
        ...

    def as_list(self, values: Collection[Any]) -> Any:
        """Return values as a list parameter."""
        ...

    def each(self, cursor: Any, sql: str, params: Sequence[Row]) -> list[list[Row]]: ...
    def insert(self, cursor: Any, sql: str, rows: Sequence[Row]) -> None: ...
    def streaming_cursor(self, connection: Any) -> Any: ...
    def translate(self, exc: Exception) -> StorageError: ...
    def faults(self, cursor: Any) -> list[str]: ...
    def check_before(self, cursor: Any) -> None:
        """Refuse a database with triggers, views or rules of somebody else, before any other query."""
        ...

    def check_shape(self, cursor: Any) -> None:
        """Refuse a database whose tables do not match the newest migration."""
        ...

    def note(self, branch: int, seal: Seal) -> None:
        """Keep a seal apart from the database, after the sealed events are on the disk."""
        ...

    def noted_seals(self) -> dict[int, Seal]: ...
    def accept(self, cursor: Any) -> None:
        """Forget the kept seals and the doubts that they raised. Called inside a transaction."""
        ...


class _Compiled(NamedTuple):
    sql: str
    names: tuple[str, ...]
    constants: Values

    def params(self, values: Values) -> Row:
        return tuple([values[name] if name in values else self.constants[name] for name in self.names])


# Statements live as long as the program, so their compiled form is cached by identity.
_COMPILED: dict[tuple[str, int], _Compiled] = {}


class Database:
    """A database, on one connection at a time; with a pool, each call takes any free connection."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.lock = RLock()
        self._engine: Engine | None = None
        self._connection: Any = None
        self._cursor: Any = None
        self._is_open = False
        self._keeping = 0

    @property
    def engine(self) -> Engine:
        with self.lock:
            if self._engine is None:
                self._engine = self.dialect.engine()
                # If nobody closes this, the garbage collector still releases the shared engine.
                self._let_go = finalize(self, self.dialect.let_go, self._engine)
                self._let_go.atexit = False  # at exit, connections end with the program
            return self._engine

    def close(self) -> None:
        with self.lock:
            if self._connection is not None:
                self._connection.close()
            if self._engine is not None:
                self._let_go()
            self._connection = self._cursor = self._engine = None

    def all(self, statement: Executable, **values: Any) -> list[Row]:
        """Run a statement and return all its rows."""
        compiled = self._of(statement)
        try:
            with self.lock:
                try:
                    found: list[Row] = self.cursor.execute(compiled.sql, compiled.params(values)).fetchall()
                    return found
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translate(exc) from exc

    def one(self, statement: Executable, **values: Any) -> Row | None:
        """Run a statement and return its first row; None if there is none."""
        rows = self.all(statement, **values)
        return rows[0] if rows else None

    def each(self, statement: Executable, many: Collection[Values], **values: Any) -> list[list[Row]]:
        """Run a statement once for each of `many` values; return the rows of each, in the same order."""
        compiled = self._of(statement)
        try:
            with self.lock:
                params = [compiled.params({**values, **own}) for own in many]
                try:
                    return self.dialect.each(self.cursor, compiled.sql, params) if params else []
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translate(exc) from exc

    def run(self, statement: Executable, **values: Any) -> int:
        """Run a statement; return the number of rows it touched."""
        compiled = self._of(statement)
        try:
            with self.lock:
                try:
                    touched: int = self.cursor.execute(compiled.sql, compiled.params(values)).rowcount
                    return touched
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translate(exc) from exc

    def insert(self, statement: Executable, rows: Sequence[Row]) -> None:
        """Insert rows, whose values are in the order of the table's columns."""
        try:
            with self.lock:
                try:
                    if len(rows) == 1:
                        self.cursor.execute(self._of(statement).sql, rows[0])
                    elif rows:
                        self.dialect.insert(self.cursor, self._of(statement).sql, rows)
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translate(exc) from exc

    def faults(self) -> list[str]:
        """Return the problems that the database itself finds in its files."""
        try:
            with self.lock:
                try:
                    return self.dialect.faults(self.cursor)
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            return [str(self.dialect.translate(exc))]

    def stream(self, statement: Executable, **values: Any) -> Iterator[Row]:
        """Yield rows as they are read, through a separate cursor."""
        compiled = self._of(statement)
        try:
            with (
                self._streaming() as connection,
                closing(self.dialect.streaming_cursor(connection)) as cursor,
            ):
                cursor.execute(compiled.sql, compiled.params(values))
                while rows := cursor.fetchmany(10_000):
                    yield from rows
        except self.dialect.errors as exc:
            raise self.dialect.translate(exc) from exc

    @contextmanager
    def _streaming(self) -> Iterator[Any]:
        """Give the connection of this transaction; or, with a pool and no transaction, a borrowed one."""
        with self.lock:
            own = self.cursor.connection if self._is_open or not self.dialect.lends else None
        if own is not None:
            yield own
        else:
            with closing(self._borrowed()) as borrowed:
                try:
                    yield borrowed.driver_connection
                finally:
                    if self.dialect.is_lost(borrowed.driver_connection):
                        borrowed.invalidate()

    @contextmanager
    def keep_connection(self) -> Iterator[None]:
        """Keep one connection for all calls inside."""
        with self.lock:
            self._keeping += 1
        try:
            yield
        finally:
            with self.lock:
                self._keeping -= 1
                self._put_back()

    def transaction(self, campaign: int) -> AbstractContextManager[None]:
        """Write to one campaign alone: commit at the end, or undo."""
        return self._between(lambda cursor: self.dialect.begin(cursor, campaign), "COMMIT")

    def snapshot(self) -> AbstractContextManager[None]:
        """Make all reads inside see the same moment."""
        return self._between(lambda cursor: cursor.execute(self.dialect.begin_snapshot), "ROLLBACK")

    @contextmanager
    def _between(self, begin: Callable[[Any], object], end: str) -> Iterator[None]:
        with self.lock:
            try:
                cursor = self.cursor
                self._is_open = True
                try:
                    begin(cursor)
                    yield
                    cursor.execute(end)
                except BaseException:  # an interruption must leave nothing half-written either
                    self._undo()
                    raise
                finally:
                    self._is_open = False
                    self._put_back()
            except self.dialect.errors as exc:
                raise self.dialect.translate(exc) from exc

    def _undo(self) -> None:
        try:
            if self._cursor is not None:
                self._cursor.execute("ROLLBACK")
        except self.dialect.errors:
            # A lost connection has nothing left to undo, and a full disk has rolled back by itself. The
            # first error is the one to raise.
            if self._is_lost():
                self._drop()

    @property
    def cursor(self) -> Any:
        # Never reconnect inside a transaction: the new connection would write only the rest of it.
        if self._cursor is None:
            self._connect()
        elif not self._is_open and self._is_lost():
            self._drop()
            self._connect()
        return self._cursor

    def _connect(self) -> None:
        connection = self._borrowed()
        self._connection, self._cursor = connection, connection.cursor()

    def _borrowed(self) -> PoolProxiedConnection:
        try:
            connection = self.engine.raw_connection()
        except DBAPIError as exc:
            raise self.dialect.translate(exc.orig if isinstance(exc.orig, Exception) else exc) from exc
        except PoolTimeout as exc:
            raise self.dialect.translate(exc) from exc
        if not self.dialect.lends:
            self.dialect.configure(connection.driver_connection)
        return connection

    def _put_back(self) -> None:
        """Return a pooled connection to its pool."""
        if not self.dialect.lends or self._is_open or self._connection is None:
            return
        if self._is_lost():
            self._drop()
            # The idle connections of the pool were to the same server, and are lost too.
            self.engine.dispose()
        elif not self._keeping:
            self._connection.close()
            self._connection = self._cursor = None

    def _is_lost(self) -> bool:
        return self._connection is not None and self.dialect.is_lost(self._connection.driver_connection)

    def _drop(self) -> None:
        self._connection.invalidate()
        self._connection = self._cursor = None

    def _of(self, statement: Any) -> _Compiled:
        key = self.dialect.name, id(statement)
        found = _COMPILED.get(key)
        if found is None:
            made = statement.compile(dialect=self.engine.dialect)
            names = tuple(made.positiontup or ())
            constants = {name: made.params[name] for name in names if made.params[name] is not None}
            found = _COMPILED[key] = _Compiled(str(made), names, constants)
        return found
