"""The builder of memory documents from lists of events: a player character's, and the DM's.

A character's document is made only from events that it perceived. The given lists of people and places are
used to look up names: a lexicon contains only entities that its reader has met.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dndbots.dcml import (
    Certainty,
    DCMLCategory,
    DCMLEntity,
    DCMLOp,
    Deed,
    Definition,
    Document,
    Group,
    Properties,
    Ref,
    Relation,
    Section,
    SectionKind,
    Statement,
    refs_of,
    render,
)
from dndbots.dcml.dense_renderer import dense_lexicon
from dndbots.dcml.plain_renderer import plain_event, plain_lexicon, plain_statement
from dndbots.dcml.shorthand import handle_key
from dndbots.errors import DCMLValueError, DuplicateUid, InvalidSetting, InvalidUid
from dndbots.events import GameEvent, as_perceived, audience
from dndbots.ids import DM, PARTY_UID, category_of, check_uid, name_from_uid
from dndbots.memory.documents.event_dcml import certainty_named, event_tree, mentions, properties_of, roll_up
from dndbots.models import Character, Quest

CLASS_ABBREVIATIONS: Final = {
    "Fighter": "FTR",
    "Cleric": "CLR",
    "Thief": "THF",
    "Magic-User": "MU",
    "Wizard": "MU",
    "Elf": "ELF",
    "Dwarf": "DWF",
    "Halfling": "HLF",
}
IDENTITY: Final = "Identity & role"
QUESTS: Final = "Quests"
HIDDEN: Final = "Hidden truth"
PAST: Final = "Key past events (compressed)"
RECENT: Final = "Recent events"

Named = DCMLEntity | Character | Mapping[str, Any]
Quests = Sequence[Quest | Mapping[str, Any]] | None
Link = Statement | tuple[str, DCMLOp, str]


@dataclass(frozen=True)
class MemoryBuilder:
    """A builder of memory documents.

    It tells the newest `event_window` events one by one, and rolls older ones up into at most `rollup_limit`
    lines, not counting the states of quests. The events themselves stay in the log.
    """

    event_window: int = 10
    dense: bool = False
    rollup_limit: int = 16

    def __post_init__(self) -> None:
        for name in ("event_window", "rollup_limit"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise InvalidSetting(name, value, reason="is not a whole number from 0 up")

    def build_lexicon(
        self,
        characters: Iterable[Character] | None = None,
        npcs: Iterable[Named] | None = None,
        locations: Iterable[Named] | None = None,
    ) -> str:
        """Return a lexicon of all given entities: `## LEXICON`, then a line each."""
        entities = (
            *map(_entity, characters or ()),
            *_entities(npcs, "npcs"),
            *_entities(locations, "locations"),
        )
        if not entities:
            return "## LEXICON\n"
        if self.dense:
            return "\n".join(["## LEXICON", *dense_lexicon(entities)])
        return plain_lexicon(entities)

    def render_event(self, event: GameEvent) -> str:
        """Return one event as lines of DCML."""
        tree = event_tree(event)
        if not self.dense:
            return "\n".join(plain_event(tree))
        # The dense spelling of an event depends on the events above it; here there are none.
        section = Section(SectionKind.MEMORY, DM, (Group(None, (tree,)),))
        return render(Document((), (section,)), dense=True).partition("\n")[2]

    def create_rollups(
        self, events: Iterable[GameEvent], pc_id: str, party_id: str | None = None
    ) -> list[str]:
        """Return the rollup of old events for a reader, as lines."""
        return [plain_statement(line) for line in roll_up(_perceived(events, pc_id), pc_id, party=party_id)]

    def build_pc_memory(
        self,
        pc_id: str,
        character: Character,
        events: Sequence[GameEvent],
        party_id: str | None = None,
        quests: Quests = None,
    ) -> str:
        """Return a character's memory without its lexicon."""
        perceived, asked = _perceived(events, pc_id), _known_quests(quests, pc_id)
        section = self._pc_section(pc_id, character, perceived, party_id, asked)
        return render(Document((), (section,)), dense=self.dense)

    def build_memory_document(
        self,
        pc_id: str,
        character: Character,
        all_characters: Sequence[Character],
        events: Sequence[GameEvent],
        npcs: Iterable[Named] | None = None,
        locations: Iterable[Named] | None = None,
        party_id: str | None = None,
        quests: Quests = None,
    ) -> str:
        """Return a character's whole document: the lexicon of entities it has met, and its memory."""
        perceived, asked = _perceived(events, pc_id), _known_quests(quests, pc_id)
        section = self._pc_section(pc_id, character, perceived, party_id, asked)
        own = DCMLEntity(pc_id, DCMLCategory.PC, character.name)
        party = _distinct([*map(_entity, all_characters), own])
        known = _entities(npcs, "npcs") + _entities(locations, "locations")
        lexicon = _Lexicon(party, known, asked, party_id)
        return render(lexicon.over((section,), perceived), dense=self.dense)

    def build_dm_document(
        self,
        session_id: str,
        all_characters: Sequence[Character],
        events: Sequence[GameEvent],
        *,
        npcs: Iterable[Named] | None = None,
        locations: Iterable[Named] | None = None,
        relations: Iterable[Link] = (),
        hidden: Iterable[Link] = (),
        party_id: str | None = None,
        quests: Quests = None,
    ) -> str:
        """Return the DM's document: lasting relations, and everything true in this session."""
        party = _distinct(map(_entity, all_characters))
        static: list[Statement] = []
        if party_id and party:
            members = tuple(Ref(member.uid) for member in party)
            static.append(Relation(subjects=members, op=DCMLOp.IN, object=_ref(party_id, "party_id")))
        static += [_statement(link, "relations") for link in relations]
        # Events of other sessions are only rolled up.
        here = [event for event in events if event.session_id == session_id]
        before = [event for event in events if event.session_id != session_id]
        asked = _known_quests(quests, DM)
        quest_group, past, recent = self._event_groups(here, DM, party_id, asked, before=before)
        truth = Group(HIDDEN, tuple(_statement(link, "hidden") for link in hidden))
        sections = (
            Section(SectionKind.STATIC_RELATIONS, "", (Group(None, tuple(static)),)),
            Section(SectionKind.SESSION, session_id, (quest_group, truth, past, recent)),
        )
        known = _entities(npcs, "npcs") + _entities(locations, "locations")
        lexicon = _Lexicon([*party, *known], (), asked, party_id)
        return render(lexicon.over(sections, [*before, *here]), dense=self.dense)

    def _pc_section(
        self,
        pc_id: str,
        character: Character,
        perceived: list[GameEvent],
        party_id: str | None,
        quests: list[Quest],
    ) -> Section:
        check_uid(pc_id, where="pc_id")
        identity = Group(IDENTITY, tuple(_identity(pc_id, character, party_id)))
        return Section(
            SectionKind.MEMORY, pc_id, (identity, *self._event_groups(perceived, pc_id, party_id, quests))
        )

    def _event_groups(
        self,
        events: list[GameEvent],
        reader: str,
        party_id: str | None,
        quests: list[Quest],
        *,
        before: Sequence[GameEvent] = (),
    ) -> tuple[Group, Group, Group]:
        """Return three groups: quests, the rollup of old events, and the newest events."""
        everything = [*before, *events]
        cut = max(len(events) - self.event_window, 0)
        lines = _quest_lines(quests, reader, everything)
        listed = {line.subjects[0].uid for line in lines}
        past = [
            line
            for line in roll_up([*before, *events[:cut]], reader, party=party_id)
            if not (_is_quest(line) and line.subjects[0].uid in listed)
        ]
        others = [index for index, line in enumerate(past) if not _is_quest(line)]
        dropped = set(others[: max(len(others) - self.rollup_limit, 0)])
        kept = [line for index, line in enumerate(past) if index not in dropped]
        recent = tuple(event_tree(event) for event in events[cut:])
        return Group(QUESTS, tuple(lines)), Group(PAST, tuple(kept)), Group(RECENT, recent)


