"""Carry out a DM's tool calls in one scene: each is checked, and becomes events or is refused.

Calls name people and things of the scene. A refusal gives its reason in words for the caller: a model, or a
person who plays the DM.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from dndbots.errors import ActRefused, InvalidName, UnknownMonster
from dndbots.events import EventType, GameEvent
from dndbots.game.dm import tools
from dndbots.game.dm.inventions import (
    CALLED,
    ROLE,
    SEEN_AS,
    WANTS,
    find_mentions,
    invented_people,
    invented_quests,
    mint_uid,
    name_heard_at,
    promise_id,
    refuse_known_name,
    tell_npc_line,
)
from dndbots.game.dm.plot_sheet import PLOT_METHODS
from dndbots.game.dm.sheet_calls import SHEET_METHODS
from dndbots.game.input.act_resolver import find_matches
from dndbots.game.input.answer_filter import filter_answer
from dndbots.game.lookups import CampaignLookup
from dndbots.game.referee import begin_fight, roll_check
from dndbots.game.referee.movement import move_group
from dndbots.game.state.game_notes import Clock, FoesNote
from dndbots.game.world.narration import Narration, as_sentence, join_texts
from dndbots.game.world.places import tell_place
from dndbots.game.world.world_state import LOOKS
from dndbots.ids import DM, check_name, slug
from dndbots.rules.characters.abilities import Ability
from dndbots.rules.fights.monsters import monster
from dndbots.rules.saves import SaveKind
from dndbots.text.labels import is_reserved, write_label

MOST_SPOKEN: Final = 2  # lines of NPCs in a scene, in a round
_LONGEST_RESULT: Final = 1_500
_LONGEST_TEXT: Final = 1_200
_MOST_PEOPLE: Final = 12
_MOST_CLOCKS: Final = 6
_MOST_WAYS: Final = 10
_OPEN: Final = ("offered", "accepted")
# Words with spaces and light punctuation between them: no sentence, and no line of code.
_NAMELIKE: Final = re.compile(r"[^\W_](?:[\w '\u2019,.&()-]*[\w)'\u2019])?")
_ABILITIES: Final = frozenset(Ability)
_NUMBER_BEHIND: Final = re.compile(r"[\s#-]?\d{1,3}$")  # models number a name that is taken
_OF_ONESELF: Final = re.compile(r"(?:I|I['\u2019]\w+|my|we|our)\b", re.IGNORECASE)
# Foes may be this many times stronger than the party: a hard fight, not a certain death.
_ODDS: Final = 3


class NpcVoices(Protocol):
    """A way to have NPCs speak in their own words, such as a model for each of them."""

    def say(
        self, narration: Narration, place: str, npc: str, *, since: Sequence[GameEvent], wish: str = ""
    ) -> bool:
        """Have an NPC speak to all who are at the place. Return False if it has nothing to say."""
        ...


# Returns the part of a text that may be told in a scene.
TellingGuard = Callable[[str], str]


class ToolCalls:
    """The tool calls of one scene. With `people`, NPCs speak in their own words.

    Texts of calls that are told to those who are here pass `guard`, as all words of their caller do.
    """

    def __init__(
        self,
        narration: Narration,
        place: str,
        *,
        look: CampaignLookup | None,
        people: NpcVoices | None,
        since: Sequence[GameEvent],
        guard: TellingGuard | None = None,
    ) -> None:
        self.narration, self.place = narration, place
        self._look, self._people, self._since, self._guard = look, people, since, guard
        self.spoken = self.done = 0
        self.spoke: set[str] = set()
        self.shown: list[tuple[GameEvent, str]] = []  # people who were introduced, and what they look like
        self._rolled: set[tuple[str, Ability | SaveKind]] = set()

    def do(self, form: object) -> str:
        """Carry out a call and return its result in words. `ActRefused` says why it cannot be done."""
        carry_out = _TOOL_METHODS.get(type(form))
        if carry_out is None:
            raise ActRefused(DM, verb="call", reason="there is no such tool")
        result = carry_out(self, form)[:_LONGEST_RESULT]
        self.done += 1
        return result

    def people_here(self) -> dict[str, str]:
        """Return the names of all who are in this scene: characters and NPCs, by uid."""
        return self._npcs() | self._characters()

    # Lookups.

    def look_up(self, form: tools.LookUp) -> str:
        found = self._look.look_up(form.name) if self._look else ""
        return found or f"Nothing is known of {write_label(form.name)}."

    def recall(self, form: tools.RecallTool) -> str:
        return (self._look.recall(form.question) if self._look else "") or "No record."

    # Dice.

    def ask_roll(self, form: tools.AskRoll) -> str:
        who = self.character(form.character)
        kind = Ability(form.kind) if form.kind in _ABILITIES else SaveKind(form.kind)
        if (who, kind) in self._rolled:
            raise self.refused(f"{self.name(who)} has rolled for this already; tell what came of it")
        self._rolled.add((who, kind))
        why = self._purpose(who, form.why)
        made = roll_check(self.narration.step, who, kind, place=self.place, why=why)
        return made.text

    def start_fight(self, form: tools.StartFight) -> str:
        step = self.narration.step
        if self.place in step.table.fights:
            raise self.refused("there is a fight here already")
        try:
            kind = monster(form.monster)
        except UnknownMonster as exc:
            raise self.refused(
                f"the rules have no {form.monster!r}; they have {', '.join(exc.known)}"
            ) from exc
        party = sum(int(step.table.fact(uid, "level", 1)) for uid in step.table.together(self.place))
        most = max((_ODDS * party + _ODDS) // max(kind.level, 1), 0)
        if form.number > most:
            raise self.refused(f"that is too much for the characters here; send at most {most}")
        name = (kind.name if form.number == 1 else kind.plural).lower()
        uid = mint_uid(self.narration, "mon", f"{kind.name} r{step.round}")
        text = as_sentence(self.telling(form.text) or f"It comes to blows: {form.number} {name}")
        foes = {uid: FoesNote(monster=kind.name, name=name, number=form.number)}
        begin_fight(step, self.place, foes, text=text)
        return f"A fight begins against {form.number} {name}. The rules play it."

    # People.

    def introduce_npc(self, form: tools.IntroduceNpc) -> str:
        narration, step = self.narration, self.narration.step
        name, looks = self._name(_NUMBER_BEHIND.sub("", form.name) or form.name), self._name(form.looks)
        refuse_known_name(narration, name, kind="npc")
        heard = (name_heard_at(narration, uid, self.place) for uid in self._npcs())
        if looks.casefold() in map(str.casefold, heard):
            raise self.refused(f"{looks} is here already; let that person speak instead")
        if len([uid for uid in step.present(self.place) if uid.startswith("npc_")]) >= _MOST_PEOPLE:
            raise self.refused(f"this scene has {_MOST_PEOPLE} people already; it cannot hold more")
        uid = mint_uid(narration, "npc", name)
        said = {
            CALLED: name,
            SEEN_AS: looks,
            ROLE: self.plain(form.role),
            WANTS: self.plain(form.wants)[:900],
        }
        narration.tell_dm(
            f"{name} comes into the story.",
            beats=(),
            names={uid: name},
            facts=[{"subject": uid, "key": key, "value": value} for key, value in said.items() if value],
        )
        told = narration.tell(
            self.place,
            narration.phrase("here", people=looks),
            participants=[uid],
            witnesses=step.present(self.place),
            names={uid: looks},
        )
        self.shown.append((told, looks))
        return f"{name} is here, and is called {looks!r} by those who have not heard the name."

    def speak_as(self, form: tools.SpeakAs) -> str:
        npc = self.npc(form.npc)
        if self.spoken >= MOST_SPOKEN:
            raise self.refused("NPCs have said enough in this scene; let the players speak")
        self.spoken += 1
        self.spoke.add(npc)
        wish = self.plain(form.gist)
        if self._people is not None:
            spoke = self._people.say(self.narration, self.place, npc, since=self._since, wish=wish)
        else:
            spoke = bool(wish)
            if spoke:
                tell_npc_line(self.narration, self.place, npc, wish)
        if not spoke:
            raise self.refused("they have nothing to say to that")
        return "They said it."

    # Places.

    def move_scene(self, form: tools.MoveScene) -> str:
        step, table = self.narration.step, self.narration.step.table
        if self.place in table.fights:
            raise self.refused("there is a fight here; characters who want to leave have to flee")
        here = table.together(self.place)
        movers = list(dict.fromkeys(self.character(name) for name in form.who)) or here
        sights = table.sights.get(self.place)
        ways = find_matches({way: way for way in sights.ways}, form.way) if sights is not None else []
        if len(ways) == 1:
            way = ways[0]
            there = step.leads(table, self.place, way)
            if there is None:
                raise self.refused(f"nobody can take {way}: it is shut or blocked")
        else:
            way, there = self._lay(form)
        old = self.place
        move_group(step, movers, old, way, there)
        tell_place(self.narration, there, came=movers)
        if not table.together(old):
            self.place = there
        return f"They are at {table.name(there)} now."

    def take_way(self, form: tools.TakeWay) -> str:
        """Take characters along a way that is here."""
        sights = self.narration.step.table.sights.get(self.place)
        ways = list(sights.ways) if sights is not None else []
        if len(find_matches({way: way for way in ways}, form.way)) != 1:
            raise self.refused(f"there is no way {form.way!r} here; there are {join_texts(ways) or 'none'}")
        return self.move_scene(tools.MoveScene(way=form.way, who=form.who))

    def _lay(self, form: tools.MoveScene) -> tuple[str, str]:
        """Make a new place with the way there and back. Return the way and the place's uid."""
        narration, table = self.narration, self.narration.step.table
        if not form.place or not form.looks:
            raise self.refused(f"there is no way {form.way!r} here; for a new one, give place and looks")
        if len(table.laid.get(self.place, {})) >= _MOST_WAYS:
            raise self.refused(f"this place has {_MOST_WAYS} new ways already; it cannot have more")
        name, way = self._name(form.place), self._name(form.way)
        back = self._name(form.back) if form.back else "back"
        looks = self.plain(form.looks)[:900]
        if not looks:
            raise self.refused("looks is empty; describe the place")
        refuse_known_name(narration, name, kind="loc")
        there = mint_uid(narration, "loc", name)
        narration.tell_dm(
            f"{name} comes into the story.",
            beats=(),
            names={there: name},
            facts=[{"subject": there, "key": LOOKS, "value": looks}],
            play={"laid": {self.place: {way: there}, there: {back: self.place}}},
        )
        return way, there

    # Quests, and words for one character alone.

    def offer_quest(self, form: tools.OfferQuest) -> str:
        narration, step = self.narration, self.narration.step
        name, goal = self._name(form.name), self.plain(form.goal)
        refuse_known_name(narration, name, kind="qst")
        giver = self.npc(form.giver) if form.giver else None
        if not goal:
            raise self.refused("goal is empty; say what there is to do")
        uid = mint_uid(narration, "qst", name)
        by = "" if giver is None else f" for {name_heard_at(narration, giver, self.place)}"
        narration.tell(
            self.place,
            f"There is something to be done{by}: {name}. {self.telling(goal)}".rstrip(),
            kind=EventType.QUEST_UPDATE,
            names={uid: name, **find_mentions(step.table, goal)},
            gist=f"{name} was offered to us",
            quest_id=uid,
            quest_state="offered",
            facts=[{"subject": uid, "key": "goal", "value": goal}],
        )
        return f"{name} is offered; they may accept or refuse it."

    def resolve_quest(self, form: tools.ResolveQuest) -> str:
        narration, table = self.narration, self.narration.step.table
        still_open = {
            uid: table.name(uid) for uid, state in invented_quests(narration).items() if state in _OPEN
        }
        if not still_open:
            raise self.refused("none of your quests is open; the adventure's own quests end by themselves")
        uid = self._one_of(still_open, form.name)
        accepted = invented_quests(narration)[uid] == "accepted"
        narration.tell(
            self.place,
            f"{table.name(uid)} is {'done' if form.outcome == 'completed' else 'lost'}.",
            kind=EventType.QUEST_UPDATE,
            names={uid: table.name(uid)},
            gist=f"{table.name(uid)} was {form.outcome}",
            quest_id=uid,
            quest_state=form.outcome,
            threads=[{"id": promise_id(uid), "state": form.outcome}] if accepted else [],
        )
        return f"{table.name(uid)} is {form.outcome}."

    def whisper(self, form: tools.Whisper) -> str:
        who, words = self.character(form.to), self.telling(form.words)
        if not words:
            raise self.refused("words is empty, or was told before; say what to whisper")
        self.narration.tell(
            self.place,
            words,
            kind=EventType.WHISPER,
            witnesses=(),
            names=find_mentions(self.narration.step.table, words),
            told_to=[who],
        )
        return "Only they heard it."

    def set_clock(self, form: tools.SetClock) -> str:
        narration, table = self.narration, self.narration.step.table
        threat = self.plain(form.threat)
        if not threat:
            raise self.refused("threat is empty; say what happens when time is up")
        if len(table.clocks) >= _MOST_CLOCKS:
            raise self.refused(f"there are {_MOST_CLOCKS} clocks already; let one run out")
        name = f"clock_{slug(threat)[:40]}_{narration.step.round}_{len(table.clocks)}"
        due = narration.step.round + form.rounds
        narration.tell_dm(
            threat,
            beats=(),
            threads=[{"id": name, "kind": "threat", "text": threat}],
            play={"clocks": {name: Clock(text=threat, due=due).model_dump()}},
        )
        return f"In round {due} you are told of it."

    # Names and words.

    def _npcs(self) -> dict[str, str]:
        """Return the NPCs of this scene with their real names, which the DM uses."""
        narration, table = self.narration, self.narration.step.table
        own = {uid: str(table.fact(uid, CALLED)) for uid in invented_people(table, self.place)}
        written = {
            narration.atlas.uid("npc", one.key): one.name for one in narration.world.people(self.place)
        }
        return {**written, **own}

    def _characters(self) -> dict[str, str]:
        table = self.narration.step.table
        return {uid: table.name(uid) for uid in table.together(self.place)}

    def character(self, name: str) -> str:
        return self._one_of(self._characters(), name)

    def npc(self, name: str) -> str:
        """Return the NPC of this scene that a name means."""
        return self._one_of(self._npcs(), name)

    def anybody(self, name: str) -> str:
        """Return the character or NPC of this scene that a name means."""
        return self._one_of(self.people_here(), name)

    def _one_of(self, known: Mapping[str, str], name: str) -> str:
        heard = {
            uid: name_heard_at(self.narration, uid, self.place) for uid in known if uid.startswith("npc_")
        }
        found = [
            uid
            for uid in find_matches(known, name) or find_matches(heard, name)
            if uid != name or name in known.values()
        ]
        if len(found) == 1:
            return found[0]
        there = join_texts(sorted(known.values())) or "nobody"
        raise self.refused(f"nobody in this scene matches {name!r}; here: {there}")

    def _purpose(self, who: str, why: str) -> str:
        """Return what a roll is for, as a sentence. A character's own words are told already."""
        said = self.telling(why).strip()
        heard = said.casefold().rstrip(" .\u2026")
        if any(heard in event.content.casefold() for event in self._since):
            return ""
        if said.casefold().startswith("to "):
            return f"{self.name(who)} tries {said[:1].lower()}{said[1:]}"
        return "" if _OF_ONESELF.match(said) or said.endswith(("?", "!")) else f"{said[:1].upper()}{said[1:]}"

    def name(self, uid: str) -> str:
        return self.narration.step.table.name(uid)

    def plain(self, text: str) -> str:
        """Return the caller's words as others may read them."""
        return clean_words(self.narration, text)

    def telling(self, text: str) -> str:
        """Return the caller's words as they may be told here; "" if they were told before or are no story."""
        plain = self.plain(text)
        return plain if self._guard is None or not plain else self._guard(plain)

    def _name(self, name: str) -> str:
        """Return a name that is safe wherever names are shown."""
        try:
            said = check_name(" ".join(self.plain(name).split()))
        except InvalidName as exc:
            raise self.refused(f"{name!r} is not a name") from exc
        is_name = _NAMELIKE.fullmatch(said) and not is_reserved(said)
        if said.casefold() != " ".join(name.split()).casefold() or not is_name:
            raise self.refused(f"{name!r} is not a name: leave out ids, headings and markup")
        return said

    @staticmethod
    def refused(reason: str) -> ActRefused:
        return ActRefused(DM, verb="call", reason=reason)


def clean_words(narration: Narration, text: str) -> str:
    """Return a DM's words without other speakers' lines, ids and engine talk."""
    table = narration.step.table
    characters = [table.name(uid) for uid in table.living()]
    return filter_answer(text, own=("dm",), others=characters, names=table.names, longest=_LONGEST_TEXT).words


_TOOL_METHODS: Final[Mapping[type[Any], Callable[[ToolCalls, Any], str]]] = {
    tools.LookUp: ToolCalls.look_up,
    tools.RecallTool: ToolCalls.recall,
    tools.AskRoll: ToolCalls.ask_roll,
    tools.IntroduceNpc: ToolCalls.introduce_npc,
    tools.SpeakAs: ToolCalls.speak_as,
    tools.MoveScene: ToolCalls.move_scene,
    tools.TakeWay: ToolCalls.take_way,
    tools.OfferQuest: ToolCalls.offer_quest,
    tools.ResolveQuest: ToolCalls.resolve_quest,
    tools.StartFight: ToolCalls.start_fight,
    tools.Whisper: ToolCalls.whisper,
    tools.SetClock: ToolCalls.set_clock,
    **SHEET_METHODS,
    **PLOT_METHODS,
}
