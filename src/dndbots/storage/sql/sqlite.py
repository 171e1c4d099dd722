"""SQLite: one folder for each campaign, and no server to start."""

import os
import shutil
import sqlite3
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final
from weakref import finalize

from sqlalchemy import (
    BigInteger,
    Connection,
    Engine,
    Select,
    bindparam,
    column,
    create_engine,
    func,
    select,
    tuple_,
)
from sqlalchemy.pool import NullPool

from dndbots._jsontext import as_json
from dndbots.errors import (
    CampaignMissing,
    InvalidSetting,
    StorageError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from dndbots.storage.files import make_file, make_folder, plain_errors, refuse_links
from dndbots.storage.seals import Seal
from dndbots.storage.sql.schema_check import DECLARED, active_faults, shape_faults
from dndbots.storage.sql.seal_file import TALLY, SealFile

FILE: Final = "campaign.db"
_JOURNAL: Final = f"{FILE}-wal"
_SHARED: Final = f"{FILE}-shm"
# The state of the file, in SQLite's `user_version`: everything is in the file; some of it may be in the
# journal; the file was found without the journal that it should have.
_WHOLE, _OPEN, _DOUBTFUL = range(3)
# SQLite opens no file with a longer path, in bytes.
_LONGEST_PATH: Final = 504
_KIBIBYTES_AT_HAND = 65_536
_PAGES_BEFORE_COPYING = 8_192
# The widest table has 13 columns, and an old SQLite takes 999 parameters.
_ROWS_AT_ONCE: Final = 64

_PATIENCE: Final = 2.0  # seconds


class _Connection(sqlite3.Connection):
    """A connection that marks the file as whole when it closes, if it wrote or found a journal.

    The last connection to close copies the journal into the file. Another writer marks it as open again.
    """

    settles = False

    def close(self) -> None:
        if self.settles:
            self.settles = False
            with suppress(sqlite3.Error):  # another writer marks it later; or the file is full or gone
                self.execute("PRAGMA busy_timeout = 0")
                self.execute("BEGIN IMMEDIATE")
                if _state(self) == _OPEN:
                    self.execute(f"PRAGMA user_version = {_WHOLE}")
                self.execute("COMMIT")
        super().close()


class SqliteDialect:
    """The dialect of SQLite, for the folder of one campaign. A read-only file is read as it is."""

    name = "sqlite"
    lends = False  # each open campaign has its own connection
    begin_snapshot = "BEGIN"
    # Broken text raises either of them.
    errors: tuple[type[Exception], ...] = (sqlite3.Error, UnicodeDecodeError)

    def __init__(self, folder: Path, *, create: bool, timeout: float) -> None:
        self.where = str(folder)
        # Absolute, so that a change of the working directory does not matter, and SQLite reads no part of
        # the path as an option.
        self._file, self._timeout = _absolute(folder) / FILE, timeout
        try:
            is_there = self._file.exists()
        except OSError as exc:
            raise StoreReadOnly(
                self.where, reason=f"the folder cannot be entered ({exc.strerror}); check its permissions"
            ) from exc
        if not is_there and not self._file.is_symlink():
            if not create:
                raise CampaignMissing(self.where)
            self._make(self._file.parent)
        self._seal_file = SealFile(self._file.with_name(TALLY))
        with plain_errors(self._file):
            for name in (FILE, _JOURNAL, _SHARED, f"{FILE}-journal", TALLY):
                refuse_links(self._file.with_name(name))
        self._is_read_only = not all(os.access(path, os.W_OK) for path in (self._file, self._file.parent))
        # Doubtful: events may be missing from the file. Marked: the file itself says that it is open.
        self._is_doubtful = self._is_marked = False
        self._copy: Path | None = None

    def _make(self, folder: Path) -> None:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            if not folder.is_dir():  # a link to a folder is fine: somebody made it on purpose
                make_folder(folder)
        except PermissionError as exc:
            reason = "the folder cannot be created; check permissions, or choose another folder"
            raise StoreReadOnly(self.where, reason=reason) from exc
        except OSError as exc:
            reason = f"the folder cannot be created: {exc.strerror}"
            raise StoreUnavailable(self.where, reason=reason) from exc
        with plain_errors(self._file):
            make_file(self._file)

    def engine(self) -> Engine:
        return create_engine("sqlite://", creator=self._connected, poolclass=NullPool)

    def _connected(self) -> sqlite3.Connection:
        file, mode = self._file, "rw"
        if self._is_read_only and not self._has_journal():
            mode = "ro&immutable=1"  # nobody writes, so SQLite needs no journal to read
        elif self._is_read_only and self._file.with_name(_SHARED).exists():
            mode = "ro"
        elif self._is_read_only:
            file = self._copied()
        return sqlite3.connect(
            f"{file.as_uri()}?mode={mode}",
            uri=True,
            factory=_Connection,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )

    def let_go(self, engine: Engine) -> None:
        engine.dispose()

    def _copied(self) -> Path:
        """Return a temporary copy with its journal: SQLite cannot read a journal in a read-only folder."""
        if self._copy is None:
            folder = Path(mkdtemp(prefix="dndbots-"))
            finalize(self, shutil.rmtree, folder, ignore_errors=True)
            with plain_errors(folder):
                for name in (FILE, _JOURNAL):
                    shutil.copyfile(self._file.with_name(name), folder / name)
            self._copy = folder / FILE
        return self._copy

    def _has_journal(self) -> bool:
        with suppress(OSError):
            return self._file.with_name(_JOURNAL).stat().st_size > 0
        return False

    def configure(self, connection: Any) -> None:
        if self._is_read_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            _use_wal(connection)
        for pragma in (
            "synchronous = FULL",
            f"cache_size = -{_KIBIBYTES_AT_HAND}",
            # The same pages are written again and again; a late checkpoint copies each only once.
            f"wal_autocheckpoint = {_PAGES_BEFORE_COPYING}",
            "temp_store = MEMORY",
            # The file may come from an untrusted source.
            "trusted_schema = OFF",
            "cell_size_check = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        state = _state(connection)
        # After this read, the connection keeps others from removing the journal.
        if state == _OPEN and self._seal_file.noted_seals() is None:
            connection.settles = self._has_journal()
            self._is_doubtful = not connection.settles
        else:
            self._is_doubtful = state == _DOUBTFUL

    def check_before(self, cursor: Any) -> None:
        self._refuse(active_faults(cursor.execute(DECLARED).fetchall()))

    def check_shape(self, cursor: Any) -> None:
        self._refuse(shape_faults(cursor.execute(DECLARED).fetchall()))

    def _refuse(self, faults: list[str]) -> None:
        if faults:
            raise StoreDamaged(self.where, reason=f"{faults[0]}; or restore a copy")

    def note(self, branch: int, seal: Seal) -> None:
        if not self._is_doubtful:
            self._seal_file.note(branch, seal)

    def noted_seals(self) -> dict[int, Seal]:
        return self._seal_file.noted_seals() or {}

    def accept(self, cursor: Any) -> None:
        cursor.execute(f"PRAGMA user_version = {_OPEN}")
        self._seal_file.forget()
        self._is_doubtful = False

    def is_lost(self, _connection: Any) -> bool:
        return False

    def lock_for_migration(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def begin(self, cursor: Any, _campaign: int) -> None:
        cursor.execute("BEGIN IMMEDIATE")
        cursor.connection.settles = True
        state = _state(cursor)
        if self._is_doubtful:
            if state != _DOUBTFUL:
                cursor.execute(f"PRAGMA user_version = {_DOUBTFUL}")
        elif state == _WHOLE or not self._is_marked:
            self._mark(cursor)

    def _mark(self, cursor: Any) -> None:
        """Mark the file itself as open, so that a copy without its journal can be recognized.

        A reader of an older state may keep the mark out of the file; then the next writer tries again. The
        seals are beside the file before the mark is in it: a disk that fails in between loses nothing.
        """
        if self._seal_file.noted_seals() is None:
            rows = cursor.execute("SELECT id, forked_at, seal FROM branches").fetchall()
            self._seal_file.begin({row[0]: Seal.read(row[2]) or Seal(row[1]) for row in rows})
        if _state(cursor) == _WHOLE:
            cursor.execute(f"PRAGMA user_version = {_OPEN}")
        cursor.execute("COMMIT")
        _, pages, copied = cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._is_marked = pages == copied
        cursor.execute("BEGIN IMMEDIATE")
        if _state(cursor) == _WHOLE:  # another connection closed in between
            cursor.execute(f"PRAGMA user_version = {_OPEN}")
            self._is_marked = False

    def listed(self, column: Any, name: str) -> Any:
        values = func.json_each(bindparam(name)).table_valued("value")
        return column.in_(select(values.c.value))

    def equal(self, columns: Sequence[Any], row: Select[Any]) -> Any:
        # Looked up once for all columns, and by the index.
        return tuple_(*columns) == row.scalar_subquery()

    def values(self, name: str, kind: Any = BigInteger) -> Any:
        return func.json_each(bindparam(name)).table_valued(column("value", kind)).c.value

    def as_list(self, values: Collection[Any]) -> Any:
        return as_json(list(values))

    def each(self, cursor: Any, sql: str, params: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        execute = cursor.execute
        return [execute(sql, row).fetchall() for row in params]

    def insert(self, cursor: Any, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows, many with each run of the statement: to begin and end a run costs as much as a row."""
        whole = len(rows) - len(rows) % _ROWS_AT_ONCE
        if whole:
            one = f"({', '.join('?' * len(rows[0]))})"
            many = sql.replace(one, ", ".join([one] * _ROWS_AT_ONCE), 1)
            parts = (rows[first : first + _ROWS_AT_ONCE] for first in range(0, whole, _ROWS_AT_ONCE))
            cursor.executemany(many, (tuple(chain.from_iterable(part)) for part in parts))
        cursor.executemany(sql, rows[whole:])

    def streaming_cursor(self, connection: Any) -> Any:
        return connection.cursor()

    def faults(self, cursor: Any) -> list[str]:
        found = [row[0] for row in cursor.execute("PRAGMA integrity_check(20)")]
        remedy = "restore it from a copy or an export"
        if found != ["ok"]:
            return [f"the file is damaged: {fault}; {remedy}" for fault in found]
        declared = cursor.execute(DECLARED).fetchall()
        found = [f"{fault}; or restore a copy" for fault in active_faults(declared) or shape_faults(declared)]
        if self._is_doubtful:
            found.append(
                f"it was copied while it was open, without its journal ({_JOURNAL}): the newest events may "
                "be missing; copy both files, or copy it closed, or rebuild to continue with what is left"
            )
        return found

    def translate(self, exc: Exception) -> StorageError:
        code = getattr(exc, "sqlite_errorname", "")
        if isinstance(exc, UnicodeDecodeError) or str(exc).startswith("Could not decode"):
            # The original message quotes the row, which may be secret.
            code, exc = "SQLITE_CORRUPT", ValueError("a text is not valid UTF-8")
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


def _state(connection: Any) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _use_wal(connection: Any) -> None:
    """Switch to write-ahead logging. SQLite does not wait for another program that does the same; we do."""
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


def _absolute(folder: Path) -> Path:
    """Return the absolute path of a folder; refuse one too long for SQLite."""
    try:
        length = len(os.fsencode(os.path.realpath(folder / FILE)))
    except ValueError as exc:
        raise InvalidSetting("campaign", str(folder), reason=f"is not a valid path ({exc})") from exc
    if length > _LONGEST_PATH:
        reason = f"has a path of {length} bytes; SQLite allows {_LONGEST_PATH}; choose a shorter one"
        raise InvalidSetting("campaign", str(folder), reason=reason)
    return folder.absolute()