def _is_quest(line: Statement) -> bool:
    return line.subjects[0].category is DCMLCategory.QST


def _perceived(events: Iterable[GameEvent], reader: str) -> list[GameEvent]:
    perceived = (event for event in events if reader in audience(event) and not event.is_note)
    return [as_perceived(event, reader) for event in perceived]


def _identity(pc_id: str, character: Character, party_id: str | None) -> list[Statement]:
    own = (Ref(pc_id),)
    stats = character.stats
    scores = [f"{key.upper()}{getattr(stats, key)}" for key in ("str", "dex", "con", "int", "wis", "cha")]
    job = {"class": class_abbreviation(character.char_class), "level": character.level}
    lines: list[Statement] = []
    if party_id:
        lines.append(Relation(subjects=own, op=DCMLOp.IN, object=_ref(party_id, "party_id"), closed=True))
    return [
        *lines,
        *(
            Properties(subjects=own, properties=properties_of(values), closed=True)
            for values in (job, {"stats": ",".join(scores)})
        ),
    ]


def class_abbreviation(char_class: str) -> str:
    """Return a class's abbreviation from the table, or its first three letters in capitals."""
    for known, short in CLASS_ABBREVIATIONS.items():
        if known.casefold() == char_class.strip().casefold():
            return short
    return "".join(filter(str.isalpha, char_class))[:3].upper() or char_class


def _known_quests(quests: Quests, reader: str) -> list[Quest]:
    """Return the quests that the reader may know."""
    asked = map(_quest, quests or ())
    return [quest for quest in asked if quest.known_by is None or reader in (*quest.known_by, DM)]


