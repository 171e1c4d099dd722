"""A connection that runs Core statements: compiled once, then handed to the driver as they are.

SQLAlchemy's own execution costs more than what most of our statements do. Whatever goes wrong below
leaves here as one of our errors; nothing above knows a driver.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from threading import RLock
from typing import Any, NamedTuple, Protocol
from weakref import finalize

from sqlalchemy import Connection, Engine, PoolProxiedConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.sql import Executable

from dndbots.errors import StorageError
from dndbots.storage.seals import Seal

Values = Mapping[str, Any]
Row = tuple[Any, ...]


class Dialect(Protocol):
    """What differs between the databases."""

    name: str
    where: str
    errors: tuple[type[Exception], ...]
    # Whether others may have the connection between two calls.
    lends: bool

    def engine(self) -> Engine: ...
    def let_go(self, engine: Engine) -> None:
        """Whoever asked for this engine needs it no more. It may be said by any thread, at any moment."""
        ...

    def configure(self, connection: Any) -> None:
        """A fresh driver connection, made ready; it commits by itself unless told to begin."""
        ...

    def is_lost(self, connection: Any) -> bool: ...
    def lock_for_migration(self, connection: Connection) -> None: ...

    begin_snapshot: str

    def begin(self, cursor: Any, campaign: int) -> None:
        """Begins a transaction in which nobody else writes to this campaign."""
        ...

    def listed(self, column: Any, name: str) -> Any:
        """The condition that a column has one of the values of a list parameter."""
        ...

    def values(self, name: str) -> Any:
        """The values of a list parameter, as a column."""
        ...

    def as_list(self, values: Collection[Any]) -> Any:
        """Values as such a parameter."""
        ...

    def each(self, cursor: Any, sql: str, params: Sequence[Row]) -> list[list[Row]]: ...
    def streaming_cursor(self, connection: Any) -> Any: ...
    def translated(self, exc: Exception) -> StorageError: ...
    def faults(self, cursor: Any) -> list[str]: ...
    def check_before(self, cursor: Any) -> None:
        """Refuses a database in which something foreign would run, before anything is asked of it."""
        ...

    def check_shape(self, cursor: Any) -> None:
        """Refuses a database whose tables are not those of the newest migration."""
        ...

    def note(self, branch: int, seal: Seal) -> None:
        """Keeps a seal apart from the database, once what it seals is on the disk."""
        ...

    def noted(self) -> dict[int, Seal]: ...
    def accept(self, cursor: Any) -> None:
        """Forgets what was noted, and what it showed. In a transaction."""
        ...


class _Compiled(NamedTuple):
    sql: str
    names: tuple[str, ...]
    constants: Values

    def params(self, values: Values) -> Row:
        return tuple([values[name] if name in values else self.constants[name] for name in self.names])


# Statements live as long as the program, so what they compile to is kept by their identity.
_COMPILED: dict[tuple[str, int], _Compiled] = {}


class Database:
    """One connection at a time, used by one thread at a time; where they are lent, any that is free."""

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
                # Who forgets to close must not keep for ever what others share.
                self._let_go = finalize(self, self.dialect.let_go, self._engine)
                self._let_go.atexit = False  # whatever is open then ends with the program
            return self._engine

    def close(self) -> None:
        with self.lock:
            if self._connection is not None:
                self._connection.close()
            if self._engine is not None:
                self._let_go()
            self._connection = self._cursor = self._engine = None

    def all(self, statement: Executable, **values: Any) -> list[Row]:
        compiled = self._of(statement)
        try:
            with self.lock:
                try:
                    found: list[Row] = self.cursor.execute(compiled.sql, compiled.params(values)).fetchall()
                    return found
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translated(exc) from exc

    def one(self, statement: Executable, **values: Any) -> Row | None:
        rows = self.all(statement, **values)
        return rows[0] if rows else None

    def each(self, statement: Executable, many: Collection[Values], **values: Any) -> list[list[Row]]:
        """The rows for each of many values, in their order."""
        compiled = self._of(statement)
        try:
            with self.lock:
                params = [compiled.params({**values, **one}) for one in many]
                try:
                    return self.dialect.each(self.cursor, compiled.sql, params) if params else []
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translated(exc) from exc

    def run(self, statement: Executable, **values: Any) -> int:
        """Executes, and says how many rows it touched."""
        compiled = self._of(statement)
        try:
            with self.lock:
                try:
                    touched: int = self.cursor.execute(compiled.sql, compiled.params(values)).rowcount
                    return touched
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translated(exc) from exc

    def insert(self, statement: Executable, rows: Sequence[Row]) -> None:
        """Rows in the order of the table's columns."""
        try:
            with self.lock:
                try:
                    if len(rows) == 1:
                        self.cursor.execute(self._of(statement).sql, rows[0])
                    elif rows:
                        self.cursor.executemany(self._of(statement).sql, rows)
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            raise self.dialect.translated(exc) from exc

    def faults(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        try:
            with self.lock:
                try:
                    return self.dialect.faults(self.cursor)
                finally:
                    self._put_back()
        except self.dialect.errors as exc:
            return [str(self.dialect.translated(exc))]

    def stream(self, statement: Executable, **values: Any) -> Iterator[Row]:
        """Rows as they are read, through a cursor of their own."""
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
            raise self.dialect.translated(exc) from exc

    @contextmanager
    def _streaming(self) -> Iterator[Any]:
        """The connection of this transaction; or, where it would be lent in between, one for the while."""
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
    def kept(self) -> Iterator[None]:
        """What is asked inside goes through one connection, which nobody else has in between."""
        with self.lock:
            self._keeping += 1
        try:
            yield
        finally:
            with self.lock:
                self._keeping -= 1
                self._put_back()

    def transaction(self, campaign: int) -> AbstractContextManager[None]:
        """Writes of one campaign, alone: committed at the end, or undone."""
        return self._between(lambda cursor: self.dialect.begin(cursor, campaign), "COMMIT")

    def snapshot(self) -> AbstractContextManager[None]:
        """Reads that all see the same moment."""
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
                except BaseException:  # an interruption must not leave half of it behind either
                    self._undo()
                    raise
                finally:
                    self._is_open = False
                    self._put_back()
            except self.dialect.errors as exc:
                raise self.dialect.translated(exc) from exc

    def _undo(self) -> None:
        try:
            if self._cursor is not None:
                self._cursor.execute("ROLLBACK")
        except self.dialect.errors:
            # A connection that is gone has nothing left to undo, and a full disk has undone it by
            # itself; the error that brought us here is the one to tell.
            if self._is_lost():
                self._drop()

    @property
    def cursor(self) -> Any:
        # In the middle of a transaction a new connection would write the rest of it alone.
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
            raise self.dialect.translated(exc.orig if isinstance(exc.orig, Exception) else exc) from exc
        except PoolTimeout as exc:
            raise self.dialect.translated(exc) from exc
        if not self.dialect.lends:
            self.dialect.configure(connection.driver_connection)
        return connection

    def _put_back(self) -> None:
        """Between two calls a connection that is lent is anybody's."""
        if not self.dialect.lends or self._is_open or self._connection is None:
            return
        if self._is_lost():
            self._drop()
            # What died with this one: the others that lie idle were connected to the same server.
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
