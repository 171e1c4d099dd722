"""Memory documents from lists of events: a player character's, and the DM's.

A character's document is made from the events in its audience and from nothing else. The lists of
people and places are names to look up, not things to tell: nobody stands in a lexicon whose reader
has not met them.
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
from dndbots.dcml.render_dense import dense_lexicon
from dndbots.dcml.render_plain import plain_event, plain_lexicon, plain_statement
from dndbots.dcml.shorthand import handle_key
from dndbots.errors import DCMLValueError, DuplicateUid, InvalidSetting, InvalidUid
from dndbots.events import GameEvent, as_perceived, audience
from dndbots.ids import DM, PARTY_UID, category_of, check_uid, name_from_uid
from dndbots.memory.happenings import certainty_named, described, event_tree, mentions, roll_up
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
    """Builds memory documents.

    The newest `event_window` events are told. Older ones are rolled up into at most `rollup_limit`
    lines, beside the state of quests; nothing is lost by that, since the events are still there.
    """

    event_window: int = 10
    dense: bool = False
    rollup_limit: int = 16

    def __post_init__(self) -> None:
        for name in ("event_window", "rollup_limit"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise InvalidSetting(name, value, reason="is not a number from 0 up")

    def build_lexicon(
        self,
        characters: Iterable[Character] | None = None,
        npcs: Iterable[Named] | None = None,
        locations: Iterable[Named] | None = None,
    ) -> str:
        """The lexicon of everything given, `## LEXICON` and a line each."""
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
        """One event, in its lines."""
        tree = event_tree(event)
        if not self.dense:
            return "\n".join(plain_event(tree))
        # The dense spelling of an event depends on those above it: here, on none.
        section = Section(SectionKind.MEMORY, DM, (Group(None, (tree,)),))
        return render(Document((), (section,)), dense=True).partition("\n")[2]

    def create_rollups(
        self, events: Iterable[GameEvent], pc_id: str, party_id: str | None = None
    ) -> list[str]:
        """What old events leave behind for a reader, a line each."""
        return [plain_statement(line) for line in roll_up(_perceived(events, pc_id), pc_id, party=party_id)]

    def build_pc_memory(
        self,
        pc_id: str,
        character: Character,
        events: Sequence[GameEvent],
        party_id: str | None = None,
        quests: Quests = None,
    ) -> str:
        """A character's memory without its lexicon."""
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
        """A character's whole document: the lexicon of what it has met, and its memory."""
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
        """The DM's document: how the world hangs together, and all that is true in this session."""
        party = _distinct(map(_entity, all_characters))
        static: list[Statement] = []
        if party_id and party:
            members = tuple(Ref(member.uid) for member in party)
            static.append(Relation(subjects=members, op=DCMLOp.IN, object=_ref(party_id, "party_id")))
        static += [_statement(link, "relations") for link in relations]
        # What happened in other sessions is rolled up: this section is this session's.
        here = [event for event in events if event.session_id == session_id]
        before = [event for event in events if event.session_id != session_id]
        asked = _known_quests(quests, DM)
        told, past, recent = self._told(here, DM, party_id, asked, before=before)
        truth = Group(HIDDEN, tuple(_statement(link, "hidden") for link in hidden))
        sections = (
            Section(SectionKind.STATIC_RELATIONS, "", (Group(None, tuple(static)),)),
            Section(SectionKind.SESSION, session_id, (told, truth, past, recent)),
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
        return Section(SectionKind.MEMORY, pc_id, (identity, *self._told(perceived, pc_id, party_id, quests)))

    def _told(
        self,
        events: list[GameEvent],
        reader: str,
        party_id: str | None,
        quests: list[Quest],
        *,
        before: Sequence[GameEvent] = (),
    ) -> tuple[Group, Group, Group]:
        """Quests, what old events left behind, and the newest events."""
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
            Properties(subjects=own, properties=described(said), closed=True)
            for said in (job, {"stats": ",".join(scores)})
        ),
    ]


def class_abbreviation(char_class: str) -> str:
    """By the table, else the first three letters."""
    for known, short in CLASS_ABBREVIATIONS.items():
        if known.casefold() == char_class.strip().casefold():
            return short
    return "".join(filter(str.isalpha, char_class))[:3].upper() or char_class


def _known_quests(quests: Quests, reader: str) -> list[Quest]:
    """The quests that the reader may know of. Nothing of the others goes any further."""
    asked = map(_quest, quests or ())
    return [quest for quest in asked if quest.known_by is None or reader in (*quest.known_by, DM)]


def _quest_lines(quests: list[Quest], reader: str, events: Iterable[GameEvent]) -> list[Statement]:
    """Each quest; a state that the reader has seen since is the newer one."""
    known = [event.known for event in events]
    seen = {each.quest_id: each.quest_state for each in known if each.quest_state}
    default = Certainty.FACT if reader == DM else Certainty.BELIEF
    lines: list[Statement] = []
    for quest in quests:
        newer = seen.get(quest.uid)
        said = {"state": newer or quest.state, "giver": quest.giver, "goal": quest.goal}
        properties = described(said)
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
    """Each once. Two characters with one uid would share one mind."""
    found: dict[str, DCMLEntity] = {}
    for entity in entities:
        earlier = found.setdefault(entity.uid, entity)
        if earlier != entity:
            raise DuplicateUid(entity.uid, names=(earlier.name, entity.name))
    return list(found.values())


class _Lexicon:
    """Who is who, and which of them a document has to list."""

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
        # Whom the reader knows of apart from any event: the order of meeting starts with them.
        first = [uid for quest in quests for uid in (quest.uid, quest.giver) if uid]
        self._first = [*(entity.uid for entity in given), party_id or PARTY_UID, *first]

    def over(self, sections: tuple[Section, ...], perceived: Iterable[GameEvent]) -> Document:
        """The sections under a lexicon of what they use, in the order in which the reader met it.

        Whoever was met before somebody in it and would have the same handle is in it too: the second
        bearer of a name stays the second when the first one is out of sight. A uid of no category
        (`race_elves`) has no entry unless somebody gave it a name.
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
