"""The campaign data that updater tools share. Many threads write; no reader ever sees half of a batch.

Every update is checked against the turn that it cites. New entities get their uid here, never from outside.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from dndbots.compaction.checks import (
    Accepted,
    NameMention,
    Rejected,
    Rejections,
    UpdateTally,
    as_update,
    check_update,
)
from dndbots.compaction.data.models import (
    SHELVES,
    Believed,
    CampaignData,
    Info,
    NarrativeInfo,
    SceneInfo,
    StatedValue,
    _Creature,
    new_info,
)
from dndbots.compaction.data.newest import LONG_AGO, ClaimEffect, DataClaim, claims_of_value, weigh_claims
from dndbots.compaction.scenes import check_narrative, with_narrative_id
from dndbots.errors import DuplicateEvent, UpdateRefused
from dndbots.extraction.port import ALIAS, KIN, Turn, Update
from dndbots.extraction.turn_evidence import is_like_a_name, is_same_name
from dndbots.ids import category_of, fold_name, mint, short

_ABILITY = "ability__"
_ARTICLE: Final = "the "
_MOST_NAMED: Final = 5


class _FactSlot(NamedTuple):
    """The key under which claims compete: entity, fact, whose word, certainty. The DM's word is None."""

    uid: str
    key: str
    said_by: str | None
    certainty: str


class _Snapshot(NamedTuple):
    """The state after the last whole batch, replaced as one value."""

    data: CampaignData
    version: int
    accepted: int


