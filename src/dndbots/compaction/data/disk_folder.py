"""The folder with a campaign's data: files are saved and loaded as a set, with a bounded history.

A save first writes the whole set into the history, and then file by file into place: after a crash in
between, the history can complete the set. Files that a person edited are set aside, never lost. Nothing
outside the folder is written.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from dndbots.compaction.data.edits import EditedFile, edited_file
from dndbots.compaction.data.files import (
    DATA_FILES,
    FILES,
    STATE_FILE,
    digests_in,
    is_of,
    is_whole,
    parse_file,
)
from dndbots.errors import InvalidSetting, StoreBusy
from dndbots.storage.files import (
    FileRead,
    hold_lock,
    is_folder,
    link_or_write,
    make_folder,
    plain_errors,
    read_file,
    refuse_links,
    remove,
    set_aside,
    sync_folder,
    write_file,
)

KEPT_VERSIONS: Final = 5
# The number of times a reader looks again while another process saves.
_LOOKS: Final = 20


class FileDamage(NamedTuple):
    """A damaged file: what is wrong, and where it was moved."""

    file: str
    wrong: str
    moved_to: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Saved:
    """The result of a save. `written` is empty if nothing had changed."""

    version: int
    written: tuple[str, ...] = ()
    edited: tuple[EditedFile, ...] = ()
    damaged: tuple[FileDamage, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A whole set of files, or None if there is none. `version` is set if it comes from the history."""

    files: Mapping[str, bytes] | None
    version: int | None = None
    edited: tuple[EditedFile, ...] = ()
    damaged: tuple[FileDamage, ...] = ()


class _FolderState(NamedTuple):
    """The files as they are now, and for each the checksums it may have, in order of trust."""

    files: Mapping[str, FileRead]
    digests: Mapping[str, tuple[str, ...]]

    @property
    def contents(self) -> dict[str, bytes]:
        return {name: file.content for name, file in self.files.items() if file.content is not None}

    def is_ours(self, name: str) -> bool:
        """Return whether a file is as we wrote it, in this save or in an unfinished one."""
        content = self.files[name].content
        if content is None:
            return False
        if name == STATE_FILE:
            return digests_in(content) is not None
        return any(is_of(content, digest) for digest in self.digests[name])


