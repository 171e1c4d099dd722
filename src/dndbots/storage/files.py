"""File helpers: read without following links, write durably or not at all, lock.

New folders and files are for their owner only. `plain_errors` turns errors of the disk into errors of ours,
with the path and a remedy.
"""

import errno
import io
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Final, NamedTuple

from dndbots.errors import StoreBusy, StoreFull, StoreReadOnly, StoreUnavailable

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _give_back(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give_back(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


# Do not follow links, and do not wait for a pipe in place of a file. Windows has neither flag.
_CAREFULLY: Final[int] = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_PAUSE: Final = 0.002
_TAKEN: Final = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_FULL: Final = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
# Most disks allow 255 bytes for a name, and a random part is added to this.
_LONGEST_STEM: Final = 40

MISSING: Final = "is missing"


class FileRead(NamedTuple):
    """The content of a file, or what is wrong with it."""

    content: bytes | None
    wrong: str = ""

    @property
    def is_missing(self) -> bool:
        return self.wrong == MISSING


def read_file(path: Path) -> FileRead:
    """Read a file. A link, a folder or a pipe in its place is refused."""
    try:
        handle = os.open(path, os.O_RDONLY | _CAREFULLY)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            return FileRead(None, "is not a file")
        with os.fdopen(handle, "rb") as file:
            return FileRead(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return FileRead(None, MISSING)
    except OSError as exc:
        kind = "is a link" if path.is_symlink() else f"cannot be read ({exc.strerror})"
        return FileRead(None, kind)


def write_file(path: Path, content: bytes) -> None:
    """Write a new file; it is on the disk when this returns."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CAREFULLY, _FILE_MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def open_file(path: Path) -> int:
    """Open a file to read and write, and make it if there is none. Refuses a link or a folder."""
    return os.open(path, os.O_RDWR | os.O_CREAT | _CAREFULLY, _FILE_MODE)


def make_file(path: Path) -> None:
    """Make an empty file if there is none. Refuses a link, a folder or a pipe in its place."""
    os.close(open_file(path))
    if not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is not a file", str(path))


@contextmanager
def open_replacement(path: Path) -> Iterator[IO[str]]:
    """Give a new text file that replaces another one at the end, or disappears on an error."""
    with open_binary_replacement(path) as raw:
        file = io.TextIOWrapper(raw, encoding="utf-8", newline="\n", write_through=True)
        yield file
        file.flush()
        file.detach()


@contextmanager
def open_binary_replacement(path: Path) -> Iterator[IO[bytes]]:
    """Give a new file that replaces another one at the end, or disappears on an error.

    Until then it has a random name, so that nobody can put a link there beforehand.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is not a file", str(path))
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:_LONGEST_STEM]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
        Path(part).replace(path)
    except BaseException:  # an interruption leaves nothing behind either
        with suppress(OSError):
            Path(part).unlink()
        raise


def link_or_write(source: Path, target: Path, content: bytes) -> None:
    """Give a file a second name, by a hard link; write a copy where the disk has no hard links."""
    try:
        target.hardlink_to(source)
    except OSError:
        write_file(target, content)


def make_folder(path: Path) -> None:
    """Make a folder, if there is none. Refuses a link in its place."""
    with suppress(FileExistsError):
        path.mkdir(mode=_FOLDER_MODE)
        sync_folder(path.parent)
    refuse_links(path)
    if not is_folder(path):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def is_folder(path: Path) -> bool:
    """Return whether there is a folder, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def refuse_links(path: Path, *, below: Path | None = None) -> None:
    """Raise an error if a path, or one of its parents under `below`, is a link."""
    steps = [path, *(parent for parent in path.parents if below is not None and parent.is_relative_to(below))]
    for step in reversed(steps):
        if step != below and step.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(step))


def sync_folder(path: Path) -> None:
    """Make new names in a folder durable. Windows does so by itself."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: Path) -> None:
    """Delete a file, a link or a whole folder, if it is there."""
    if is_folder(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def set_aside(source: Path, shelf: Path) -> Path:
    """Move a file or folder into `shelf`, under a new name; return its new path."""
    make_folder(shelf)
    taken = {path.name for path in shelf.iterdir()}
    name = next(name for n in count(1) if (name := f"{source.stem}.{n}{source.suffix}") not in taken)
    _move(source, shelf / name)
    sync_folder(shelf)
    return shelf / name


def _move(source: Path, target: Path) -> None:
    """Move a file by a hard link where possible, so that the old name is never missing."""
    try:
        if source.is_file() and not source.is_symlink():
            target.hardlink_to(source)
            return
    except FileExistsError:
        raise
    except OSError:
        pass  # the disk has no hard links
    source.rename(target)


@contextmanager
def plain_errors(where: Path) -> Iterator[None]:
    """Turn errors of the system into errors of ours, with a remedy."""
    try:
        yield
    except OSError as exc:
        path = str(exc.filename or where)
        if exc.errno in _FULL:
            reason = "no space left; nothing that was there is lost; make room and try again"
            raise StoreFull(path, reason=reason) from exc
        if exc.errno in _FORBIDDEN:
            reason = f"it cannot be written ({exc.strerror}); check its permissions and those of its folder"
            raise StoreReadOnly(path, reason=reason) from exc
        if exc.errno == errno.ELOOP:
            reason = "it is a link, and links are not followed here; replace it with the file it points to"
            raise StoreUnavailable(path, reason=reason) from exc
        reason = f"it cannot be used ({exc.strerror}); check what is there, or choose another folder"
        raise StoreUnavailable(path, reason=reason) from exc


@contextmanager
def hold_lock(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold a lock against other programs and threads. A lock ends with the program that holds it."""
    handle = open_file(path)
    try:
        _wait_for(handle, path, time.monotonic() + timeout)
        try:
            yield
        finally:
            _give_back(handle)
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path, end: float) -> None:
    while True:
        try:
            return _take(handle)
        except OSError as exc:
            if exc.errno not in _TAKEN:
                raise
            if time.monotonic() >= end:
                reason = "another program is writing there; try again, or close that program"
                raise StoreBusy(str(path), reason=reason) from exc
        time.sleep(_PAUSE)
