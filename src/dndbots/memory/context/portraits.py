"""Quests, people and places in a sentence each, as one viewer knows them.

A value that somebody only said or suspects is marked as such. Facts without a place in the sentence follow
as `key: value`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
from dndbots.ids import DM, category_of, is_uid
from dndbots.memory.context.known_lines import PASSING, SHEET, is_passing
from dndbots.memory.deeds import quest_title
from dndbots.memory.fact_sentences import attitude_of
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label
from dndbots.text.sentences import split_sentences

NamesOf = Callable[[list[str]], dict[str, str]]
STEP: Final = "step_"
_QUEST: Final = ("goal", "giver", "reward", "state")
_PERSON: Final = ("looks", "seen_as", "role", "reputation", "wants", "secret", "called")
_PLACE: Final = ("looks", "danger")
_UNTOLD: Final = frozenset((*SHEET, *PASSING, "discovered", claims.NUMBER, "killed_by"))
_LONGEST: Final = 240
_MOST_OTHERS: Final = 6
_MOST_LOOKS: Final = 2
_FEWEST_WORDS: Final = 6
_STATES: Final = {"offered": "offered, not answered yet", "accepted": "taken on"}


def describe_quest(quest: Entity, facts: Iterable[Fact], named: NamesOf) -> tuple[str, tuple[str, ...]]:
    """Return a line on a quest (goal, giver, reward, steps, state) and its source events."""
    known = _Known(facts, named)
    state = known.text("state")
    giver, goal = known.uid("giver"), known.fact("goal")
    head = quest_title(write_label(quest.name)) + (f" ({_STATES.get(state, state)})" if state else "")
    by = known.name(giver) if giver else ""
    if not by and goal is not None and goal.said_by not in (None, DM):
        by = f"as {known.name(str(goal.said_by))} told it"
    elif by:
        by = f"for {by}"
    said = [_sentence(known.text("goal"))]
    if reward := known.text("reward"):
        said.append(f"Reward: {reward.rstrip('.')}.")
    done = [_inner(_clause(step)) for step in known.steps()]
    if done:
        said.append(f"Done so far: {'; '.join(done)}.")
    said += [_sentence(other) for other in known.others(_QUEST)]
    text = " ".join(filter(None, said))
    return f"{head}{f', {by}' if by else ''}{f': {text}' if text else '.'}", known.sources


def describe_person(person: Entity, facts: Iterable[Fact], named: NamesOf) -> tuple[str, tuple[str, ...]]:
    """Return a line on a person (looks, role, attitude, wishes, secrets) and its source events."""
    known = _Known((fact for fact in facts if not is_passing(person, fact)), named)
    looks = known.text("looks") or known.text("seen_as")
    role = known.text("role")
    called = known.text("called")
    name = write_label(called or person.name)
    seen = looks if looks and looks.casefold() != name.casefold() else ""
    if role and role.casefold() not in seen.casefold():
        seen = f"{role}, {seen}" if seen else role
    said = [] if person.alive else ["dead"]
    if attitude := attitude_of(known.value("reputation")):
        said.append(attitude)
    said += [
        f"{word}: {text.rstrip('.')}"
        for word, key in (("wants", "wants"), ("secret", "secret"))
        if (text := known.text(key))
    ]
    said += known.others(_PERSON)
    if not seen and not said:
        return "", ()
    head = f"{name}, {seen}" if seen else name
    return f"{head}{f': {_joined(said)}' if said else '.'}", known.sources


def describe_place(
    place: Entity, facts: Iterable[Fact], named: NamesOf, *, brief: bool = False
) -> tuple[str, tuple[str, ...]]:
    """Return a line on a place (looks, danger) and its source events; `brief` for one of several places."""
    known = _Known(facts, named)
    looks = split_sentences(_sentence(known.text("looks")))
    # "Wind, first of all." alone says little.
    is_enough = brief and looks[:1] and looks[0].count(" ") + 1 >= _FEWEST_WORDS
    said = looks[:1] if is_enough else looks[:_MOST_LOOKS]
    if danger := known.text("danger"):
        said.append("It is safe now." if danger.casefold() == "cleared" else f"Danger: {danger.casefold()}.")
    said += [_sentence(other) for other in known.others(_PLACE)]
    text = " ".join(filter(None, said))
    return (f"{write_label(place.name)}: {text}" if text else ""), known.sources


class _Known:
    """The facts of one entity by key, with the names that they need. The surest value of a key counts."""

    def __init__(self, facts: Iterable[Fact], named: NamesOf) -> None:
        self._facts: dict[str, Fact] = {}
        self._relations: list[Fact] = []
        for fact in facts:
            if fact.ended:
                continue
            if fact.op is not None:
                self._relations.append(fact)
            elif fact.key is not None:
                before = self._facts.get(fact.key)
                if before is None or _SURE[fact.certainty] <= _SURE[before.certainty]:
                    self._facts[fact.key] = fact
        uids = [str(fact.object) for fact in self._relations if fact.object]
        uids += [fact.said_by for fact in self._facts.values() if fact.said_by]
        uids += [
            text
            for fact in self._facts.values()
            for text in _listed(fact.value)
            if isinstance(text, str) and is_uid(text)
        ]
        self._names = named(list(dict.fromkeys(uid for uid in uids if uid != DM)))
        self.sources = tuple(
            dict.fromkeys(fact.learned_from for fact in (*self._facts.values(), *self._relations))
        )

    def fact(self, key: str) -> Fact | None:
        return self._facts.get(key)

    def value(self, key: str) -> JsonValue:
        fact = self._facts.get(key)
        return None if fact is None else fact.value

    def uid(self, key: str) -> str | None:
        value = self.value(key)
        return value if isinstance(value, str) and is_uid(value) else None

    def text(self, key: str) -> str:
        fact = self._facts.get(key)
        return "" if fact is None else self._shown(fact.value)

    def name(self, uid: str) -> str:
        return write_label(self._names.get(uid, uid))

    def steps(self) -> Iterator[str]:
        """Yield the steps of a quest that are done, in words where the log has them."""
        for key, fact in self._facts.items():
            kind, _, step = key.partition(" ")
            if kind == claims.OBJECTIVE and step:
                told = self.text(f"{STEP}{step}")
                done = str(fact.value).casefold() in ("completed", "done", "true")
                yield told or (one_line(step) if done else f"{one_line(step)}: {self._shown(fact.value)}")

    def others(self, told: Iterable[str]) -> list[str]:
        """Return further facts as `key: value`, marked where they are not certain."""
        known = {*told, *_UNTOLD}
        listed = []
        for key, fact in self._facts.items():
            if key in known or key.startswith(STEP) or key.partition(" ")[0] in _KINDS:
                continue
            sure = {"belief": " (so it was told)", "rumor": " (a rumor)"}.get(fact.certainty, "")
            plain = claims.plain_key(key).replace("_", " ")
            listed.append(f"{plain}: {self._shown(fact.value).rstrip('.')}{sure}")
        for fact in self._relations:
            word = _RELATIONS.get(str(fact.op))
            if word and fact.object and category_of(fact.object) not in ("LOC", None):
                listed.append(f"{word} {self.name(fact.object)}")
        return listed[:_MOST_OTHERS]

    def _shown(self, value: JsonValue) -> str:
        words = (
            self.name(one) if isinstance(one, str) and one in self._names else str(one)
            for one in _listed(value)
        )
        text = one_line(", ".join(words))
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]}…"


_SURE: Final = {"fact": 0, "belief": 1, "rumor": 2}
_RELATIONS: Final = {"~": "has to do with", claims.IN: "belongs to", claims.PART_OF: "is part of"}
_KINDS: Final = (claims.CONDITION, claims.ITEM, claims.OBJECTIVE)


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _sentence(text: str) -> str:
    whole = text.strip()
    if not whole:
        return ""
    whole = whole[:1].upper() + whole[1:]
    return whole if whole.endswith((".", "!", "?", "…", '"', "”")) else f"{whole}."


def _inner(clause: str) -> str:
    """Return a clause as it stands inside a sentence: "you know who pulls the wedge"."""
    return f"y{clause[1:]}" if clause.startswith("You ") else clause


def _clause(text: str) -> str:
    return text.strip().rstrip(".")


def _joined(said: list[str]) -> str:
    text = "; ".join(said)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
