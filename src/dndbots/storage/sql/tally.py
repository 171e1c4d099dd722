"""The tally: seals of the log in a small file beside the database.

What a database loses with its journal, its own seal is lost with. So the seal of each branch is noted here
too, after what it seals is on the disk: the tally may lag behind the log, and is never ahead of it.
"""

import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from dndbots.storage.disk import open_file, read
from dndbots.storage.seals import Seal

TALLY: Final = "campaign.tally"
# A line for each branch, at the place that its number says, so that one write changes one line.
_SEAL: Final = 86
_LINE: Final = _SEAL + 10
_MOST: Final = 1_000_000


class Tally:
    """The file. A line that cannot be read says nothing, and one that cannot be written is left out."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, branch: int, seal: Seal) -> None:
        if not 1 <= branch <= _MOST:
            return
        text = f"{seal!s:>{_SEAL}}".encode("ascii")
        with suppress(OSError):  # the event is recorded, whatever becomes of its note
            handle = open_file(self._path)
            try:
                os.lseek(handle, (branch - 1) * _LINE, os.SEEK_SET)
                os.write(handle, b"%s %08x\n" % (text, zlib.crc32(text)))
            finally:
                os.close(handle)

    def noted(self) -> dict[int, Seal] | None:
        """The newest seal of each branch; None where there is no tally."""
        content = read(self._path).content
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
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
