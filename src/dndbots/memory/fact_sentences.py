"""Facts as English sentences, under the names a viewer knows: one wording wherever a fact is shown."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.entities import Fact
from dndbots.ids import category_of, is_uid
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label
from dndbots.text.word_forms import is_plural, with_a, with_the

_TRUST: Final = 3
_LONGEST_LOOKS: Final = 80
_STEP: Final = "step_"
_OPERATORS: Final = {
    claims.AT: "is at",
    claims.IN: "is in",
    claims.PART_OF: "is part of",
    ">": "contains",
    "~": "has to do with",
    "->": "leads to",
    "<-": "is because of",
}
# The sentence of a key: {name} is the subject, {value} what is known of it.
_SENTENCES: Final = {
    "ability": "{name} can {value}",
    "age": "{name} is {value}",
    "attitude": "{name} is {value}",
    "called": "{name} is called {value}",
    "class": "{name} is a {value}",
    "str": "{name} has STR {value}",
    "dex": "{name} has DEX {value}",
    "con": "{name} has CON {value}",
    "int": "{name} has INT {value}",
    "wis": "{name} has WIS {value}",
    "cha": "{name} has CHA {value}",
    "ac": "{name} has AC {value}",
    "deadline": "{name} must be done {value}",
    "description": "{name}: {value}",
    "employer": "{name} works for {value}",
    "faction": "{name} belongs to {value}",
    "fears": "{name} fears {value}",
    "giver": "{value} asked for {name}",
    "goal": "The goal of {name}: {value}",
    "gold": "{name} has {value} gold",
    "holder": "{value} has {name}",
    "home": "{name} lives in {value}",
    "hp": "{name} has {value} hit points",
    "hp_max": "{name} has at most {value} hit points",
    "killed_by": "{name} was killed by {value}",
    "item": "{name} has {a_value}",
    "known_for": "{name} is known for {value}",
    "leader": "{value} leads {name}",
    "level": "{name} is level {value}",
    "maker": "{value} made {name}",
    "mood": "{name} is {value}",
    "place": "{name} is at {value}",
    "promise": "{name} promised: {value}",
    "race": "{name} is {a_value}",
    "reward": "The reward for {name} is {value}",
    "role": "{name} is {a_value}",
    "ruler": "{value} rules {name}",
    "secret": "The secret of {name}: {value}",
    "seen_as": "{name} looks like {value}",
    "serves": "{name} serves {value}",
    "spells_ready": "{name} has ready: {value}",
    "status": "{name} is {value}",
    "temper": "{name} is {value}",
    "wants": "{name} wants {value}",
    "xp": "{name} has {value} experience points",
}
_STATES: Final = {
    "offered": "{name} is offered",
    "accepted": "{name} is taken on",
    "refused": "{name} was turned down",
    "completed": "{name} is done",
    "failed": "{name} has failed",
}
# A value that starts with its verb has the key as its subject: "son" of Maud, "has not grown for a year".
_VERB_FIRST: Final = re.compile(
    r"(?:is|are|was|were|has|have|had|does|did|can|could|will|would|must|may|might|went|came|fell|stood|lies|lay"
    r"|stands|wakes|hangs|leads|goes|comes)\b",
    re.IGNORECASE,
)
_NOUN_PHRASE: Final = re.compile(
    r"(?:an?|the|some(?:body|one|thing)?|every|all|no|his|her|its|their|my|our|your"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|\d+)\b",
    re.IGNORECASE,
)
_PASSIVE: Final = re.compile(
    r"(?P<verb>[a-z]+ed|broken|built|held|kept|made|sold|taken|told)_(?P<link>by|with|from|in|at|on|to)"
)
_VERB: Final = re.compile(r"[a-z]+(?:ed|[^s]s)|has|lost|paid|sold|met|took|gave|broke|stole|hid")
# Words that open a sentence with a capital and are no names.
_OPENINGS: Final = frozenset(
    (
        "a",
        "an",
        "the",
        "to",
        "that",
        "never",
        "somebody",
        "something",
        "nothing",
        "all",
        "every",
        "his",
        "her",
        "no",
    )
)
_SENTENCE_END: Final = (".", "!", "?", "…", '"')
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|had|will|would|can|could)\b", re.IGNORECASE)
_SEVERAL: Final = {"is": "are", "was": "were"}
_PEOPLE: Final = ("PC", "NPC", "MON")


NameOf = Callable[[str], str]


class FactSentences:
    """A writer of facts as sentences, with the viewer's names; the given `names` need no lookup."""

    def __init__(self, view: View, names: Mapping[str, str]) -> None:
        self._view, self._called = view, dict(names)

    def sentence(self, fact: Fact) -> str:
        """Return a fact as a sentence, with its certainty if it is no plain fact."""
        return f"{word_fact(fact, self._name)}{_certainty(fact, self._name)}"

    def _name(self, who: str) -> str:
        if who not in self._called and is_uid(who):
            self._called |= {uid: called.name for uid, called in self._view.called([who]).items()}
        return write_label(self._called[who]) if who in self._called else one_line(who)


