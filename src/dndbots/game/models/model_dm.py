"""A model as DM: the house DM runs the adventure's file, and the model tells it and calls tools.

Each scene is a question of its own, and the answer is told in that scene alone. The house's texts of the
scene are material for it; the telling takes their place, and the engine adds what it leaves out. The engine
carries out tool calls or refuses them; a refusal goes back to the model once, with the reason. If the model
says nothing, the house's texts stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from dndbots.errors import ActRefused, DndbotsError
from dndbots.events import GameEvent
from dndbots.game.adventures.library import OPEN
from dndbots.game.dm.inventions import answer_offers, find_mentions, name_heard_at, stop_due_clocks
from dndbots.game.dm.tool_calls import MOST_SPOKEN, ToolCalls
from dndbots.game.dm.tools import ASKING, TOOLS, AskRoll, MoveScene, SpeakAs, TakeWay, choose_tools
from dndbots.game.input.act_resolver import find_matches
from dndbots.game.input.answer_filter import FilteredAnswer, filter_answer
from dndbots.game.models.echoes import EchoFilter, texts_told
from dndbots.game.models.first_person import split_units
from dndbots.game.models.guards import GuardedAnswer, guard_dm, whole_sentences
from dndbots.game.models.model_npcs import ModelNpcs, npcs_spoken_to
from dndbots.game.models.said_calls import find_said_calls
from dndbots.game.models.scene_material import find_material, tell_material
from dndbots.game.models.scene_text import STALE, WORDS_TOLD, ask_otherwise, events_played, render_dm_scene
from dndbots.game.models.tool_hints import find_hints
from dndbots.game.state.game_notes import Clock, played_of
from dndbots.game.state.pieces import PendingAct
from dndbots.game.state.table import Table
from dndbots.game.world.house_dm import HouseDM, is_open_game
from dndbots.game.world.narration import Narration, Screen
from dndbots.game.world.places import events_since_dm, find_waiting_acts, tell_small_thing
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Call, Hear, Question, Reply, Role, Tool, Voice
from dndbots.text.clean import one_line

_ROUNDS: Final = 3  # questions in a scene
_MOST_CALLS: Final = 8  # tool calls in an answer
_LOOKUPS: Final = ("look_up", "recall")
_FIRST: Final = "introduce_npc"  # runs before the words that name the NPC
_LONGEST_WORDS: Final = 2_000
_TOO_MANY: Final = f"This was not looked at: at most {_MOST_CALLS} calls at once."
# Lines of a question whose names may be told as they stand.
_FOR_TELLING: Final = ("WAYS", "THINGS")
_REFUSED: Final = "Not possible:"
_TWICE: Final = "The same call stands in this answer before, and was done once."


class ModelDM:
    """A DM that runs any module with a model. With `npcs`, that voice speaks for the NPCs."""

    has_tools = True
    retells = True

    def __init__(self, voice: Voice, *, npcs: Voice | None = None, house: HouseDM | None = None) -> None:
        self._voice, self._npcs = voice, npcs
        self._house = house or HouseDM()

    def run(self, screen: Screen) -> None:
        """Draft the DM's step: first the house DM's answers, then the model's narration."""
        screen = replace(screen, voiced=self._npcs is not None and screen.look is not None)
        table = screen.table
        since = events_since_dm(table, screen.step.round)
        waiting = list(table.waiting) or find_waiting_acts(since)
        (self._house.keep if is_open_game(screen) else self._house.run)(screen)
        if screen.refused:
            screen.ledger.record_fallback(Role.DM, f"only the house DM told this step: {screen.refused}")
        else:
            _ModelStep(self, screen, self._house.narration_for(screen), since, waiting).tell()
        if not screen.step.events:
            self._house.narration_for(screen).tell_dm("Time passes.", beats=(), aside=True)

    def leads(self, table: Table, place: str, way: str) -> str | None:
        return self._house.leads(table, place, way)

    def called(self, table: Table, place: str) -> str:
        return self._house.called(table, place)

    def narration_for(self, screen: Screen) -> Narration:
        return self._house.narration_for(screen)

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        return self._voice.ask(question, hear=hear)

    def people(self, screen: Screen) -> ModelNpcs | None:
        if self._npcs is None or screen.look is None:
            return None
        return ModelNpcs(self._npcs, screen.look, screen.ledger, screen.live)


