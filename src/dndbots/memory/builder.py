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
from dndbots.events import GameEvent, audience
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
_STAND_IN_NAMES: Final = {PARTY_UID: "The Party"}

Named = DCMLEntity | Character | Mapping[str, Any]
Quests = Sequence[Quest | Mapping[str, Any]] | None
Link = Statement | tuple[str, DCMLOp, str]


@dataclass(frozen=True)
class MemoryBuilder:
    """Builds memory documents. The newest `event_window` events are told, older ones rolled up."""

    event_window: int = 10
    dense: bool = False

    def __post_init__(self) -> None:
        if self.event_window < 0:
            raise ValueError(f"event_window: {self.event_window} is below 0")

    def build_lexicon(
        self,
        characters: Iterable[Character] | None = None,
        npcs: Iterable[Named] | None = None,
        locations: Iterable[Named] | None = None,
    ) -> str:
        """The lexicon of everything given, `## LEXICON` and a line each."""
        entities = tuple(map(_entity, (*(characters or ()), *(npcs or ()), *(locations or ()))))
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
        section = self._pc_section(pc_id, character, _perceived(events, pc_id), party_id, quests)
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
        perceived = _perceived(events, pc_id)
        section = self._pc_section(pc_id, character, perceived, party_id, quests)
        party = [*map(_entity, all_characters)]
        if all(member.uid != pc_id for member in party):
            party.append(DCMLEntity(pc_id, DCMLCategory.PC, character.name))
        known = [*(npcs or ()), *(locations or ()), *_quest_names(quests)]
        return render(_with_lexicon((section,), party, known, perceived), dense=self.dense)

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
        members = [Ref(character.uid) for character in all_characters]
        static: list[Statement] = []
        if party_id and members:
            static.append(Relation(subjects=tuple(members), op=DCMLOp.IN, object=Ref(check_uid(party_id))))
        static += map(_statement, relations)
        happened = list(events)
        asked, past, recent = self._told(happened, DM, party_id, quests)
        groups = (asked, Group(HIDDEN, tuple(map(_statement, hidden))), past, recent)
        sections = (
            Section(SectionKind.STATIC_RELATIONS, "", (Group(None, tuple(static)),)),
            Section(SectionKind.SESSION, session_id, groups),
        )
        party = [_entity(character) for character in all_characters]
        given = [_entity(each) for each in (*(npcs or ()), *(locations or ()))]
        document = _with_lexicon(sections, [*party, *given], _quest_names(quests), happened)
        return render(document, dense=self.dense)

    def _pc_section(
        self,
        pc_id: str,
        character: Character,
        perceived: list[GameEvent],
        party_id: str | None,
        quests: Quests,
    ) -> Section:
        check_uid(pc_id, where="pc_id")
        identity = Group(IDENTITY, tuple(_identity(pc_id, character, party_id)))
        return Section(SectionKind.MEMORY, pc_id, (identity, *self._told(perceived, pc_id, party_id, quests)))

    def _told(
        self, events: list[GameEvent], reader: str, party_id: str | None, quests: Quests
    ) -> tuple[Group, Group, Group]:
        """Quests, what old events left behind, and the newest events."""
        lines = _quest_lines(quests, reader, events)
        listed = {line.subjects[0].uid for line in lines}
        cut = max(len(events) - self.event_window, 0)
        past = [
            line
            for line in roll_up(events[:cut], reader, party=party_id)
            if not (line.subjects[0].category is DCMLCategory.QST and line.subjects[0].uid in listed)
        ]
        recent = tuple(event_tree(event) for event in events[cut:])
        return Group(QUESTS, tuple(lines)), Group(PAST, tuple(past)), Group(RECENT, recent)


def _perceived(events: Iterable[GameEvent], reader: str) -> list[GameEvent]:
    return [event for event in events if reader in audience(event)]


def _identity(pc_id: str, character: Character, party_id: str | None) -> list[Statement]:
    own = (Ref(pc_id),)
    stats = character.stats
    scores = [f"{key.upper()}{getattr(stats, key)}" for key in ("str", "dex", "con", "int", "wis", "cha")]
    job = {"class": class_abbreviation(character.char_class), "level": character.level}
    lines: list[Statement] = []
    if party_id:
        lines.append(Relation(subjects=own, op=DCMLOp.IN, object=Ref(check_uid(party_id)), closed=True))
    return [
        *lines,
        *(
            Properties(subjects=own, properties=described(said), closed=True)
            for said in (job, {"stats": ",".join(scores)})
        ),
    ]