def word_fact(fact: Fact, name_of: NameOf) -> str:
    """Return a fact as one English sentence. `name_of` gives the names of uids; other words stay."""
    name = name_of(fact.subject)
    if fact.op is not None:
        text = _word_relation(name, fact, name_of)
    elif fact.ended:
        text = f"{_noun_of(name, fact)} is no longer known"
    else:
        text = _word_property(name, fact, name_of)
    text = text[:1].upper() + text[1:]
    return text if text.endswith(_SENTENCE_END) else f"{text}."


def _word_relation(name: str, fact: Fact, name_of: NameOf) -> str:
    relation = _OPERATORS.get(fact.op or "", fact.op or "")
    relation = relation.replace("is ", "is no longer ", 1) if fact.ended else relation
    other = f"{relation} {name_of(fact.object)}" if fact.object else "is no longer there"
    return f"{name} {_agree(name, other)}"


def _word_property(name: str, fact: Fact, name_of: NameOf) -> str:
    kind, _, rest = (fact.key or "").partition(" ")
    if rest and kind in _SLOTS:
        return _SLOTS[kind](name, one_line(rest), fact.value)
    key = claims.plain_key(fact.key or "")
    if key in _VALUES:
        return _VALUES[key](name, fact.value)
    value = _value(fact.value, name_of)
    if key in _SENTENCES:
        return _fill(_SENTENCES[key], name, value)
    if key.startswith(_STEP):
        return f"{name}: {value}"
    return _word_free_key(name, key, value, fact)


def _word_free_key(name: str, key: str, value: str, fact: Fact) -> str:
    """Return a sentence for a key that an author or a player made up, by the shape of key and value."""
    words = one_line(key).replace("_", " ")
    if passive := _PASSIVE.fullmatch(key):
        return f"{name} {_agree(name, 'was')} {passive['verb']} {passive['link']} {value}"
    if value.casefold().startswith("by "):
        return f"{name} {_agree(name, 'was')} {words} {value}"
    if _VERB_FIRST.match(value):
        return f"{_noun_of(name, fact)} {value}"
    if _VERB.fullmatch(key) and _NOUN_PHRASE.match(value):
        return f"{name} {words} {value}"
    if value.endswith(_SENTENCE_END) or _FINITE.search(value):
        return f"{_noun_of(name, fact)}: {value}"
    return f"{_noun_of(name, fact)} is {value}"


def _word_number(name: str, number: JsonValue) -> str:
    if not isinstance(number, int) or number <= 0:
        return f"{name} {_agree(name, 'is')} dead"
    return f"there is one of the {name}" if number == 1 else f"there are {number} of the {name}"


def _word_condition(name: str, condition: str, value: JsonValue) -> str:
    return f"{name} {_agree(name, 'is')} {'' if value is True else 'no longer '}{condition}"


def _word_step(name: str, step: str, state: JsonValue) -> str:
    return f'{name}: the step "{step.replace("_", " ")}" is {one_line(str(state))}'


def _word_state(name: str, state: JsonValue) -> str:
    shown = one_line(str(state))
    return _STATES.get(shown, "{name} ended: {state}").format(name=name, state=shown.replace("_", " "))


