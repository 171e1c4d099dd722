"""Files that are whole or not there: read without following links, written durably, under a lock.

Folders and files made here are for their owner only. What a disk refuses comes out of here as an error of
ours, with the path and what to do.
"""

import errno
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


# Links are not followed, and a pipe in place of a file does not make us wait. Windows has neither.
_CAREFULLY: Final[int] = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_PAUSE: Final = 0.002
_TAKEN: Final = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_FULL: Final = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
# A name is that many bytes on most disks, and a random part comes on top.
_LONGEST_STEM: Final = 40

MISSING: Final = "is missing"


class Read(NamedTuple):
    """What a file holds, or what is wrong with it."""

    content: bytes | None
    wrong: str = ""

    @property
    def is_missing(self) -> bool:
        return self.wrong == MISSING


def read(path: Path) -> Read:
    """A file's content. A link, a folder or a pipe in its place is none."""
    try:
        handle = os.open(path, os.O_RDONLY | _CAREFULLY)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            return Read(None, "is no file")
        with os.fdopen(handle, "rb") as file:
            return Read(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return Read(None, MISSING)
    except OSError as exc:
        kind = "is a link" if path.is_symlink() else f"cannot be read ({exc.strerror})"
        return Read(None, kind)


def write(path: Path, content: bytes) -> None:
    """A new file, on the disk when this returns."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CAREFULLY, _FILE_MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def open_file(path: Path) -> int:
    """Opens a file to read and write, made if there is none. A link or a folder in its place is refused."""
    return os.open(path, os.O_RDWR | os.O_CREAT | _CAREFULLY, _FILE_MODE)


def make_file(path: Path) -> None:
    """Makes an empty file if there is none. A link, a folder or a pipe in its place is refused."""
    os.close(open_file(path))
    if not path.is_file():
        raise FileExistsError(errno.EEXIST, "something else than a file is there", str(path))


@contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
    """Gives a file to write text to, which takes the place of another at the end, or leaves nothing behind.

    Its name until then is a random one, so that nobody can put a link there beforehand.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "something else than a file is there", str(path))
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:_LONGEST_STEM]}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(handle)
        Path(part).replace(path)
    except BaseException:  # an interruption leaves nothing behind either
        with suppress(OSError):
            Path(part).unlink()
        raise


def link_or_write(source: Path, target: Path, content: bytes) -> None:
    """A second name for a file that holds this content; a copy where the disk knows no second names."""
    try:
        target.hardlink_to(source)
    except OSError:
        write(target, content)


def make_folder(path: Path) -> None:
    """A folder of our own. A link that leads elsewhere is none."""
    with suppress(FileExistsError):
        path.mkdir(mode=_FOLDER_MODE)
        sync_folder(path.parent)
    refuse_links(path)
    if not is_folder(path):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def is_folder(path: Path) -> bool:
    """Whether there is a folder, not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def refuse_links(path: Path, *, below: Path | None = None) -> None:
    """Fails if a path is a link, or if any of its parents below a folder is one."""
    steps = [path, *(one for one in path.parents if below is not None and one.is_relative_to(below))]
    for step in reversed(steps):
        if step != below and step.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(step))


def sync_folder(path: Path) -> None:
    """Makes new names in a folder last. Windows does so by itself."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: Path) -> None:
    """A file, a link or a whole folder, if it is there."""
    if is_folder(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def set_aside(source: Path, shelf: Path) -> Path:
    """Moves whatever is there into a folder of ours, under a name that nothing has yet."""
    make_folder(shelf)
    taken = {one.name for one in shelf.iterdir()}
    name = next(name for n in count(1) if (name := f"{source.stem}.{n}{source.suffix}") not in taken)
    _move(source, shelf / name)
    sync_folder(shelf)
    return shelf / name


def _move(source: Path, target: Path) -> None:
    """Gives a file its second name first, if it can have one, so that its place is never empty."""
    try:
        if source.is_file() and not source.is_symlink():
            target.hardlink_to(source)
            return
    except FileExistsError:
        raise
    except OSError:
        pass  # the disk knows no second names
    source.rename(target)


@contextmanager
def plain_errors(where: Path) -> Iterator[None]:
    """Turns what the system says into what a person can do."""
    try:
        yield
    except OSError as exc:
        place = str(exc.filename or where)
        if exc.errno in _FULL:
            reason = "no space left; the data that were there still are; make room and try again"
            raise StoreFull(place, reason=reason) from exc
        if exc.errno in _FORBIDDEN:
            reason = f"it cannot be written ({exc.strerror}); check its permissions and those of its folder"
            raise StoreReadOnly(place, reason=reason) from exc
        if exc.errno == errno.ELOOP:
            reason = "it is a link, and links are not followed here; put in its place what it leads to"
            raise StoreUnavailable(place, reason=reason) from exc
        reason = f"it cannot be used ({exc.strerror}); look what is there, or choose another place"
        raise StoreUnavailable(place, reason=reason) from exc


@contextmanager
def locked(path: Path, *, timeout: float) -> Iterator[None]:
    """Keeps other programs, and other threads, from coming between. A lock dies with its owner."""
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
                reason = "another program is saving there; try again, or close that program"
                raise StoreBusy(str(path), reason=reason) from exc
        time.sleep(_PAUSE)