class _ModelStep:
    """The step of a model, asked scene by scene."""

    def __init__(
        self,
        dm: ModelDM,
        screen: Screen,
        narration: Narration,
        since: Sequence[GameEvent],
        waiting: Sequence[PendingAct],
    ) -> None:
        self._dm, self._screen, self._narration = dm, screen, narration
        self._since, self._waiting = since, waiting
        self._people = dm.people(screen)
        # Without what the question of any scene shows: the prompt is the same for all scenes of a step.
        shown = [one for place in narration.step.table.scenes() for one in events_played(place, since)]
        self._system = screen.prompt.prompt_without([event.event_id for event in shown])

    def tell(self) -> None:
        narration, table = self._narration, self._narration.step.table
        answer_offers(narration, self._waiting)
        due = stop_due_clocks(narration)
        for place in list(table.scenes()):
            if any(map(table.can_act, table.together(place))):
                self._scene(place, due)

    def _scene(self, place: str, due: Sequence[Clock]) -> None:
        narration, screen, table = self._narration, self._screen, self._narration.step.table
        material = find_material(narration.step, place)
        tools = self._tools()
        hints = find_hints(narration, place, self._since, [tool.name for tool in tools])
        told = narration.step.events
        text = render_dm_scene(narration, place, since=self._since, told=told, due=due, hints=hints)
        if screen.wish is not None:
            text = f"{text}\n{ask_otherwise(screen.wish)}"
        question = Question(
            role=Role.DM,
            system=self._system,
            text=text,
            tools=tools,
            stop=screen.live.stop,
        )
        telling = _SceneWords(narration, place, material, self._since, asked=text)
        calls = ToolCalls(
            narration, place, look=screen.look, people=self._people, since=self._since, guard=telling.clean
        )
        self._converse(calls, question, telling)
        telling.drop_shown(calls.shown)
        if not telling.finish() and not calls.done:
            screen.ledger.record_fallback(Role.DM, "the house told this scene")
            if not narration.has_told_at(place) and place not in table.fights:
                tell_small_thing(narration, place)
        self._answer_for_npcs(calls, telling)

    def _answer_for_npcs(self, calls: ToolCalls, telling: "_SceneWords") -> None:
        """Let NPCs who were spoken to answer, unless they spoke in this scene already."""
        narration, place = self._narration, telling.place
        if self._people is None or place in narration.step.table.fights:
            return
        # Whoever asks about something that the adventure answers has heard the answer already.
        spoke = {*calls.spoke, *(event.source for event in narration.step.events if event.content)}
        for npc in npcs_spoken_to(narration, place, self._since):
            if calls.spoken < MOST_SPOKEN and npc not in spoke and not telling.quotes(npc):
                calls.spoken += self._people.say(narration, place, npc, since=self._since)

    def _tools(self) -> tuple[Tool, ...]:
        note = self._screen.table.game
        if note is None:
            return TOOLS
        return choose_tools(budget=note.budget, model=note.dm, is_open=is_open_game(self._screen))

    def _converse(self, calls: ToolCalls, question: Question, telling: "_SceneWords") -> None:
        """Ask the model until no call waits for a result, a few times at most."""
        refusals = 0
        for number in range(1, _ROUNDS + 1):
            answer = telling.with_said_calls(self._ask(calls.place, question, telling), calls, question)
            answer = _without_done(answer, question)
            asks = [n for n, call in enumerate(answer.calls) if call.tool in ASKING]
            words = self._words(answer, telling, told=not asks or number == _ROUNDS)
            results, refused = self._carry_out(calls, answer, words, telling)
            if answer.stopped:
                return
            asking = any(n in results and n not in refused for n in asks)
            is_stale = bool(answer.words and not words and not answer.calls)
            amiss = bool(refused or answer.failed or is_stale)
            if amiss and refusals:
                self._screen.ledger.record_fault(Role.DM, "dropped a call that was refused twice")
            if not (asking or (amiss and not refusals)):
                return
            refusals += amiss
            notes = [*([WORDS_TOLD] if words else []), *([STALE] if is_stale else [])]
            said = " ".join((*(f"{one.rstrip('.')}." for one in answer.failed), *notes))
            reply = Reply(answer=answer, results=results, text=said)
            question = replace(question, so_far=(*question.so_far, reply))

    def _ask(self, place: str, question: Question, telling: "_SceneWords") -> Answer:
        viewers = {DM, *self._narration.step.table.together(place)}
        live = self._screen.live
        with live.coming(DM, place=place, viewers=viewers, clean=telling.clean) as hear:
            return self._dm.ask(question, hear=hear)

    def _words(self, answer: Answer, telling: "_SceneWords", *, told: bool) -> str:
        """Return the narration in an answer. Words beside a lookup are not told: the model thinks aloud."""
        said, guarded = telling.guard(whole_sentences(answer.words) if answer.stopped else answer.words)
        extra = [] if guarded.words or answer.calls else ["no answer"]
        if len(answer.calls) > _MOST_CALLS:
            extra.append(f"{len(answer.calls)} calls at once; only {_MOST_CALLS} were used")
        self._screen.ledger.record_answer(Role.DM, answer, faults=(*said.faults, *extra), cuts=guarded.cuts)
        return guarded.words if told else ""

    def _carry_out(
        self, calls: ToolCalls, answer: Answer, words: str, telling: "_SceneWords"
    ) -> tuple[dict[int, str], set[int]]:
        """Return the result of each call by its position, and the positions that were refused.

        The words are told after NPCs are introduced and before all other calls.
        """
        results: dict[int, str] = {}
        refused: set[int] = set()
        told = not words
        for number, call in _in_order(answer.calls[:_MOST_CALLS]):
            if not told and call.tool != _FIRST:
                telling.tell(calls.place, words)
                told = True
            if call.tool not in _LOOKUPS and any(call.form == other.form for other in answer.calls[:number]):
                results[number] = _TWICE
                self._screen.ledger.record_fault(Role.DM, f"{call.tool}: the same call twice")
                continue
            form = call.form
            if isinstance(form, SpeakAs) and not telling.may_be_said(form.gist):
                # Who has a voice of its own knows what to say.
                form = form.model_copy(update={"gist": ""})
            if isinstance(form, SpeakAs) and not form.gist and self._people is None:
                if not telling.has_words:  # else the scene is told, and nothing is lost
                    refused.add(number)
                results[number] = f"{_REFUSED} {STALE}"
                self._screen.ledger.record_fault(Role.DM, f"{call.tool}: words that were told, or no story")
                continue
            try:
                self._check_move(form, calls)
                results[number] = calls.do(form)
            except (ActRefused, ValidationError) as exc:
                refused.add(number)
                results[number] = f"{_REFUSED} {_reason(exc)}"
                self._screen.ledger.record_fault(Role.DM, f"{call.tool}: {_reason(exc)}")
        if not told:
            telling.tell(calls.place, words)
        return results | dict.fromkeys(range(_MOST_CALLS, len(answer.calls)), _TOO_MANY), refused

    def _check_move(self, form: object, calls: ToolCalls) -> None:
        """Raise `ActRefused` for a move back to where characters have just come from: models forget it."""
        step, place = self._narration.step, calls.place
        sights = step.table.sights.get(place)
        if not isinstance(form, MoveScene | TakeWay) or sights is None:
            return
        left = {
            note.origin
            for event in self._since
            if event.known.location == place and (note := played_of(event)) is not None and note.origin
        }
        ways = find_matches({way: way for way in sights.ways}, form.way)
        if any(step.leads(step.table, place, way) in left for way in ways):
            raise calls.refused("they have just come from there; tell what is here")


