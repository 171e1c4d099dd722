"""Uploads: files that somebody brought to look at, kept until they are brought in or pushed out by others."""

import secrets
import shutil
import tempfile
from pathlib import Path
from threading import Lock
from typing import Final

from dndbots.text.clean import one_line

_MOST: Final = 8
_LONGEST_NAME: Final = 100


class UploadTray:
    """A few files in a folder of their own, each under an unguessable id. The oldest goes first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._folder: Path | None = None
        self._files: dict[str, tuple[str, Path]] = {}

    def put(self, owner: str, name: str, content: bytes) -> str:
        """Keep a file for somebody and return its id. Only the last part of its name is used."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="dndbots-"))
            key = secrets.token_urlsafe(12)
            folder = self._folder / key
            folder.mkdir()
            plain = one_line(name.replace("\\", "/").rpartition("/")[2]).strip(". ")[:_LONGEST_NAME]
            file = folder / (plain or "file")
            file.write_bytes(content)
            self._files[key] = owner, file
            for old in [*self._files][:-_MOST]:
                self._drop(old)
            return key

    def get(self, owner: str, key: str) -> Path | None:
        """Return a file that somebody keeps here; None for any other."""
        with self._lock:
            kept = self._files.get(key)
            return kept[1] if kept is not None and kept[0] == owner else None

    def drop(self, key: str) -> None:
        """Forget a file."""
        with self._lock:
            self._drop(key)

    def close(self) -> None:
        """Forget all files."""
        with self._lock:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _drop(self, key: str) -> None:
        _, file = self._files.pop(key)
        shutil.rmtree(file.parent, ignore_errors=True)
