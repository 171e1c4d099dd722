"""The interop of one campaign: chats kept in step, imports of foreign files, and personas of cards."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dndbots import ids
from dndbots.ids import DM
from dndbots.storage.campaign_log import BranchLog

if TYPE_CHECKING:
    from dndbots.interop.formats.neutral import ImportOptions
    from dndbots.interop.history.chat_history import ChatHistory
    from dndbots.interop.imports import FileImport, FileImporter

Progress = Callable[[int, int], None]


class CampaignInterop:
    """Everything that comes into a campaign from other programs. Readers load on first use."""

    def __init__(self, log: BranchLog, on_rewrite: Callable[[str], None]) -> None:
        self._log, self._on_rewrite = log, on_rewrite

    def chat(self, name: str, *, people: Mapping[str, str | None] | None = None) -> "ChatHistory":
        """Return a chat of this campaign, to keep the log in step with it.

        `people`, by name with their role (`pc`, `npc` or None), perceive its messages, beside those who
        speak in it.
        """
        from dndbots.interop.history.chat_history import ChatHistory

        return ChatHistory(
            self._log, self._log.store, ids.check_name(name), people=people, on_rewrite=self._on_rewrite
        )

    def import_files(
        self,
        paths: Iterable[Path],
        options: "ImportOptions | None" = None,
        *,
        progress: Progress | None = None,
    ) -> "list[FileImport]":
        """Import chats, lorebooks, cards, transcripts and notes of other programs, by their content.

        All files are read before the first is written. `dndbots.interop.imports.preview_files` tells what
        they will become.
        """
        importer = self.importer(options)
        return [importer.write(path, read, progress) for path, read in importer.read(paths)]

    def importer(self, options: "ImportOptions | None" = None) -> "FileImporter":
        """Return an importer of foreign files, to read and write them one by one."""
        from dndbots.interop.imports import FileImporter

        return FileImporter(self._log, self._log.store, options, on_rewrite=self._on_rewrite)

    def persona(self, who: str) -> str:
        """Return the persona that a character card gave somebody, or an empty text.

        It belongs `beside` a context: nobody perceived it, so it is no memory.
        """
        from dndbots.interop.lore_events import latest_persona

        with self._log.snapshot(DM) as view:
            found = latest_persona(self._log, view.perceiver(who))
        return "" if found is None else str(found[1].get("text", ""))