class DataFolder:
    """The data folder of one branch. `timeout` limits the wait for another process that saves.

    `home` is the campaign's folder: no link below it is followed.
    """

    def __init__(self, path: Path | str, *, home: Path | None = None, timeout: float = 10.0) -> None:
        self.path = Path(path)
        self._home = self.path if home is None else home
        self._timeout = timeout
        self._versions = self.path / "versions"
        self._new_version = self._versions / ".new"
        self._old_version = self._versions / ".old"
        self._lock = self.path / ".lock"

    def save(self, files: Mapping[str, bytes] | Callable[[], Mapping[str, bytes]]) -> Saved:
        """Replace the files by this set; write nothing if they are the same.

        `files` may be a function: it is called under the lock, so that an older set never replaces a newer
        one.
        """
        with plain_errors(self.path):
            self._make()
            with hold_lock(self._lock, timeout=self._timeout):
                made = files() if callable(files) else files
                if not is_whole(made):
                    raise InvalidSetting(
                        "files", sorted(made), reason="are not a whole set of files; make one with `to_files`"
                    )
                return self._save(dict(made))

    def load(self) -> Loaded:
        """Return the set of files if it is whole, else the newest good version, and restore that one.

        It never waits, and never fails because of damaged files. If another process saves or the folder is
        read-only, the repair is left for another time.
        """
        self._refuse_links()
        found = self._look()
        if is_whole(found.contents):
            return Loaded(files=found.contents)
        if not any(found.digests.values()) and not found.contents:
            return Loaded(files=None)
        with suppress(OSError, StoreBusy), hold_lock(self._lock, timeout=0):
            return self._repaired()
        return self._settled()

    def edited(self) -> list[EditedFile]:
        """Return the files that were changed by hand since they were written, and leave them in place."""
        return list(self.inspect().edited)

    def inspect(self) -> Loaded:
        """Return the same as `load`, without any repair."""
        self._refuse_links()
        return self._settled()

    def _refuse_links(self) -> None:
        with plain_errors(self.path):
            refuse_links(self.path, below=self._home)

    def _make(self) -> None:
        """Make the folder and its parents below the campaign's folder, which alone may be a link."""
        if not self._home.is_dir():
            self._home.parent.mkdir(parents=True, exist_ok=True)
            make_folder(self._home)
        for step in reversed([self.path, *self.path.parents]):
            if step != self._home and step.is_relative_to(self._home):
                make_folder(step)

    def _save(self, files: dict[str, bytes]) -> Saved:
        self._clear()
        found = self._look()
        number = max(self._numbers(), default=0)
        newest = self._version(number)
        is_kept = newest == files
        if is_kept and found.contents == files:
            return Saved(version=number)
        try:
            changed = [name for name in FILES if found.files[name].content != files[name]]
            for name in changed:
                write_file(self._part(name), files[name])
            if not is_kept:
                self._stage(files, self._versions / str(number), newest)
            told = [self._set_aside(name, found) for name in changed]
            if not is_kept:
                number += 1
                self._new_version.rename(self._versions / str(number))
                sync_folder(self._versions)
            told += self._put(files, found)
        except BaseException:  # also on an interrupt, remove what the save began
            with suppress(OSError):  # the next save clears up as well
                self._clear()
            raise
        self._forget()
        return Saved(
            version=number,
            written=tuple(changed),
            edited=tuple(one for one in told if isinstance(one, EditedFile)),
            damaged=tuple(one for one in told if isinstance(one, FileDamage)),
        )

    def _stage(self, files: Mapping[str, bytes], before: Path, newest: Mapping[str, bytes]) -> None:
        """Write the next version under a temporary name; unchanged files are shared with the last one."""
        make_folder(self._versions)
        make_folder(self._new_version)
        for name, content in files.items():
            if newest.get(name) == content:
                link_or_write(before / name, self._new_version / name, content)
            else:
                write_file(self._new_version / name, content)
        sync_folder(self._new_version)

    def _put(self, files: Mapping[str, bytes], found: _FolderState) -> list[EditedFile | FileDamage | None]:
        """Put the files into place, the state file last; set aside files that were edited meanwhile."""
        told: list[EditedFile | FileDamage | None] = []
        for name in FILES:
            now = read_file(self.path / name)
            if now.content == files[name]:
                continue
            if now != found.files[name] and not now.is_missing:
                told.append(self._set_aside(name, self._look()))
            part = self._part(name)
            if not part.exists():
                write_file(part, files[name])
            part.replace(self.path / name)
        sync_folder(self.path)
        return told

    def _forget(self) -> None:
        """Remove old versions. A failure here is ignored: everything is saved already."""
        with suppress(OSError):
            for number in self._numbers()[:-KEPT_VERSIONS]:
                (self._versions / str(number)).rename(self._old_version)
                remove(self._old_version)

    def _clear(self) -> None:
        """Remove the leftovers of an unfinished save."""
        for name in FILES:
            remove(self._part(name))
        if is_folder(self._versions):
            remove(self._new_version)
            remove(self._old_version)

    def _part(self, name: str) -> Path:
        return self.path / f".{name}.new"

    def _look(self) -> _FolderState:
        """Read the state, then the files, then the history.

        In this order, files of a save that runs meanwhile are newer than the state, and in the history.
        """
        files = {name: read_file(self.path / name) for name in (STATE_FILE, *DATA_FILES)}
        state = files[STATE_FILE].content
        records = [digests_in(state)]
        for number in reversed(self._numbers()):
            kept = read_file(self._versions / str(number) / STATE_FILE).content
            records.append(digests_in(kept))
            if kept is not None and kept == state:
                break
        known = [record for record in records if record is not None]
        return _FolderState(
            files, {name: tuple(record[name] for record in known if name in record) for name in FILES}
        )

    def _numbers(self) -> list[int]:
        """Return the numbers of the versions, oldest first."""
        try:
            names = [one.name for one in self._versions.iterdir()] if is_folder(self._versions) else []
        except OSError:
            return []
        return sorted(int(name) for name in names if name.isascii() and name.isdigit() and name[0] != "0")

    def _version(self, number: int) -> dict[str, bytes]:
        folder = self._versions / str(number)
        if not is_folder(folder):
            return {}
        found = {name: read_file(folder / name).content for name in FILES}
        return {name: content for name, content in found.items() if content is not None}

    def _newest_good(self) -> tuple[int, dict[str, bytes]] | None:
        for number in reversed(self._numbers()):
            files = self._version(number)
            if is_whole(files):
                return number, files
        return None

    def _judge(self, name: str, found: _FolderState) -> EditedFile | FileDamage | None:
        """Return whether a file was edited or damaged, and how; None if it is as we wrote it."""
        file = found.files[name]
        if found.is_ours(name):
            return None
        if file.content is None:
            is_expected = any(found.digests.values()) or not file.is_missing
            return FileDamage(name, file.wrong) if is_expected else None
        value = parse_file(file.content)
        if value is None:
            return FileDamage(name, "is not JSON" if file.content.strip() else "is empty")
        return edited_file(name, written=self._written(name, found), found=value)

    def _written(self, name: str, found: _FolderState) -> bytes | None:
        """Return a file as it was before it was changed; None if the history no longer has it."""
        numbers = reversed(self._numbers())
        kept = [read_file(self._versions / str(number) / name).content for number in numbers]
        contents = [content for content in kept if content is not None]
        for digest in found.digests[name]:
            for content in contents:
                if is_of(content, digest):
                    return content
        return contents[0] if contents else None

    def _set_aside(self, name: str, found: _FolderState) -> EditedFile | FileDamage | None:
        """Move an edited or damaged file aside, before another takes its place."""
        told = self._judge(name, found)
        if told is None or found.files[name].is_missing:
            return told
        shelf = self.path / ("edited" if isinstance(told, EditedFile) else "damaged")
        return told._replace(moved_to=set_aside(self.path / name, shelf))

    def _repaired(self) -> Loaded:
        """Return the best set and restore it under the lock: replace damaged files, keep edited ones."""
        found = self._look()
        if is_whole(found.contents):
            return Loaded(files=found.contents)
        best = self._newest_good()
        told = {name: self._judge(name, found) for name in FILES}
        if best is not None:
            with suppress(OSError):  # a read-only folder can still be read
                self._clear()
                for name in FILES:
                    if not isinstance(told[name], EditedFile) and found.files[name].content != best[1][name]:
                        told[name] = self._set_aside(name, found)
                        write_file(self._part(name), best[1][name])
                        self._part(name).replace(self.path / name)
                sync_folder(self.path)
        return _as_loaded(best, tuple(told.values()))

    def _settled(self) -> Loaded:
        """Return the best set while another process may be saving: look again until nothing changes."""
        for _ in range(_LOOKS):
            found = self._look()
            if is_whole(found.contents):
                return Loaded(files=found.contents)
            best = self._newest_good()
            told = tuple(self._judge(name, found) for name in FILES)
            if read_file(self.path / STATE_FILE) == found.files[STATE_FILE]:
                break
        return _as_loaded(best, told)


def _as_loaded(
    best: tuple[int, dict[str, bytes]] | None, told: tuple[EditedFile | FileDamage | None, ...]
) -> Loaded:
    number, files = best if best is not None else (None, None)
    return Loaded(
        files=files,
        version=number,
        edited=tuple(one for one in told if isinstance(one, EditedFile)),
        damaged=tuple(one for one in told if isinstance(one, FileDamage)),
    )
