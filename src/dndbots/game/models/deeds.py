"""What comes of a DM's calls in one scene: each is checked here, and is an event or nothing.

Names are those of who and what is in the scene. Whatever is refused says why, in words for whoever called:
a model, or a person behind the screen.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dndbots.errors import ActRefused, InvalidName, UnknownMonster
from dndbots.events import EventType, GameEvent
from dndbots.game.house.places import listed, tell_place
from dndbots.game.house.telling import Telling
from dndbots.game.house.world import LOOKS
from dndbots.game.looking import Looking
from dndbots.game.meaning import matching
from dndbots.game.models import forms
from dndbots.game.models.cleaning import cleaned
from dndbots.game.models.lasting import promise
from dndbots.game.models.making import (
    CALLED,
    ROLE,
    SEEN_AS,
    WANTS,
    called_here,
    mentioned,
    new_uid,
    own_people,
    own_quests,
    refuse_known_name,
)
from dndbots.game.models.npcs import MOST_SPOKEN, People, spoken_by
from dndbots.game.played import Clock, Foes
from dndbots.game.referee import begin_fight, put_to_the_test
from dndbots.game.referee.marching import go
from dndbots.ids import DM, check_name, slug
from dndbots.rules.abilities import Ability
from dndbots.rules.monsters import monster
from dndbots.rules.saves import SaveKind
from dndbots.text.labels import is_reserved, write_label

_LONGEST_RESULT: Final = 1_500
_LONGEST_TEXT: Final = 1_200
_MOST_PEOPLE: Final = 12
_MOST_CLOCKS: Final = 6
_MOST_WAYS: Final = 10
_OPEN: Final = ("offered", "accepted")
# Words and what stands between them; neither a sentence nor a line of code.
_NAMELIKE: Final = re.compile(r"[^\W_](?:[\w '\u2019,.&()-]*[\w)'\u2019])?")
_ABILITIES: Final = frozenset(Ability)
# So much more than the party may come at once: what a DM means to be hard is not to be the end.
_ODDS: Final = 3


class Deeds:
    """The calls of one scene. `people` speak for themselves, if anybody has a voice for them."""

    def __init__(
        self,
        telling: Telling,
        place: str,
        *,
        look: Looking | None,
        people: People | None,
        since: Sequence[GameEvent],
    ) -> None:
        self._telling, self.place = telling, place
        self._look, self._people, self._since = look, people, since
        self.spoken = 0

    def do(self, form: object) -> str:
        """Carries a call out, and says what came of it. `ActRefused` says why it cannot be."""
        done = _DEEDS.get(type(form))
        if done is None:
            raise ActRefused(DM, verb="call", reason="there is no such tool")
        return done(self, form)[:_LONGEST_RESULT]

    def people_here(self) -> dict[str, str]:
        """All who can be named in this scene: characters, and those whom they meet."""
        return self._npcs() | self._characters()

    # Looking things up.

    def look_up(self, form: forms.LookUp) -> str:
        found = self._look.look_up(form.name) if self._look else ""
        return found or f"Nothing is known of {write_label(form.name)}."

    def recall(self, form: forms.Recall) -> str:
        return (self._look.recall(form.question) if self._look else "") or "No record."

    # Dice.

    def ask_roll(self, form: forms.AskRoll) -> str:
        who = self._character(form.character)
        kind = Ability(form.kind) if form.kind in _ABILITIES else SaveKind(form.kind)
        why = self._plain(form.why)
        made = put_to_the_test(self._telling.step, who, kind, place=self.place, why=why)
        return made.text

    def start_fight(self, form: forms.StartFight) -> str:
        step = self._telling.step
        if self.place in step.table.fights:
            raise self._refused("there is a fight here already")
        try:
            kind = monster(form.monster)
        except UnknownMonster as exc:
            raise self._refused(
                f"the rules have no {form.monster!r}; they have {', '.join(exc.known)}"
            ) from exc
        party = sum(int(step.table.fact(uid, "level", 1)) for uid in step.table.together(self.place))
        most = max((_ODDS * party + _ODDS) // max(kind.level, 1), 0)
        if form.number > most:
            raise self._refused(f"that is too much for those who are here; at most {most} of them")
        name = (kind.name if form.number == 1 else kind.plural).lower()
        uid = new_uid(self._telling, "mon", f"{kind.name} r{step.round}")
        text = self._plain(form.text) or f"It comes to blows: {form.number} {name}."
        foes = {uid: Foes(monster=kind.name, name=name, number=form.number)}
        begin_fight(step, self.place, foes, text=text)
        return f"A fight begins against {form.number} {name}. The rules play it."

    # People.

    def introduce_npc(self, form: forms.IntroduceNpc) -> str:
        telling, step = self._telling, self._telling.step
        name, looks = self._name(form.name), self._name(form.looks)
        refuse_known_name(telling, name, kind="npc")
        if len([uid for uid in step.present(self.place) if uid.startswith("npc_")]) >= _MOST_PEOPLE:
            raise self._refused("there are people enough here")
        uid = new_uid(telling, "npc", name)
        said = {
            CALLED: name,
            SEEN_AS: looks,
            ROLE: self._plain(form.role),
            WANTS: self._plain(form.wants)[:900],
        }
        telling.secretly(
            f"{name} comes into the story.",
            beats=(),
            names={uid: name},
            facts=[{"subject": uid, "key": key, "value": value} for key, value in said.items() if value],
        )
        telling.tell(
            self.place,
            telling.words("here", people=looks),
            participants=[uid],
            witnesses=step.present(self.place),
            names={uid: looks},
        )
        return f"{name} is here, and is called {looks!r} by those who have not heard the name."

    def speak_as(self, form: forms.SpeakAs) -> str:
        npc = self._one_of(self._npcs(), form.npc)
        if self.spoken >= MOST_SPOKEN:
            raise self._refused("enough was said by others in this scene; let the players speak")
        self.spoken += 1
        wish = self._plain(form.gist)
        if self._people is not None:
            spoke = self._people.say(self._telling, self.place, npc, since=self._since, wish=wish)
        else:
            spoke = bool(wish)
            if spoke:
                spoken_by(self._telling, self.place, npc, wish)
        return "They said it." if spoke else "They have nothing to say."

    # Places.

    def move_scene(self, form: forms.MoveScene) -> str:
        step, table = self._telling.step, self._telling.step.table
        if self.place in table.fights:
            raise self._refused("there is a fight; who wants to leave has to flee")
        here = table.together(self.place)
        movers = list(dict.fromkeys(self._character(name) for name in form.who)) or here
        sights = table.sights.get(self.place)
        ways = matching({way: way for way in sights.ways}, form.way) if sights is not None else []
        if len(ways) == 1:
            way = ways[0]
            there = step.leads(table, self.place, way)
            if there is None:
                raise self._refused(f"{way} cannot be gone: it is shut, or somebody stands before it")
        else:
            way, there = self._lay(form)
        old = self.place
        go(step, movers, old, way, there)
        tell_place(self._telling, there, came=movers)
        if not table.together(old):
            self.place = there
        return f"They are at {table.name(there)} now."

    def _lay(self, form: forms.MoveScene) -> tuple[str, str]:
        """A new place, and the way there and back."""
        telling, table = self._telling, self._telling.step.table
        if not form.place or not form.looks:
            raise self._refused(f"there is no way {form.way!r} here; for a new one, say place and looks")
        if len(table.laid.get(self.place, {})) >= _MOST_WAYS:
            raise self._refused("there are ways enough here")
        name, way = self._name(form.place), self._name(form.way)
        back = self._name(form.back) if form.back else "back"
        looks = self._plain(form.looks)[:900]
        if not looks:
            raise self._refused("nothing is said of how the place looks")
        refuse_known_name(telling, name, kind="loc")
        there = new_uid(telling, "loc", name)
        telling.secretly(
            f"{name} comes into the story.",
            beats=(),
            names={there: name},
            facts=[{"subject": there, "key": LOOKS, "value": looks}],
            play={"laid": {self.place: {way: there}, there: {back: self.place}}},
        )
        return way, there

    # Quests, and what only some perceive.

    def offer_quest(self, form: forms.OfferQuest) -> str:
        telling, step = self._telling, self._telling.step
        name, goal = self._name(form.name), self._plain(form.goal)
        refuse_known_name(telling, name, kind="qst")
        giver = self._one_of(self._npcs(), form.giver) if form.giver else None
        if not goal:
            raise self._refused("nothing is said of what is to be done")
        uid = new_uid(telling, "qst", name)
        by = "" if giver is None else f" for {called_here(telling, giver, self.place)}"
        telling.tell(
            self.place,
            f"There is something to be done{by}: {name}. {goal}",
            kind=EventType.QUEST_UPDATE,
            names={uid: name, **mentioned(step.table, goal)},
            gist=f"{name} was offered to us",
            quest_id=uid,
            quest_state="offered",
            facts=[{"subject": uid, "key": "goal", "value": goal}],
        )
        return f"{name} is offered; they may accept or refuse it."

    def resolve_quest(self, form: forms.ResolveQuest) -> str:
        telling, table = self._telling, self._telling.step.table
        still_open = {uid: table.name(uid) for uid, state in own_quests(telling).items() if state in _OPEN}
        if not still_open:
            raise self._refused("no quest of yours is open; those of the adventure end by themselves")
        uid = self._one_of(still_open, form.name)
        accepted = own_quests(telling)[uid] == "accepted"
        telling.tell(
            self.place,
            f"{table.name(uid)} is {'done' if form.outcome == 'completed' else 'lost'}.",
            kind=EventType.QUEST_UPDATE,
            names={uid: table.name(uid)},
            gist=f"{table.name(uid)} was {form.outcome}",
            quest_id=uid,
            quest_state=form.outcome,
            threads=[{"id": promise(uid), "state": form.outcome}] if accepted else [],
        )
        return f"{table.name(uid)} is {form.outcome}."

    def whisper(self, form: forms.Whisper) -> str:
        who, words = self._character(form.to), self._plain(form.words)
        if not words:
            raise self._refused("nothing is said")
        self._telling.tell(
            self.place,
            words,
            kind=EventType.WHISPER,
            witnesses=(),
            names=mentioned(self._telling.step.table, words),
            told_to=[who],
        )
        return "Only they heard it."

    def set_clock(self, form: forms.SetClock) -> str:
        telling, table = self._telling, self._telling.step.table
        threat = self._plain(form.threat)
        if not threat:
            raise self._refused("nothing is said of what happens")
        if len(table.clocks) >= _MOST_CLOCKS:
            raise self._refused(f"there are {_MOST_CLOCKS} clocks already; let one run out")
        name = f"clock_{slug(threat)[:40]}_{telling.step.round}_{len(table.clocks)}"
        due = telling.step.round + form.rounds
        telling.secretly(
            threat,
            beats=(),
            threads=[{"id": name, "kind": "threat", "text": threat}],
            play={"clocks": {name: Clock(text=threat, due=due).model_dump()}},
        )
        return f"In round {due} you are told of it."

    # Who and what is meant.

    def _npcs(self) -> dict[str, str]:
        """The people of this scene, by what the DM calls them."""
        telling, table = self._telling, self._telling.step.table
        own = {uid: str(table.fact(uid, CALLED)) for uid in own_people(table, self.place)}
        written = {telling.atlas.uid("npc", one.key): one.name for one in telling.world.people(self.place)}
        return {**written, **own}

    def _characters(self) -> dict[str, str]:
        table = self._telling.step.table
        return {uid: table.name(uid) for uid in table.together(self.place)}

    def _character(self, name: str) -> str:
        return self._one_of(self._characters(), name)

    def _one_of(self, known: Mapping[str, str], name: str) -> str:
        found = [uid for uid in matching(known, name) if uid != name or name in known.values()]
        if len(found) == 1:
            return found[0]
        there = listed(sorted(known.values())) or "nobody"
        raise self._refused(f"{name!r} is not one of those in this scene: {there}")

    def _plain(self, text: str) -> str:
        """Words of the model that others may read."""
        return plain(self._telling, text)

    def _name(self, name: str) -> str:
        """A name that can stand anywhere a name stands."""
        try:
            said = check_name(" ".join(self._plain(name).split()))
        except InvalidName as exc:
            raise self._refused(f"{name!r} is no name") from exc
        is_name = _NAMELIKE.fullmatch(said) and not is_reserved(said)
        if said.casefold() != " ".join(name.split()).casefold() or not is_name:
            raise self._refused(f"{name!r} is no name: leave out ids, headings and marks")
        return said

    @staticmethod
    def _refused(reason: str) -> ActRefused:
        return ActRefused(DM, verb="call", reason=reason)


def plain(telling: Telling, text: str) -> str:
    table = telling.step.table
    characters = [table.name(uid) for uid in table.living()]
    return cleaned(text, own=("dm",), others=characters, names=table.names, longest=_LONGEST_TEXT).words


_DEEDS: Final[Mapping[type[Any], Callable[[Deeds, Any], str]]] = {
    forms.LookUp: Deeds.look_up,
    forms.Recall: Deeds.recall,
    forms.AskRoll: Deeds.ask_roll,
    forms.IntroduceNpc: Deeds.introduce_npc,
    forms.SpeakAs: Deeds.speak_as,
    forms.MoveScene: Deeds.move_scene,
    forms.OfferQuest: Deeds.offer_quest,
    forms.ResolveQuest: Deeds.resolve_quest,
    forms.StartFight: Deeds.start_fight,
    forms.Whisper: Deeds.whisper,
    forms.SetClock: Deeds.set_clock,
}