class _SceneWords:
    """The words of a model in one scene. The first of them take the place of the house's texts."""

    def __init__(
        self,
        narration: Narration,
        place: str,
        material: Sequence[GameEvent],
        since: Sequence[GameEvent],
        *,
        asked: str,
    ) -> None:
        self._prompt = f"{narration.screen.prompt.prompt}\n{_beside_material(asked, material)}"
        self._narration, self.place, self._material = narration, place, list(material)
        self._house, self._since = tuple(material), since
        self._said: list[str] = []
        self._slot = ""
        narration.step.untold.update(event.event_id for event in material)
        table = narration.step.table
        self._earlier = texts_told(table, hearers=table.together(place), without=narration.step.untold)

    def clean(self, begun: str) -> str:
        """Return what may be shown of a begun answer."""
        return self.guard(begun)[1].words

    def guard(self, words: str) -> tuple[FilteredAnswer, GuardedAnswer]:
        """Return an answer without other voices, and the part of it that may be told."""
        table = self._narration.step.table
        here, heroes = {*table.together(self.place)}, [table.name(uid) for uid in table.living()]
        said = filter_answer(words, own=("dm",), others=heroes, names=table.names, longest=_LONGEST_WORDS)
        earlier = texts_told(table, hearers=here, without=self._narration.step.untold)
        return said, guard_dm(said.words, earlier=earlier, heroes=self._deeds(), prompt=self._prompt)

    def may_be_said(self, gist: str) -> bool:
        """Check that something of a gist is neither told, nor what the house tells of this scene."""
        guarded = self.guard(gist)[1].words
        house = EchoFilter(event.content for event in self._house)
        return any(not house.has(unit) for unit in split_units(guarded))

    def with_said_calls(self, answer: Answer, calls: ToolCalls, question: Question) -> Answer:
        """Return an answer with calls for what it only tells, unless it has calls or is an answer to one."""
        if answer.calls or answer.failed or answer.stopped or question.so_far:
            return answer
        said = find_said_calls(
            answer.words,
            calls.people_here(),
            told="\n".join((question.text, *(event.content for event in self._house))),
            offered=[tool.name for tool in question.tools],
        )
        return replace(answer, words=said.words, calls=said.calls)

    @property
    def has_words(self) -> bool:
        """Check that something of the model's was told."""
        return bool(self._said)

    def quotes(self, npc: str) -> bool:
        """Check that the telling has words of an NPC in it."""
        words = "\n".join(self._said)
        name = name_heard_at(self._narration, npc, self.place)
        return any(mark in words for mark in ('"', "\u201c")) and name.casefold() in words.casefold()

    def _deeds(self) -> dict[str, str]:
        """Return what each character did and said since the DM's last turn."""
        table = self._narration.step.table
        return {
            table.name(uid): " ".join(event.content for event in self._since if event.source == uid)
            for uid in table.living()
        }

    def tell(self, place: str, words: str) -> None:
        """Tell words at a place: the first ones where the house told the scene, others after it."""
        narration = self._narration
        if self._material and not self._slot and place == self.place:
            self._slot = words
            # From now on this is what they heard, for the guards of all that is told after it.
            self._material[0] = narration.step.retell(self._material[0], words)
            narration.step.untold.discard(self._material[0].event_id)
        else:
            narration.tell(place, words, names=find_mentions(narration.step.table, words))
        self._said.append(words)

    def drop_shown(self, people: Sequence[tuple[GameEvent, str]]) -> None:
        """Drop the house's line on somebody new if the telling shows that person."""
        for event, looks in people:
            if any(looks.casefold() in words.casefold() for words in self._said):
                self._narration.step.retell(event, "")

    def finish(self) -> bool:
        """Put the telling in the place of the house's texts. Return False if the model told nothing."""
        step = self._narration.step
        step.untold.clear()
        if not self._said:
            return False
        if self._slot:
            first, *others = self._material
            telling = tell_material(
                step,
                self._house,
                self._slot,
                beside=self._said[1:],
                earlier=self._earlier,
                is_open=self._narration.atlas.module.key == OPEN,
            )
            text = telling.text
            names = {**find_mentions(step.table, text), **self._narration.atlas.mentions(text)}
            taught = {uid: name for event in others for uid, name in event.known.names.items()}
            step.retell(first, text, names={**_first_names(taught), **names})
            for event in others:
                step.retell(event, "")
        return True


