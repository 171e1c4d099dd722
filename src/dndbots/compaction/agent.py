"""The persistence agent: who reads the logs, with which extractor, and how often."""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from dndbots._jsontext import as_json
from dndbots.compaction.checking import as_update
from dndbots.compaction.data import CampaignData
from dndbots.compaction.running import MOST_EVENTS, TIMEOUT, Run, compact_once
from dndbots.compaction.state import SharedStateManager
from dndbots.compaction.turns import role_of
from dndbots.compaction.values import Extractor, Known, Turn, Update
from dndbots.errors import ExtractionFailed, InvalidSetting, StaleNote, UpdateRefused
from dndbots.events import GameEvent
from dndbots.ids import DM, is_uid, name_from_uid, short
from dndbots.interop.transcripts import TranscriptLine
from dndbots.llm.waiting import within
from dndbots.memory.entries import entry_of
from dndbots.memory.notes import Table
from dndbots.storage.upkeep import Progress

log = logging.getLogger("dndbots.compaction")

COMPACTION_INTERVAL: Final = 5
# How often in a row an extractor may fail before the turns are read by the one without a model.
PATIENCE: Final = 3
_ATTEMPTS: Final = 5
_MOST_PER_TURN: Final = 40
_MOST_ASKED: Final = 40
_WANTED: Final = (
    "is no extractor: pass a chat model object with invoke(messages), such as a LangChain chat model, an "
    "object with extract(turns, known), or nothing for one without a model"
)


def extractor_of(given: Any) -> Extractor:
    """An extractor from whatever was given for one: nothing, one of somebody's, or a chat model."""
    if given is None:
        from dndbots.compaction.rules import RuleExtractor

        return RuleExtractor()
    if isinstance(given, str):
        raise InvalidSetting("extractor", given, reason=f"names a model; {_WANTED.partition(': ')[2]}")
    if isinstance(given, type):
        raise InvalidSetting("extractor", given, reason="is a class: pass an object of it")
    if callable(getattr(given, "extract", None)):
        found: Extractor = given
        return found
    if callable(getattr(given, "invoke", None)):
        from dndbots.compaction.asking import ModelExtractor

        return ModelExtractor(given)
    raise InvalidSetting("extractor", given, reason=_WANTED)


class CampaignPersistenceAgent:
    """Turns raw logs into campaign data. `extractor` is one of ours, of yours, a chat model, or nothing."""

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
            raise InvalidSetting("compaction_interval", compaction_interval, reason="is no number of turns")
        self.compaction_interval = compaction_interval
        self.extractor = extractor_of(extractor)
        self._timeout = timeout
        self._failures = 0

    # Without a campaign.

    async def compact_logs(
        self, recent_logs: Iterable[Any], campaign_data: CampaignData | Mapping[str, Any] | None = None
    ) -> CampaignData:
        """The campaign data with what the logs say. If nothing can be read, as it was, with a warning.

        Logs are events, transcript lines, `[speaker]: text`, or turns; oldest first. They are newer than
        what the data knows already, unless they are the lines that it knows it from.
        """
        data = _as_data(campaign_data)
        turns = _turns(recent_logs)
        state, most = SharedStateManager(data, turns), _MOST_PER_TURN * len(turns)
        try:
            proposed = await asyncio.to_thread(
                within, self._timeout, lambda: list(islice(self._proposals(turns, data), most))
            )
        except Exception as exc:  # noqa: BLE001 - whatever it was, play goes on
            log.warning("nothing was read out of %d turns: %s", len(turns), short(str(exc)))
            return data
        with state.batch():
            for one in proposed:
                _applied(state, as_update(one))
        return state.snapshot()

    def _proposals(self, turns: list[Turn], data: CampaignData) -> Iterator[Any]:
        return iter(self.extractor.extract(turns, _known(data)))

    # With one.

    def compact(
        self,
        table: Table,
        *,
        review: bool = False,
        most: int | None = None,
        at_most: int | None = None,
        progress: Progress | None = None,
        total: int = 0,
    ) -> list[Run]:
        """Compacts all that was not, in runs of so many events; each is kept when it is done.

        `at_most` is after how many runs to leave the rest for another time. `progress` is told how many of
        `total` turns were read.
        """
        runs: list[Run] = []
        conflicts = 0
        # What a model was asked in vain is asked again, so that it is not asked too much at once.
        most = most or (_MOST_ASKED if getattr(self.extractor, "waits", True) else MOST_EVENTS)
        while at_most is None or len(runs) < at_most:
            try:
                run = compact_once(table, self._reader(), most=most, review=review, timeout=self._timeout)
            except StaleNote:
                # Somebody else compacted the same turns first, which is as good; and goes on, if it does so
                # again and again.
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
                progress(sum(one.turns for one in runs), total)
        return runs

    def _reader(self) -> Extractor:
        """Who reads the next turns. Those that failed again and again are read without a model."""
        return extractor_of(None) if self._failures >= PATIENCE else self.extractor


def _as_data(given: CampaignData | Mapping[str, Any] | None) -> CampaignData:
    if given is None or isinstance(given, CampaignData):
        return given or CampaignData()
    try:
        return CampaignData.model_validate(given)
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidSetting("campaign_data", place, reason=f"cannot be read: {first['msg']}") from exc


def _known(data: CampaignData) -> Known:
    from dndbots.compaction.data import SHELVES

    categories = {shelf: category for category, shelf in SHELVES.items()}
    categories["npcs"] = "NPC"
    found: dict[str, str] = {}
    for shelf, category in categories.items():
        for info in getattr(data, shelf).values():
            found |= dict.fromkeys((info.name, *info.aliases), category)
    return Known(found)


def _applied(state: SharedStateManager, update: Any) -> None:
    if isinstance(update, Update):
        try:
            state.apply(update)
        except UpdateRefused as exc:
            log.debug("%s", exc)


def _turns(given: Iterable[Any]) -> list[Turn]:
    """The turns of a log. One without an id gets one by what it says, and how often that was said before.

    So lines of another call are never taken for these, and lines that are sent again are.
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
    """A turn from whatever stands in a log; its id is blank where it has none."""
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