def _word_danger(name: str, danger: JsonValue) -> str:
    level = one_line(str(danger)).casefold()
    return (
        f"{name} {_agree(name, 'is')} safe now" if level == "cleared" else f"the danger at {name} is {level}"
    )


def _word_looks(name: str, looks: JsonValue) -> str:
    shown = one_line(str(looks))
    is_brief = _NOUN_PHRASE.match(shown) and len(shown) < _LONGEST_LOOKS
    return f"{name} looks like {shown}" if is_brief else f"{name}: {shown}"


def _word_reputation(name: str, points: JsonValue) -> str:
    return f"{name} {attitude_of(points) or 'has no opinion of the party yet'}"


def _word_discovered(name: str, value: JsonValue) -> str:
    return f"{name} {_agree(name, 'is')} {'' if value is True else 'not '}on the map"


def _word_item(name: str, item: str, count: JsonValue) -> str:
    if isinstance(count, bool) or not isinstance(count, int):
        return f"{name} has {item}"
    if count <= 0:
        return f"{name} no longer has {with_the(item)}"
    if count > 1:
        return f"{name} has {item}, {count} of them"
    return f"{name} has {item if is_plural(item) or item[:1].isdigit() else with_a(item)}"


def attitude_of(reputation: JsonValue) -> str:
    """Return how somebody stands to the party, in words; "" if it does not matter or is not known."""
    if isinstance(reputation, bool) or not isinstance(reputation, int | float) or not reputation:
        return ""
    if reputation > 0:
        return "trusts the party" if reputation >= _TRUST else "trusts the party a little"
    return "is set against the party" if reputation <= -_TRUST else "distrusts the party a little"


def _fill(sentence: str, name: str, value: str) -> str:
    if sentence.endswith(" {value}") and not sentence.endswith(": {value}"):
        value = _inside(value)
    return sentence.format(name=name, value=value, a_value=with_a(_inside(value)))


def _inside(value: str) -> str:
    """Return a value as part of a sentence: "Never to dream again." becomes "never to dream again"."""
    first, _, _ = value.partition(" ")
    is_opening = first.casefold() in _OPENINGS
    return (value[:1].lower() + value[1:] if is_opening else value).removesuffix(".")


def _noun_of(name: str, fact: Fact) -> str:
    """Return what a fact is about as a subject: "Maud's son", "the gravestone of the chapel"."""
    words = one_line(claims.plain_key(fact.key or "")).replace("_", " ")
    if category_of(fact.subject) in _PEOPLE and not is_plural(name):
        return f"{name}'s {words}"
    return f"the {words} of {name}"


def _agree(name: str, verb: str) -> str:
    """Return a phrase with "is" or "was" in its form for several, if the name is plural."""
    first, _, rest = verb.partition(" ")
    return f"{_SEVERAL[first]} {rest}".strip() if first in _SEVERAL and is_plural(name) else verb


def _value(value: JsonValue, name_of: NameOf) -> str:
    if isinstance(value, list):
        return ", ".join(_value(part, name_of) for part in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return name_of(str(value))


def _certainty(fact: Fact, name_of: NameOf) -> str:
    said_by = f", from {name_of(fact.said_by)}" if fact.said_by else ""
    how = "" if fact.certainty == "fact" else f" ({fact.certainty}{said_by})"
    return f"{how} (no longer so)" if fact.superseded_by else how


# Keys whose sentence depends on the value; and slots of a kind, with the name of the thing behind a blank.
_VALUES: Final[Mapping[str, Callable[[str, JsonValue], str]]] = {
    claims.NUMBER: _word_number,
    claims.STATE: _word_state,
    "danger": _word_danger,
    "discovered": _word_discovered,
    "looks": _word_looks,
    "reputation": _word_reputation,
}
_SLOTS: Final[Mapping[str, Callable[[str, str, JsonValue], str]]] = {
    claims.CONDITION: _word_condition,
    claims.ITEM: _word_item,
    claims.OBJECTIVE: _word_step,
}
