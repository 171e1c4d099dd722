"""The state that updater tools share: many write to it at once, and nobody ever reads half of a batch.

Every update is checked against the turn that it cites. What is new gets its uid here, never from outside.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from pydantic import JsonValue

from dndbots.compaction.checking import Accepted, Mention, Rejected, Rejections, Tally, as_update, check
from dndbots.compaction.data import (
    SHELVES,
    Believed,
    CampaignData,
    Info,
    NarrativeInfo,
    Stated,
    _Creature,
    new_info,
)
from dndbots.compaction.evidence import LONG_AGO, Claim, Said, claims_of, stated
from dndbots.compaction.naming import Names
from dndbots.compaction.narrating import narrative, with_id
from dndbots.compaction.values import KIN, Turn, Update
from dndbots.errors import DuplicateEvent, UpdateRefused
from dndbots.ids import category_of, folded, mint, short

_ABILITY = "ability__"


class _Slot(NamedTuple):
    """Where claims meet: of whom, on what, on whose word, and how sure. Nobody's word is the DM's."""

    uid: str
    key: str
    said_by: str | None
    certainty: str


class _Published(NamedTuple):
    """What everybody sees, in one piece."""

    data: CampaignData
    version: int
    accepted: int


class SharedStateManager:
    """Campaign data that several tools update.

    One batch runs at a time; other writers wait for its end, and readers see the state before it. A batch
    inside a batch of the same thread is a part of it: what it did is undone if it raises, and becomes
    visible with the outer one. A batch must not wait for another writer.

    `turns` are in the order of time. What was known before counts as older, unless its turn is among them.
    """

    def __init__(self, data: CampaignData | None = None, turns: Iterable[Turn] = ()) -> None:
        self._data = data or CampaignData()
        self._names = Names(self._data)
        self._turns: dict[str, Turn] = {}
        self._times: dict[str, int] = {}
        self._claims: dict[_Slot, tuple[Claim, ...]] = {}
        self._accepted: list[Accepted] = []
        self._tally = Tally()
        self._arrived = 0
        self._undo: list[Callable[[], object]] = []
        self._depth = 0
        self._writing = threading.RLock()
        self._published = _Published(self._data, 0, 0)
        self.add_turns(turns)

    # Reading

    def snapshot(self) -> CampaignData:
        """All of it, as it was after the last whole batch."""
        return self._published.data

    @property
    def version(self) -> int:
        """How many batches have changed anything."""
        return self._published.version

    @property
    def accepted(self) -> tuple[Accepted, ...]:
        """What was accepted in whole batches, in the order in which it came."""
        return tuple(self._accepted[: self._published.accepted])

    @property
    def rejected(self) -> Rejections:
        """What was refused, whether its batch came to anything or not."""
        with self._writing:
            return self._tally.so_far()

    def turns(self, ids: Iterable[str]) -> list[Turn]:
        """The turns of these ids, or UpdateRefused where one is not known."""
        with self._writing:
            try:
                return [self._turns[turn] for turn in ids]
            except KeyError as exc:
                raise UpdateRefused(reason="it cites a turn that was not given", rule="unknown_turn") from exc

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> Mention | str:
        """Whom a turn means by a name, or why nobody can be meant."""
        with self._writing:
            return self._names.resolve(name, categories, turn)

    # Writing

    def add_turns(self, turns: Iterable[Turn]) -> None:
        """Turns that were played after those before. One that is known already changes nothing."""
        with self._writing:
            for turn in turns:
                if self._turns.setdefault(turn.id, turn) != turn:
                    raise DuplicateEvent(turn.id)
                self._times.setdefault(turn.id, len(self._times))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Everything inside becomes visible together at its end; nothing of it, if anything raises."""
        with self._writing:
            mark, accepted = len(self._undo), len(self._accepted)
            self._depth += 1
            try:
                yield
            except BaseException:  # an interruption must not leave half of a batch behind either
                while len(self._undo) > mark:
                    self._undo.pop()()
                del self._accepted[accepted:]
                raise
            finally:
                self._depth -= 1
            if not self._depth:
                self._publish()

    def apply(self, update: Update | Mapping[str, object]) -> Accepted:
        """The update as it was accepted, with the uids of all it names; UpdateRefused, if it was not."""
        with self.batch():
            proposed = as_update(update)
            checked = proposed if isinstance(proposed, Rejected) else check(proposed, self._turns, self)
            if isinstance(checked, Rejected):
                self._tally.add(checked)
                raise UpdateRefused(reason=checked.reason, rule=checked.rule)
            known = self._introduced(checked)
            self._take(known)
            self._accepted.append(known)
            return known

    def tell(self, kind: str, text: str, turns: Iterable[str]) -> NarrativeInfo:
        """Add a piece of the story, told from these turns; UpdateRefused, if they do not support it."""
        with self.batch():
            try:
                told = with_id(narrative(kind, text, self.turns(turns)), self._data)
            except UpdateRefused as exc:
                shown = {"kind": short(kind, 40), "text": short(text)}
                self._tally.add(Rejected(shown, exc.reason, exc.rule))
                raise
            self._change("narratives", told.narrative_id, told)
            return told

    def _publish(self) -> None:
        changed = self._data is not self._published.data
        self._undo.clear()
        self._published = _Published(self._data, self._published.version + changed, len(self._accepted))

    def _change(self, shelf: str, uid: str, value: object) -> None:
        """Put one value onto a shelf, as new data: what others hold of the old never changes."""
        before, kept = self._data, getattr(self._data, shelf)
        if kept.get(uid) != value:
            self._data = before.model_copy(update={shelf: {**kept, uid: value}})
            self._undo.append(partial(setattr, self, "_data", before))

    def _introduced(self, accepted: Accepted) -> Accepted:
        """The same, with a uid for each that is new; one who is named twice is the same one."""
        subject = self._known(accepted.subject)
        target = accepted.object and self._known(accepted.object)
        said_by = accepted.said_by and self._known(accepted.said_by)
        return accepted._replace(subject=subject, object=target, said_by=said_by)

    def _known(self, mention: Mention) -> Mention:
        if mention.uid is not None:
            return mention
        found = self._names.bearer(mention.name, mention.category)
        if found is None:
            found = mint(mention.category, mention.name, taken=self._data.entities())
            self._names.add(found, mention.name)
            self._undo.append(partial(self._names.remove, found))
            self._change(SHELVES[mention.category], found, new_info(mention.category, found, mention.name))
        return mention._replace(uid=found)

    def _take(self, accepted: Accepted) -> None:
        """Weigh one more claim against those on the same thing."""
        update, uid = accepted.update, accepted.subject.uid or ""
        said_by = accepted.said_by.uid if accepted.said_by else None
        slot = _Slot(uid, accepted.key, said_by, accepted.certainty)
        info = self._info(uid)
        before = self._claims.get(slot)
        claims = self._claims_on(info, slot) if before is None else before
        self._arrived += 1
        value: JsonValue = [accepted.object.uid] if accepted.object else update.value
        said: Said = "ended" if update.ended else "also" if update.field in KIN else "is"
        time = self._times[update.turn]
        self._claims[slot] = (*claims, Claim(time, self._arrived, said, value, update.turn))
        self._undo.append(partial(self._restore, slot, before))
        self._change(SHELVES[category_of(uid) or ""], uid, _with(info, slot, stated(self._claims[slot])))

    def _restore(self, slot: _Slot, claims: tuple[Claim, ...] | None) -> None:
        if claims is None:
            del self._claims[slot]
        else:
            self._claims[slot] = claims

    def _info(self, uid: str) -> Info:
        found: Info = getattr(self._data, SHELVES[category_of(uid) or ""])[uid]
        return found

    def _claims_on(self, info: Info, slot: _Slot) -> tuple[Claim, ...]:
        """What the data said before any update."""
        if slot.certainty == "fact":
            known = info.facts.get(slot.key)
            return claims_of(known, self._time_of) if known else ()
        return tuple(
            claim
            for held in info.believed
            if _is_on(held, slot)
            for claim in claims_of(Stated(value=held.value, since=held.since), self._time_of)
        )

    def _time_of(self, event_id: str) -> int:
        return self._times.get(event_id, LONG_AGO)


