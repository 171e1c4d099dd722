"""The persistence agent: turns raw logs into campaign data, with or without a model."""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from dndbots._jsontext import as_json
from dndbots.compaction.checks import as_update
from dndbots.compaction.data.models import CampaignData
from dndbots.compaction.data.run_history import Run
from dndbots.compaction.heard_turns import role_of
from dndbots.compaction.run import MOST_EVENTS, TIMEOUT, compact_once
from dndbots.compaction.shared_state import SharedStateManager
from dndbots.errors import ExtractionFailed, InvalidSetting, StaleNote, UpdateRefused
from dndbots.events import GameEvent
from dndbots.extraction.port import Extractor, KnownNames, Turn, Update
from dndbots.ids import DM, is_uid, name_from_uid, short
from dndbots.interop.transcript_events import TranscriptLine
from dndbots.llm.timeouts import within
from dndbots.memory.entries import entry_of
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.upkeep import Progress

log = logging.getLogger("dndbots.compaction")

COMPACTION_INTERVAL: Final = 5
# After this many failures in a row, the turns are read without a model.
PATIENCE: Final = 3
_ATTEMPTS: Final = 5
_MOST_PER_TURN: Final = 40
_MOST_ASKED: Final = 40
_WANTED: Final = (
    "is not an extractor: pass a chat model object with invoke(messages), such as a LangChain chat model, an "
    "object with extract(turns, known), or None to read without a model"
)


def extractor_of(given: Any) -> Extractor:
    """Return the given extractor, one that asks the given chat model, or the English rules for None."""
    if given is None:
        from dndbots.extraction.english import RuleExtractor

        return RuleExtractor()
    if isinstance(given, str):
        raise InvalidSetting("extractor", given, reason=f"names a model; {_WANTED.partition(': ')[2]}")
    if isinstance(given, type):
        raise InvalidSetting("extractor", given, reason="is a class; pass an instance of it")
    if callable(getattr(given, "extract", None)):
        extractor: Extractor = given
        return extractor
    if callable(getattr(given, "invoke", None)):
        from dndbots.extraction.model_extractor import ModelExtractor

        return ModelExtractor(given)
    raise InvalidSetting("extractor", given, reason=_WANTED)


class CampaignPersistenceAgent:
    """Turns raw logs into campaign data. `extractor` is an extractor, a chat model, or None for the rules."""

    name = "campaign-persistence-agent"
    tools = (
        "character_updater_tool",
        "npc_updater_tool",
        "environment_updater_tool",
        "quest_updater_tool",
        "ability_updater_tool",
        "item_updater_tool",
        "scene_narrative_updater_tool",
    )

    def __init__(
        self,
        extractor: Any = None,
        *,
        compaction_interval: int = COMPACTION_INTERVAL,
        timeout: float = TIMEOUT,
    ) -> None:
        if type(compaction_interval) is not int or compaction_interval < 1:
            raise InvalidSetting(
                "compaction_interval", compaction_interval, reason="should be a number of turns, at least 1"
            )
        self.compaction_interval = compaction_interval
        self.extractor = extractor_of(extractor)
        self._timeout = timeout
        self._failures = 0

    # Without a campaign

    async def compact_logs(
        self, recent_logs: Iterable[Any], campaign_data: CampaignData | Mapping[str, Any] | None = None
    ) -> CampaignData:
        """Return the campaign data updated by the logs; unchanged, with a warning, if reading them fails.

        Logs are events, transcript lines, `[speaker]: text`, or turns, oldest first. They count as newer
        than the data, except for lines that the data was made from.
        """
        data = _as_data(campaign_data)
        turns = _turns(recent_logs)
        state, most = SharedStateManager(data, turns), _MOST_PER_TURN * len(turns)
        try:
            proposed = await asyncio.to_thread(
                within, self._timeout, lambda: list(islice(self._proposals(turns, data), most))
            )
        except Exception as exc:  # noqa: BLE001 - play goes on after any error
            log.warning("the %d turns could not be read: %s", len(turns), short(str(exc)))
            return data
        with state.batch():
            for proposal in proposed:
                _apply(state, as_update(proposal))
        return state.snapshot()

    def _proposals(self, turns: list[Turn], data: CampaignData) -> Iterator[Any]:
        known, likely_names = _known(data), getattr(self.extractor, "likely_names", None)
        if likely_names is None:
            yield from self.extractor.extract(turns, known)
            return
        for turn, likely in zip(turns, likely_names([turn.text for turn in turns]), strict=True):
            yield from self.extractor.extract([turn], known._replace(likely=likely))

    # With a campaign

    def compact(
        self,
        campaign_log: CampaignLog,
        *,
        review: bool = False,
        most: int | None = None,
        at_most: int | None = None,
        progress: Progress | None = None,
        total: int = 0,
    ) -> list[Run]:
        """Compact everything after the cursor, in runs of at most `most` events; return the runs.

        Each run is recorded when it is done. `at_most` limits the number of runs. `progress` gets the
        number of turns read so far, and `total`.
        """
        runs: list[Run] = []
        conflicts = 0
        # A failed run asks the model everything again, so a run with a model is kept short.
        most = most or (_MOST_ASKED if getattr(self.extractor, "waits", True) else MOST_EVENTS)
        while at_most is None or len(runs) < at_most:
            try:
                run = compact_once(
                    campaign_log, self._reader(), most=most, review=review, timeout=self._timeout
                )
            except StaleNote:
                # Another process compacted the same turns first. If that happens again and again, leave the
                # rest to it.
                conflicts += 1
                if conflicts >= _ATTEMPTS:
                    return runs
                continue
            except ExtractionFailed:
                self._failures += 1
                raise
            if run is None:
                return runs
            runs.append(run)
            self._failures = conflicts = 0
            if progress is not None:
                progress(sum(run.turns for run in runs), total)
        return runs

    def _reader(self) -> Extractor:
        """Return the extractor for the next turns; after repeated failures, one without a model."""
        return extractor_of(None) if self._failures >= PATIENCE else self.extractor


