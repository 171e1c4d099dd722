"""The folder with a campaign's data: saved as one, loaded whole, with a bounded history.

A set is first put into the history, whole, and then file by file into its place: whoever is stopped in
between leaves a mix that the history can finish. What a person wrote there is set aside, never lost.
Nothing outside the folder is written to.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from dndbots.compaction.edits import EditedFile, edited_file
from dndbots.compaction.files import (
    DATA_FILES,
    FILES,
    STATE_FILE,
    digests_in,
    is_of,
    is_whole,
    parsed,
)
from dndbots.errors import InvalidSetting, StoreBusy
from dndbots.storage.disk import (
    Read,
    is_folder,
    link_or_write,
    locked,
    make_folder,
    plain_errors,
    read,
    refuse_links,
    remove,
    set_aside,
    sync_folder,
    write,
)

KEPT_VERSIONS: Final = 5
# How often a reader looks again while somebody else is saving.
_LOOKS: Final = 20


class Damage(NamedTuple):
    """A file that cannot be what was written: what is wrong, and where it was moved."""

    file: str
    wrong: str
    moved_to: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What a save did. `written` is empty where everything was there already."""

    version: int
    written: tuple[str, ...] = ()
    edited: tuple[EditedFile, ...] = ()
    damaged: tuple[Damage, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A whole set of files, or None where there is none. `version` is set where it is from the history."""

    files: Mapping[str, bytes] | None
    version: int | None = None
    edited: tuple[EditedFile, ...] = ()
    damaged: tuple[Damage, ...] = ()


class _Found(NamedTuple):
    """The files as they are now, and what each of them may be: its checksums in the order of trust."""

    files: Mapping[str, Read]
    digests: Mapping[str, tuple[str, ...]]

    @property
    def contents(self) -> dict[str, bytes]:
        return {name: one.content for name, one in self.files.items() if one.content is not None}

    def is_ours(self, name: str) -> bool:
        """Whether a file is as we wrote it, now or in a save that was not finished."""
        content = self.files[name].content
        if content is None:
            return False
        if name == STATE_FILE:
            return digests_in(content) is not None
        return any(is_of(content, digest) for digest in self.digests[name])


class DataFolder:
    """Where one branch of a campaign has its data. `timeout` is the patience with others who save.

    `home` is the campaign's folder that it is in: no link below it is followed.
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
        """Puts a set of files in place of the one that is there. If it is the same, nothing is written.

        What makes a set is asked for one when nobody else saves, so that an older one is never put in
        place of a newer.
        """
        with plain_errors(self.path):
            self._make()
            with locked(self._lock, timeout=self._timeout):
                made = files() if callable(files) else files
                if not is_whole(made):
                    raise InvalidSetting("files", sorted(made), reason="are no whole set; use `to_files`")
                return self._save(dict(made))

    def load(self) -> Loaded:
        """The set that is there if it is whole, else the newest good version, which then is put in place.

        It never waits, and fails at nothing that is wrong with the files. What cannot be repaired now, as
        somebody is saving or the folder is read-only, is repaired another time.
        """
        self._refuse_links()
        found = self._look()
        if is_whole(found.contents):
            return Loaded(files=found.contents)
        if not any(found.digests.values()) and not found.contents:
            return Loaded(files=None)
        with suppress(OSError, StoreBusy), locked(self._lock, timeout=0):
            return self._repaired()
        return self._settled()

    def edited(self) -> list[EditedFile]:
        """The files that somebody changed by hand since they were written. They stay where they are."""
        return list(self.looked_at().edited)

    def looked_at(self) -> Loaded:
        """The same as `load`, but everything stays as it is."""
        self._refuse_links()
        return self._settled()

    def _refuse_links(self) -> None:
        with plain_errors(self.path):
            refuse_links(self.path, below=self._home)

    def _make(self) -> None:
        """Makes the folder, and those between it and the campaign's own, which alone may be a link."""
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
                write(self._part(name), files[name])
            if not is_kept:
                self._stage(files, self._versions / str(number), newest)
            told = [self._set_aside(name, found) for name in changed]
            if not is_kept:
                number += 1
                self._new_version.rename(self._versions / str(number))
                sync_folder(self._versions)
            told += self._put(files, found)
        except BaseException:  # whatever stopped it, what it began is taken away
            with suppress(OSError):  # the next save clears up as well
                self._clear()
            raise
        self._forget()
        return Saved(
            version=number,
            written=tuple(changed),
            edited=tuple(one for one in told if isinstance(one, EditedFile)),
            damaged=tuple(one for one in told if isinstance(one, Damage)),
        )

    def _stage(self, files: Mapping[str, bytes], before: Path, newest: Mapping[str, bytes]) -> None:
        """The next version, whole, under a name that does not count yet. What did not change is shared."""
        make_folder(self._versions)
        make_folder(self._new_version)
        for name, content in files.items():
            if newest.get(name) == content:
                link_or_write(before / name, self._new_version / name, content)
            else:
                write(self._new_version / name, content)
        sync_folder(self._new_version)

    def _put(self, files: Mapping[str, bytes], found: _Found) -> list[EditedFile | Damage | None]:
        """Puts the files in their places, the state last. Who edits meanwhile is noticed here too."""
        told: list[EditedFile | Damage | None] = []
        for name in FILES:
            now = read(self.path / name)
            if now.content == files[name]:
                continue
            if now != found.files[name] and not now.is_missing:
                told.append(self._set_aside(name, self._look()))
            part = self._part(name)
            if not part.exists():
                write(part, files[name])
            part.replace(self.path / name)
        sync_folder(self.path)
        return told

    def _forget(self) -> None:
        """Old versions go. That one cannot be removed is no reason to fail: everything is saved."""
        with suppress(OSError):
            for number in self._numbers()[:-KEPT_VERSIONS]:
                (self._versions / str(number)).rename(self._old_version)
                remove(self._old_version)

    def _clear(self) -> None:
        """Takes away what a save left that was not finished."""
        for name in FILES:
            remove(self._part(name))
        if is_folder(self._versions):
            remove(self._new_version)
            remove(self._old_version)

    def _part(self, name: str) -> Path:
        return self.path / f".{name}.new"

    def _look(self) -> _Found:
        """The state first, then the files, then the history.

        So what somebody puts there meanwhile is newer than the state, and is in the history already.
        """
        files = {name: read(self.path / name) for name in (STATE_FILE, *DATA_FILES)}
        state = files[STATE_FILE].content
        records = [digests_in(state)]
        for number in reversed(self._numbers()):
            kept = read(self._versions / str(number) / STATE_FILE).content
            records.append(digests_in(kept))
            if kept is not None and kept == state:
                break
        known = [record for record in records if record is not None]
        return _Found(
            files, {name: tuple(record[name] for record in known if name in record) for name in FILES}
        )

    def _numbers(self) -> list[int]:
        """The versions, oldest first."""
        try:
            names = [one.name for one in self._versions.iterdir()] if is_folder(self._versions) else []
        except OSError:
            return []
        return sorted(int(name) for name in names if name.isascii() and name.isdigit() and name[0] != "0")

    def _version(self, number: int) -> dict[str, bytes]:
        folder = self._versions / str(number)
        if not is_folder(folder):
            return {}
        found = {name: read(folder / name).content for name in FILES}
        return {name: content for name, content in found.items() if content is not None}

    def _newest_good(self) -> tuple[int, dict[str, bytes]] | None:
        for number in reversed(self._numbers()):
            files = self._version(number)
            if is_whole(files):
                return number, files
        return None

    def _judged(self, name: str, found: _Found) -> EditedFile | Damage | None:
        """What is to be said of a file: nothing, if it is ours."""
        one = found.files[name]
        if found.is_ours(name):
            return None
        if one.content is None:
            is_expected = any(found.digests.values()) or not one.is_missing
            return Damage(name, one.wrong) if is_expected else None
        value = parsed(one.content)
        if value is None:
            return Damage(name, "is no JSON" if one.content.strip() else "is empty")
        return edited_file(name, written=self._written(name, found), found=value)

    def _written(self, name: str, found: _Found) -> bytes | None:
        """What a file was before somebody changed it, if the history still has it."""
        kept = [read(self._versions / str(number) / name).content for number in reversed(self._numbers())]
        contents = [content for content in kept if content is not None]
        for digest in found.digests[name]:
            for content in contents:
                if is_of(content, digest):
                    return content
        return contents[0] if contents else None

    def _set_aside(self, name: str, found: _Found) -> EditedFile | Damage | None:
        """Keeps a file that is not ours under a name of its own, before another takes its place."""
        told = self._judged(name, found)
        if told is None or found.files[name].is_missing:
            return told
        shelf = self.path / ("edited" if isinstance(told, EditedFile) else "damaged")
        return told._replace(moved_to=set_aside(self.path / name, shelf))

    def _repaired(self) -> Loaded:
        """The best set there is, under the lock; damaged files give way to it, edited ones stay."""
        found = self._look()
        if is_whole(found.contents):
            return Loaded(files=found.contents)
        best = self._newest_good()
        told = {name: self._judged(name, found) for name in FILES}
        if best is not None:
            with suppress(OSError):  # a folder that cannot be written to can still be read
                self._clear()
                for name in FILES:
                    if not isinstance(told[name], EditedFile) and found.files[name].content != best[1][name]:
                        told[name] = self._set_aside(name, found)
                        write(self._part(name), best[1][name])
                        self._part(name).replace(self.path / name)
                sync_folder(self.path)
        return _as_loaded(best, tuple(told.values()))

    def _settled(self) -> Loaded:
        """The best set there is while somebody else may be saving: a look that nothing came between."""
        for _ in range(_LOOKS):
            found = self._look()
            if is_whole(found.contents):
                return Loaded(files=found.contents)
            best = self._newest_good()
            told = tuple(self._judged(name, found) for name in FILES)
            if read(self.path / STATE_FILE) == found.files[STATE_FILE]:
                break
        return _as_loaded(best, told)


def _as_loaded(
    best: tuple[int, dict[str, bytes]] | None, told: tuple[EditedFile | Damage | None, ...]
) -> Loaded:
    number, files = best if best is not None else (None, None)
    return Loaded(
        files=files,
        version=number,
        edited=tuple(one for one in told if isinstance(one, EditedFile)),
        damaged=tuple(one for one in told if isinstance(one, Damage)),
    )