def _with(info: Info, slot: _Slot, now: Stated | None) -> Info:
    """What is known of somebody, with what one slot has come to. A belief is never among the facts."""
    if slot.certainty != "fact":
        return info.model_copy(update={"believed": _believed(info, slot, now)})
    facts = {key: fact for key, fact in info.facts.items() if key != slot.key}
    if now:
        facts[slot.key] = now
    changes: dict[str, Any] = {"facts": dict(sorted(facts.items()))}
    if slot.key.startswith(_ABILITY) and isinstance(info, _Creature):
        old, new = info.facts.get(slot.key), [str(now.value)] if now else []
        others = [one for one in info.abilities if not old or folded(one) != folded(str(old.value))]
        changes["abilities"] = tuple(sorted({*others, *new}))
    return info.model_copy(update=changes)


def _believed(info: Info, slot: _Slot, now: Stated | None) -> tuple[Believed, ...]:
    others = [held for held in info.believed if not _is_on(held, slot)]
    if now:
        heard = [uid for held in info.believed if _is_on(held, slot) for uid in held.by]
        by = dict.fromkeys([*heard, slot.said_by] if slot.said_by else heard)
        others.append(
            Believed(
                key=slot.key,
                value=now.value,
                by=tuple(by),
                said_by=slot.said_by,
                since=now.since,
                certainty="rumor" if slot.certainty == "rumor" else "belief",
            )
        )
    return tuple(sorted(others, key=lambda held: (held.key, held.said_by or "", held.certainty, held.since)))


def _is_on(held: Believed, slot: _Slot) -> bool:
    return (held.key, held.said_by, held.certainty) == (slot.key, slot.said_by, slot.certainty)
