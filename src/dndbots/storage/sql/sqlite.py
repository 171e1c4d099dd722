"""SQLite: a folder for each campaign, nothing to start."""

import os
import shutil
import sqlite3
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final
from weakref import finalize

from sqlalchemy import BigInteger, Connection, Engine, bindparam, column, create_engine, func, select
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
from dndbots.storage.disk import make_file, make_folder, plain_errors, refuse_links
from dndbots.storage.seals import Seal
from dndbots.storage.sql.shape import DECLARED, active_faults, shape_faults
from dndbots.storage.sql.tally import TALLY, Tally

FILE: Final = "campaign.db"
_JOURNAL: Final = f"{FILE}-wal"
_SHARED: Final = f"{FILE}-shm"
# What the file says of itself, where SQLite keeps a number for programs: that all is in it; that some of it
# may be in the journal; that it was found without the journal that it should have.
_WHOLE, _OPEN, _DOUBTFUL = range(3)
# SQLite opens no file with a longer path, in bytes.
_LONGEST_PATH: Final = 504
_KIBIBYTES_AT_HAND = 65_536
_PAGES_BEFORE_COPYING = 8_192

_PATIENCE: Final = 2.0  # seconds


class _Connection(sqlite3.Connection):
    """A connection that, if it wrote or found a journal, says at its end that all is in the file.

    The last one to go copies the journal into the file. Whoever else still writes says otherwise again.
    """

    settles = False

    def close(self) -> None:
        if self.settles:
            self.settles = False
            with suppress(sqlite3.Error):  # who is busy now says so later; and the file may be full or gone
                self.execute("PRAGMA busy_timeout = 0")
                self.execute("BEGIN IMMEDIATE")
                if _state(self) == _OPEN:
                    self.execute(f"PRAGMA user_version = {_WHOLE}")
                self.execute("COMMIT")
        super().close()


class SqliteDialect:
    """A campaign's folder and the database in it. What cannot be written to is read as it is."""

    name = "sqlite"
    lends = False  # a file has room for as many connections as there are campaigns open: one
    begin_snapshot = "BEGIN"
    # Text that is no text shows as either.
    errors: tuple[type[Exception], ...] = (sqlite3.Error, UnicodeDecodeError)

    def __init__(self, folder: Path, *, create: bool, timeout: float) -> None:
        self.where = str(folder)
        # Absolute: it stays the same file wherever the program goes, and SQLite takes no part of it for
        # anything but a name.
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
        self._tally = Tally(self._file.with_name(TALLY))
        with plain_errors(self._file):
            for name in (FILE, _JOURNAL, _SHARED, f"{FILE}-journal", TALLY):
                refuse_links(self._file.with_name(name))
        self._is_read_only = not all(os.access(one, os.W_OK) for one in (self._file, self._file.parent))
        # Whether what is in the file may not be all, and whether the file itself says that it is open.
        self._is_doubtful = self._is_marked = False
        self._copy: Path | None = None

    def _make(self, folder: Path) -> None:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            if not folder.is_dir():  # a link to a folder is one that somebody else made
                make_folder(folder)
        except PermissionError as exc:
            raise StoreReadOnly(self.where, reason="the folder cannot be made; choose another place") from exc
        except OSError as exc:
            raise StoreUnavailable(self.where, reason=f"the folder cannot be made: {exc.strerror}") from exc
        with plain_errors(self._file):
            make_file(self._file)

    def engine(self) -> Engine:
        return create_engine("sqlite://", creator=self._connected, poolclass=NullPool)

    def _connected(self) -> sqlite3.Connection:
        file, mode = self._file, "rw"
        if self._is_read_only and not self._has_journal():
            mode = "ro&immutable=1"  # nobody writes, so that SQLite need not make a journal to read
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
        """A copy with its journal, in a place of its own: SQLite reads no journal where it cannot write."""
        if self._copy is None:
            place = Path(mkdtemp(prefix="dndbots-"))
            finalize(self, shutil.rmtree, place, ignore_errors=True)
            with plain_errors(place):
                for name in (FILE, _JOURNAL):
                    shutil.copyfile(self._file.with_name(name), place / name)
            self._copy = place / FILE
        return self._copy

    def _has_journal(self) -> bool:
        with suppress(OSError):
            return self._file.with_name(_JOURNAL).stat().st_size > 0
        return False

    def configure(self, connection: Any) -> None:
        if self._is_read_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            _keep_a_log(connection)
        for pragma in (
            "synchronous = FULL",
            f"cache_size = -{_KIBIBYTES_AT_HAND}",
            # The same pages are written again and again; later, they are copied to their places once.
            f"wal_autocheckpoint = {_PAGES_BEFORE_COPYING}",
            "temp_store = MEMORY",
            # A file may come from anywhere.
            "trusted_schema = OFF",
            "cell_size_check = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        state = _state(connection)
        # Having read it, this connection keeps others from taking the journal away.
        if state == _OPEN and self._tally.noted() is None:
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
            self._tally.note(branch, seal)

    def noted(self) -> dict[int, Seal]:
        return self._tally.noted() or {}

    def accept(self, cursor: Any) -> None:
        cursor.execute(f"PRAGMA user_version = {_OPEN}")
        self._tally.forget()
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
        """Says in the file itself that from here on it is not all: a copy of it alone is then known for one.

        What still reads an older state may keep that out of the file; then the next one who writes tries.
        """
        if _state(cursor) == _WHOLE:
            cursor.execute(f"PRAGMA user_version = {_OPEN}")
        cursor.execute("COMMIT")
        _, pages, copied = cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._is_marked = pages == copied
        cursor.execute("BEGIN IMMEDIATE")
        if _state(cursor) == _WHOLE:  # somebody left in between
            cursor.execute(f"PRAGMA user_version = {_OPEN}")
            self._is_marked = False

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
        if found != ["ok"]:
            return [f"the file is damaged: {fault}; {remedy}" for fault in found]
        declared = cursor.execute(DECLARED).fetchall()
        found = [f"{fault}; or restore a copy" for fault in active_faults(declared) or shape_faults(declared)]
        if self._is_doubtful:
            found.append(
                f"it was copied while it was open, without its journal ({_JOURNAL}): the newest events may "
                "be missing; copy both, or copy it closed, or rebuild to go on with what is there"
            )
        return found

    def translated(self, exc: Exception) -> StorageError:
        code = getattr(exc, "sqlite_errorname", "")
        if isinstance(exc, UnicodeDecodeError) or str(exc).startswith("Could not decode"):
            # It quotes the row, which need not be for whoever reads this.
            code, exc = "SQLITE_CORRUPT", ValueError("what should be text is none")
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


def _absolute(folder: Path) -> Path:
    """A folder's whole path, if SQLite can open a file in it."""
    try:
        length = len(os.fsencode(os.path.realpath(folder / FILE)))
    except ValueError as exc:
        raise InvalidSetting("campaign", str(folder), reason=f"is no path ({exc})") from exc
    if length > _LONGEST_PATH:
        reason = f"has a path of {length} bytes; SQLite opens up to {_LONGEST_PATH}, so choose a shorter one"
        raise InvalidSetting("campaign", str(folder), reason=reason)
    return folder.absolute()