def _quest_lines(quests: list[Quest], reader: str, events: Iterable[GameEvent]) -> list[Statement]:
    """Return a line for each quest; a state from an event replaces the given one."""
    known = [event.known for event in events]
    seen = {each.quest_id: each.quest_state for each in known if each.quest_state}
    default = Certainty.FACT if reader == DM else Certainty.BELIEF
    lines: list[Statement] = []
    for quest in quests:
        newer = seen.get(quest.uid)
        values = {"state": newer or quest.state, "giver": quest.giver, "goal": quest.goal}
        properties = properties_of(values)
        if properties:
            lines.append(
                Properties(
                    subjects=(Ref(quest.uid, DCMLCategory.QST),),
                    properties=properties,
                    certainty=default if newer else certainty_named(quest.certainty, default),
                )
            )
    return lines


def _quest(quest: Quest | Mapping[str, Any]) -> Quest:
    if isinstance(quest, Quest):
        return quest
    if not isinstance(quest, Mapping):
        raise DCMLValueError(quest, where="quests", reason="is neither a Quest nor a mapping with a uid")
    certainty = quest.get("certainty")
    if isinstance(certainty, Certainty):
        return Quest.model_validate({**quest, "certainty": certainty.name.lower()})
    return Quest.model_validate(dict(quest))


def _ref(uid: object, where: str) -> Ref:
    return Ref(check_uid(uid, where=where))


def _statement(link: Link, where: str) -> Statement:
    if isinstance(link, Relation | Deed | Definition | Properties):
        return link
    if isinstance(link, tuple | list) and len(link) == 3 and isinstance(link[1], DCMLOp):
        subject, op, target = link
        return Relation(subjects=(_ref(subject, where),), op=op, object=_ref(target, where))
    raise DCMLValueError(link, where=where, reason="is neither a statement nor (uid, operator, uid)")


def _entities(named: Iterable[Named] | None, where: str) -> list[DCMLEntity]:
    return [_entity(each, where) for each in named or ()]


def _entity(named: Named, where: str = "all_characters") -> DCMLEntity:
    if isinstance(named, DCMLEntity):
        return named
    if isinstance(named, Character):
        return DCMLEntity(named.uid, DCMLCategory.PC, named.name)
    if not isinstance(named, Mapping):
        raise DCMLValueError(named, where=where, reason="is not a mapping with uid and name")
    uid = check_uid(named.get("uid"), where=f"uid in {where}")
    by_prefix = category_of(uid)
    category = DCMLCategory.of(named.get("category") or by_prefix or uid.partition("_")[0])
    if by_prefix not in (None, category):
        raise InvalidUid(uid, where=f"uid in {where}", category=category)
    return DCMLEntity(uid, category, named.get("name", ""))


def _distinct(entities: Iterable[DCMLEntity]) -> list[DCMLEntity]:
    """Return each entity once. Raise `DuplicateUid` if two share a uid: they would share a memory."""
    by_uid: dict[str, DCMLEntity] = {}
    for entity in entities:
        earlier = by_uid.setdefault(entity.uid, entity)
        if earlier != entity:
            raise DuplicateUid(entity.uid, names=(earlier.name, entity.name))
    return list(by_uid.values())


class _Lexicon:
    """The entities that a document may list, and the choice of those that it must list."""

    def __init__(
        self,
        given: Sequence[DCMLEntity],
        known: Iterable[DCMLEntity],
        quests: list[Quest],
        party_id: str | None,
    ) -> None:
        names = [DCMLEntity(quest.uid, DCMLCategory.QST, quest.name) for quest in quests if quest.name]
        self._names = {entity.uid: entity for entity in (*known, *names, *given)}
        self._given = {entity.uid for entity in given}
        # The reader knows these without any event, so they come first in the order of meeting.
        first = [uid for quest in quests for uid in (quest.uid, quest.giver) if uid]
        self._first = [*(entity.uid for entity in given), party_id or PARTY_UID, *first]

    def over(self, sections: tuple[Section, ...], perceived: Iterable[GameEvent]) -> Document:
        """Return a document of the sections under a lexicon of what they use, in the order of meeting.

        The lexicon also has entities with the handle of a later one in it: the second bearer of a name stays
        the second even if the first is not mentioned. A uid without a category (`race_elves`) is listed only
        if it was given a name.
        """
        uses = {ref.uid for ref in refs_of(Document((), sections)) if not _is_event(ref)}
        met = dict.fromkeys([*self._first, *(uid for event in perceived for uid in mentions(event))])
        met |= dict.fromkeys(sorted(uses.difference(met)))
        entities = {uid: entity for uid in met if (entity := self._named(uid))}
        lexicon: list[DCMLEntity] = []
        shared: set[str | None] = set()
        for uid, entity in reversed(entities.items()):
            key = handle_key(entity.name)
            if uid in uses or uid in self._given or (key in shared and key is not None):
                lexicon.append(entity)
                shared.add(key)
        return Document(tuple(reversed(lexicon)), sections)

    def _named(self, uid: str) -> DCMLEntity | None:
        if entity := self._names.get(uid):
            return entity
        category = category_of(uid)
        if category is None:
            return None
        name = "The Party" if uid == PARTY_UID else name_from_uid(uid)
        return DCMLEntity(uid, DCMLCategory(category), name)


def _is_event(ref: Ref) -> bool:
    return ref.category is DCMLCategory.EVT or category_of(ref.uid) == "EVT"