class SharedStateManager:
    """Campaign data that several tools update.

    One batch runs at a time; other writers wait for its end, and readers see the state before it. A batch
    inside a batch of the same thread belongs to the outer one: it is undone if it raises, and becomes
    visible with the outer batch. A batch must not wait for another writer.

    `turns` are in the order of play. Facts in `data` count as older, unless their turn is among `turns`.
    """

    def __init__(self, data: CampaignData | None = None, turns: Iterable[Turn] = ()) -> None:
        self._data = data or CampaignData()
        self._names = NameIndex(self._data)
        self._turns: dict[str, Turn] = {}
        self._times: dict[str, int] = {}
        self._claims: dict[_FactSlot, tuple[DataClaim, ...]] = {}
        self._accepted: list[Accepted] = []
        self._tally = UpdateTally()
        self._arrived = 0
        self._undo: list[Callable[[], object]] = []
        self._depth = 0
        self._writing = threading.RLock()
        self._published = _Snapshot(self._data, 0, 0)
        self.add_turns(turns)

    # Reading

    def snapshot(self) -> CampaignData:
        """Return the campaign data after the last whole batch."""
        return self._published.data

    @property
    def version(self) -> int:
        """The number of batches that changed anything."""
        return self._published.version

    @property
    def accepted(self) -> tuple[Accepted, ...]:
        """The updates accepted in whole batches, in order."""
        return tuple(self._accepted[: self._published.accepted])

    @property
    def rejected(self) -> Rejections:
        """The refused updates, also of batches that were undone."""
        with self._writing:
            return self._tally.so_far()

    def turns(self, ids: Iterable[str]) -> list[Turn]:
        """Return the turns with these ids; raise UpdateRefused if one is not known."""
        with self._writing:
            try:
                return [self._turns[turn] for turn in ids]
            except KeyError as exc:
                raise UpdateRefused(
                    reason=f"it cites the turn {exc.args[0]!r}, which is not known", rule="unknown_turn"
                ) from exc

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> NameMention | str:
        """Return the entity that a turn means by a name, or the reason why it can mean none."""
        with self._writing:
            return self._names.resolve(name, categories, turn)

    # Writing

    def add_turns(self, turns: Iterable[Turn]) -> None:
        """Add newer turns, and skip known ones; raise DuplicateEvent if a known id has other content."""
        with self._writing:
            for turn in turns:
                if self._turns.setdefault(turn.id, turn) != turn:
                    raise DuplicateEvent(turn.id)
                self._times.setdefault(turn.id, len(self._times))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make all changes inside visible together at the end, or undo all of them if anything raises."""
        with self._writing:
            mark, accepted = len(self._undo), len(self._accepted)
            self._depth += 1
            try:
                yield
            except BaseException:  # an interrupt must not leave half of a batch either
                while len(self._undo) > mark:
                    self._undo.pop()()
                del self._accepted[accepted:]
                raise
            finally:
                self._depth -= 1
            if not self._depth:
                self._publish()

    def apply(self, update: Update | Mapping[str, object]) -> Accepted:
        """Apply an update; return it with the uids of its names. Raises UpdateRefused if a check fails."""
        with self.batch():
            proposed = as_update(update)
            checked = (
                proposed if isinstance(proposed, Rejected) else check_update(proposed, self._turns, self)
            )
            if isinstance(checked, Rejected):
                self._tally.add(checked)
                raise UpdateRefused(reason=checked.reason, rule=checked.rule)
            known = self._with_uids(checked)
            self._take(known)
            self._accepted.append(known)
            return known

    def tell(self, kind: str, text: str, turns: Iterable[str]) -> NarrativeInfo:
        """Add a narrative of these turns and the scene that it tells; raise UpdateRefused without support."""
        with self.batch():
            try:
                read = self.turns(turns)
                told = with_narrative_id(check_narrative(kind, text, read), self._data)
            except UpdateRefused as exc:
                shown = {"kind": short(kind, 40), "text": short(text)}
                self._tally.add(Rejected(shown, exc.reason, exc.rule))
                raise
            if told.scene_id is None:
                scene = self._scene_of(read)
                told = told.model_copy(update={"scene_id": scene.scene_id})
                if scene.scene_id not in self._data.scenes:
                    self._change("scenes", scene.scene_id, scene)
            self._change("narratives", told.narrative_id, told)
            return told

    def _scene_of(self, turns: Sequence[Turn]) -> SceneInfo:
        """Return the scene of some turns: where they were, and who spoke in them."""
        ordered = sorted(turns, key=lambda turn: self._times[turn.id])
        first, last = ordered[0], ordered[-1]
        speakers = dict.fromkeys((turn.role, turn.speaker) for turn in ordered if turn.role != "dm")
        people = (self._names.bearer(name, role.upper()) for role, name in speakers)
        places = [turn.place for turn in ordered if turn.place]
        return SceneInfo(
            scene_id=first.id,
            session=first.session or "",
            location=self._names.bearer(places[0], "LOC") if places else None,
            participants=tuple(dict.fromkeys(filter(None, people))),
            first=first.id,
            last=last.id,
            turns=len(ordered),
        )

    def _publish(self) -> None:
        changed = self._data is not self._published.data
        self._undo.clear()
        self._published = _Snapshot(self._data, self._published.version + changed, len(self._accepted))

    def _change(self, shelf: str, uid: str, value: object) -> None:
        """Put a value onto a shelf of a new copy of the data; readers of the old copy see no change."""
        before, kept = self._data, getattr(self._data, shelf)
        if kept.get(uid) != value:
            self._data = before.model_copy(update={shelf: {**kept, uid: value}})
            self._undo.append(partial(setattr, self, "_data", before))

    def _with_uids(self, accepted: Accepted) -> Accepted:
        """Return the update with a uid for each new entity; the same name twice is the same entity."""
        subject = self._known(accepted.subject)
        target = accepted.object and self._known(accepted.object)
        said_by = accepted.said_by and self._known(accepted.said_by)
        return accepted._replace(subject=subject, object=target, said_by=said_by)

    def _known(self, mention: NameMention) -> NameMention:
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
        """Add a claim to its slot, and store the value that results."""
        update, uid = accepted.update, accepted.subject.uid or ""
        if update.field == ALIAS:
            self._take_alias(uid, update.value)
            return
        said_by = accepted.said_by.uid if accepted.said_by else None
        slot = _FactSlot(uid, accepted.key, said_by, accepted.certainty)
        info = self._info(uid)
        before = self._claims.get(slot)
        claims = self._claims_on(info, slot) if before is None else before
        self._arrived += 1
        value: JsonValue = [accepted.object.uid] if accepted.object else update.value
        effect: ClaimEffect = "ended" if update.ended else "also" if update.field in KIN else "is"
        time = self._times[update.turn]
        self._claims[slot] = (*claims, DataClaim(time, self._arrived, effect, value, update.turn))
        self._undo.append(partial(self._restore, slot, before))
        self._change(
            SHELVES[category_of(uid) or ""], uid, _with(info, slot, weigh_claims(self._claims[slot]))
        )

    def _take_alias(self, uid: str, alias: str) -> None:
        """Add another name; UpdateRefused if somebody else has it."""
        info = self._info(uid)
        if self._names.has_other(alias, uid):
            raise UpdateRefused(reason=f"{alias!r} is the name of somebody else", rule="name")
        if fold_name(alias) not in map(fold_name, (info.name, *info.aliases)):
            self._change(
                SHELVES[category_of(uid) or ""],
                uid,
                info.model_copy(update={"aliases": (*info.aliases, alias)}),
            )
            self._names.add(uid, info.name, (*info.aliases, alias))
            self._undo.append(partial(self._names.forget, uid, alias))

    def _restore(self, slot: _FactSlot, claims: tuple[DataClaim, ...] | None) -> None:
        if claims is None:
            del self._claims[slot]
        else:
            self._claims[slot] = claims

    def _info(self, uid: str) -> Info:
        found: Info = getattr(self._data, SHELVES[category_of(uid) or ""])[uid]
        return found

    def _claims_on(self, info: Info, slot: _FactSlot) -> tuple[DataClaim, ...]:
        """Return the claims that the data held before any update."""
        if slot.certainty == "fact":
            known = info.facts.get(slot.key)
            return claims_of_value(known, self._time_of) if known else ()
        return tuple(
            claim
            for held in info.believed
            if _is_on(held, slot)
            for claim in claims_of_value(StatedValue(value=held.value, since=held.since), self._time_of)
        )

    def _time_of(self, event_id: str) -> int:
        return self._times.get(event_id, LONG_AGO)


def _with(info: Info, slot: _FactSlot, now: StatedValue | None) -> Info:
    """Return the info with the new value of a slot. A belief never becomes a fact."""
    if slot.certainty != "fact":
        return info.model_copy(update={"believed": _believed(info, slot, now)})
    facts = {key: fact for key, fact in info.facts.items() if key != slot.key}
    if now:
        facts[slot.key] = now
    changes: dict[str, Any] = {"facts": dict(sorted(facts.items()))}
    if slot.key.startswith(_ABILITY) and isinstance(info, _Creature):
        old, new = info.facts.get(slot.key), [str(now.value)] if now else []
        others = [one for one in info.abilities if not old or fold_name(one) != fold_name(str(old.value))]
        changes["abilities"] = tuple(sorted({*others, *new}))
    return info.model_copy(update=changes)


def _believed(info: Info, slot: _FactSlot, now: StatedValue | None) -> tuple[Believed, ...]:
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


def _is_on(held: Believed, slot: _FactSlot) -> bool:
    return (held.key, held.said_by, held.certainty) == (slot.key, slot.said_by, slot.certainty)


# Names


class NameIndex:
    """Finds entities by name, alias, or one word of a longer name. It creates none."""

    def __init__(self, data: CampaignData) -> None:
        self._called: dict[str, str] = {}
        self._whole: dict[str, set[str]] = {}
        self._parts: dict[str, set[str]] = {}
        for uid, info in data.entities().items():
            self.add(uid, info.name, info.aliases)

    def add(self, uid: str, name: str, aliases: Iterable[str] = ()) -> None:
        """Add an entity."""
        self._called[uid] = name
        for index, key in self._keys((name, *aliases)):
            index.setdefault(key, set()).add(uid)

    def remove(self, uid: str) -> None:
        """Remove an entity that was just added, when its batch is undone."""
        for index, key in self._keys((self._called.pop(uid),)):
            index[key].discard(uid)

    def has_other(self, name: str, uid: str) -> bool:
        """Return whether anybody else has this name."""
        return bool(self._bearers(name) - {uid})

    def forget(self, uid: str, alias: str) -> None:
        """Remove an alias that was just added, when its batch is undone."""
        for index, key in self._keys((alias,)):
            index[key].discard(uid)

    def bearer(self, name: str, category: str) -> str | None:
        """Return the uid of the entity of a category with exactly this name."""
        found = [uid for uid in sorted(self._bearers(name)) if category_of(uid) == category]
        return found[0] if found else None

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> NameMention | str:
        """Return the entity that a turn means by a name, known or new, or the reason why it can mean none."""
        bearers = sorted(self._bearers(name))
        fitting = [uid for uid in bearers if category_of(uid) in categories]
        if not fitting and bearers:
            return f"{name!r} is a {category_of(bearers[0])} already, not a {' or '.join(categories)}"
        if not fitting:
            parts = sorted(self._parts.get(fold_name(name), ()))
            fitting = [uid for uid in parts if category_of(uid) in categories]
        if len(fitting) > 1:
            listed = ", ".join(repr(self._called[uid]) for uid in fitting[:_MOST_NAMED])
            return f"{name!r} can mean {listed}; use the full name"
        if fitting:
            return NameMention(self._called[fitting[0]], category_of(fitting[0]) or "", fitting[0])
        return _new(name, categories, turn)

    def _bearers(self, name: str) -> set[str]:
        plain = fold_name(name)
        return self._whole.get(plain, set()) | self._whole.get(plain.removeprefix(_ARTICLE), set())

    def _keys(self, names: Iterable[str]) -> Iterator[tuple[dict[str, set[str]], str]]:
        for name in names:
            plain = fold_name(name)
            yield self._whole, plain
            if plain.startswith(_ARTICLE):
                yield self._whole, plain.removeprefix(_ARTICLE)
            words = name.split()
            if len(words) > 1:
                yield from ((self._parts, fold_name(word)) for word in words if is_like_a_name(word))


def _new(name: str, categories: Sequence[str], turn: Turn) -> NameMention | str:
    """Return a new entity. A new player character must be the speaker of the turn."""
    if turn.role == "pc" and is_same_name(name, turn.speaker) and "PC" in categories:
        return NameMention(name, "PC")
    others = [category for category in categories if category != "PC"]
    return NameMention(name, others[0]) if others else f"no player character is called {name!r}"