def _beside_material(asked: str, material: Sequence[GameEvent]) -> str:
    """Return the lines of a question that are not for telling: who wants what, secrets, ways, headings."""
    told = [one_line(event.content) for event in material]

    def is_told(line: str) -> bool:
        text = line.removeprefix("- ").rstrip("\u2026")
        return line.startswith(_FOR_TELLING) or (bool(text) and any(text in content for content in told))

    return "\n".join(line for line in asked.split("\n") if not is_told(line))


def _first_names(names: Mapping[str, str | list[str]]) -> dict[str, str]:
    return {uid: name if isinstance(name, str) else name[0] for uid, name in names.items()}


def _without_done(answer: Answer, question: Question) -> Answer:
    """Return an answer without calls that were carried out before: small models answer the same again."""
    done = {
        _key(call)
        for reply in question.so_far
        for number, call in enumerate(reply.answer.calls)
        if not reply.results.get(number, _REFUSED).startswith(_REFUSED)
    }
    return replace(answer, calls=tuple(call for call in answer.calls if _key(call) not in done))


def _key(call: Call) -> tuple[object, ...]:
    """Return what makes two calls the same: a roll is one, whatever it is said to be for."""
    if isinstance(call.form, AskRoll):
        return (call.tool, call.form.character.casefold(), call.form.kind)
    return (call.tool, call.form.model_dump_json())


def _in_order(calls: Sequence[Call]) -> Iterator[tuple[int, Call]]:
    """Yield calls with their positions, those that introduce NPCs first."""
    numbered = list(enumerate(calls))
    yield from sorted(numbered, key=lambda pair: pair[1].tool != _FIRST)


def _reason(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        return one_line(str(exc.errors()[0]["msg"]))
    return one_line(str(getattr(exc, "reason", exc)) if isinstance(exc, DndbotsError) else str(exc))
