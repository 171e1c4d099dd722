"""The seal file: the seals of the log, in a small file beside the database.

A database that loses its journal loses its own seal with it. So the seal of each branch is kept here too. It
is written after the sealed events are on the disk: the file may lag behind the log, but is never ahead of it.
"""

import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from dndbots.storage.files import make_file, open_file, read_file
from dndbots.storage.seals import Seal

TALLY: Final = "campaign.tally"
# A line for each branch, at an offset given by its number, so that one write changes one line.
_SEAL: Final = 86
_LINE: Final = _SEAL + 10
_MOST: Final = 1_000_000


class SealFile:
    """The seal file. A line that cannot be read or written is skipped."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, branch: int, seal: Seal) -> None:
        """Write the seal of a branch."""
        if not 1 <= branch <= _MOST:
            return
        text = f"{seal!s:>{_SEAL}}".encode("ascii")
        with suppress(OSError):  # the event is recorded, even if its seal cannot be kept here
            handle = open_file(self._path)
            try:
                os.lseek(handle, (branch - 1) * _LINE, os.SEEK_SET)
                os.write(handle, b"%s %08x\n" % (text, zlib.crc32(text)))
            finally:
                os.close(handle)

    def begin(self, seals: Mapping[int, Seal]) -> None:
        """Make the file if there is none, with the seals of the branches as they stand."""
        with suppress(OSError):
            make_file(self._path)
        for branch, seal in seals.items():
            self.note(branch, seal)

    def noted_seals(self) -> dict[int, Seal] | None:
        """Return the newest seal of each branch; None if there is no file."""
        content = read_file(self._path).content
        if content is None:
            return None
        found: dict[int, Seal] = {}
        for branch in range(1, len(content) // _LINE + 1):
            line = content[(branch - 1) * _LINE : branch * _LINE]
            text, check = line[:_SEAL], line[_SEAL:]
            if check == b" %08x\n" % zlib.crc32(text):
                seal = Seal.read(text.decode("ascii", "replace").strip())
                if seal is not None:
                    found[branch] = seal
        return found

    def forget(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