def class_abbreviation(char_class: str) -> str:
    return CLASS_ABBREVIATIONS.get(char_class) or char_class[:3].upper()


def _quest_lines(quests: Quests, reader: str, events: Iterable[GameEvent]) -> list[Statement]:
    """Each quest that the reader may know of; a state it has seen since is the newer one."""
    seen = {event.known.quest_id: event.known.quest_state for event in events if event.known.quest_state}
    default = Certainty.FACT if reader == DM else Certainty.BELIEF
    lines: list[Statement] = []
    for quest in map(_quest, quests or ()):
        if quest.known_by is not None and reader not in (*quest.known_by, DM):
            continue
        said = {"state": seen.get(quest.uid) or quest.state, "giver": quest.giver, "goal": quest.goal}
        properties = described(said)
        if properties:
            lines.append(
                Properties(
                    subjects=(Ref(quest.uid, DCMLCategory.QST),),
                    properties=properties,
                    certainty=certainty_named(quest.certainty, default),
                )
            )
    return lines


def _quest(quest: Quest | Mapping[str, Any]) -> Quest:
    if isinstance(quest, Quest):
        return quest
    certainty = quest.get("certainty")
    if isinstance(certainty, Certainty):
        return Quest.model_validate({**quest, "certainty": certainty.name.lower()})
    return Quest.model_validate(quest)


def _quest_names(quests: Quests) -> list[DCMLEntity]:
    return [
        DCMLEntity(quest.uid, DCMLCategory.QST, quest.name)
        for quest in map(_quest, quests or ())
        if quest.name
    ]


def _statement(link: Link) -> Statement:
    if not isinstance(link, tuple):
        return link
    subject, op, target = link
    return Relation(subjects=(Ref(check_uid(subject)),), op=op, object=Ref(check_uid(target)))


def _category(uid: str) -> DCMLCategory:
    return DCMLCategory.of(category_of(uid) or uid.partition("_")[0])


def _entity(named: Named) -> DCMLEntity:
    if isinstance(named, DCMLEntity):
        return named
    if isinstance(named, Character):
        return DCMLEntity(named.uid, DCMLCategory.PC, named.name)
    uid = check_uid(named.get("uid", ""), where="uid of an entity")
    category = named.get("category")
    return DCMLEntity(uid, DCMLCategory.of(category) if category else _category(uid), named.get("name", ""))


def _with_lexicon(
    sections: tuple[Section, ...],
    given: Iterable[DCMLEntity],
    known: Iterable[Named],
    perceived: Iterable[GameEvent],
) -> Document:
    """The sections under a lexicon of what they use, in the order in which the reader met it.

    Whoever shares a name with somebody in the lexicon, and was met, is in it too: the second bearer
    of a name stays the second when the first one is out of sight. A uid of no category
    (`race_elves`) has no entry unless somebody gave it a name.
    """
    names = {entity.uid: entity for entity in map(_entity, known)}
    names.update({entity.uid: entity for entity in given})
    uses = {ref.uid for ref in refs_of(Document((), sections)) if not _is_event(ref)}
    wanted = dict.fromkeys(entity.uid for entity in given)
    met = list(dict.fromkeys([*wanted, *(uid for event in perceived for uid in mentions(event))]))
    met += sorted(uses.difference(met))
    shown = {uid for uid in met if uid in uses or uid in names}
    entities = {uid: names.get(uid) or _stand_in(uid) for uid in met if uid in names or category_of(uid)}
    namesakes = {entities[uid].name.casefold() for uid in shown if uid in entities}
    lexicon = tuple(
        entity for uid, entity in entities.items() if uid in shown or entity.name.casefold() in namesakes
    )
    return Document(lexicon, sections)


def _is_event(ref: Ref) -> bool:
    return ref.category is DCMLCategory.EVT or category_of(ref.uid) == "EVT"


def _stand_in(uid: str) -> DCMLEntity:
    return DCMLEntity(uid, _category(uid), _STAND_IN_NAMES.get(uid) or name_from_uid(uid))