def _as_data(given: CampaignData | Mapping[str, Any] | None) -> CampaignData:
    if given is None or isinstance(given, CampaignData):
        return given or CampaignData()
    try:
        return CampaignData.model_validate(given)
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidSetting("campaign_data", place, reason=f"is not campaign data: {first['msg']}") from exc


def _known(data: CampaignData) -> KnownNames:
    from dndbots.compaction.data.models import SHELVES

    categories = {shelf: category for category, shelf in SHELVES.items()}
    categories["npcs"] = "NPC"
    found: dict[str, str] = {}
    for shelf, category in categories.items():
        for info in getattr(data, shelf).values():
            found |= dict.fromkeys((info.name, *info.aliases), category)
    return KnownNames(found)


def _apply(state: SharedStateManager, update: Any) -> None:
    if isinstance(update, Update):
        try:
            state.apply(update)
        except UpdateRefused as exc:
            log.debug("%s", exc)


def _turns(given: Iterable[Any]) -> list[Turn]:
    """Return the turns of a log. A turn without an id gets one from its content and its repetition count.

    So a line that is sent again keeps its id, and no line of another call shares it.
    """
    found: list[Turn] = []
    said: Counter[Turn] = Counter()
    for number, one in enumerate(given, 1):
        turn = _turn(one, number)
        if not turn.id:
            said[turn] += 1
            text = as_json([*turn, said[turn]])
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            turn = turn._replace(id=f"turn_{digest[:16]}")
        found.append(turn)
    return found


def _turn(given: Any, number: int) -> Turn:
    """Return a log entry of any kind as a turn; its id is blank if the entry has none."""
    if isinstance(given, Turn):
        return given
    if isinstance(given, GameEvent):
        name = name_from_uid(given.source) if is_uid(given.source) else given.source.upper()
        return Turn(given.event_id, name, role_of(given.source), given.content, given.session_id)
    if isinstance(given, str):
        entry = entry_of(given)
        role = "dm" if entry.narrated or not entry.who else "pc"
        return Turn("", entry.who or "DM", "dm" if role == "dm" else "pc", entry.text)
    try:
        line = TranscriptLine.model_validate(given)
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(map(str, first["loc"])) or "line"
        raise InvalidSetting(f"recent_logs[{number - 1}].{place}", given, reason=first["msg"]) from exc
    role = line.role_of(0) or (DM if line.speakers[0].casefold() == DM else "pc")
    return Turn(
        id=line.id or "",
        speaker=line.speakers[0],
        role="dm" if role == DM else "npc" if role == "npc" else "pc",
        text=line.text,
        session=line.session,
        place=line.location,
    )
