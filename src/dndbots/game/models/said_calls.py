"""Calls that a DM's model only told: a check it asks for, a thing or gold that somebody hands over, a wound.

The telling says plainly that it happens, so it is made so by the tool, which checks it as every call. Only
names of the scene count, and only sentences that tell something new: what the adventure decided is on the
sheets already.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from dndbots.game.dm import tools
from dndbots.game.dm.tools import Form
from dndbots.game.models.first_person import split_units
from dndbots.llm.protocol import Call
from dndbots.rules.characters.equipment import recognised

_MOST: Final = 2
_LONGEST: Final = 400  # characters of a sentence
_ABILITIES: Final = {
    "strength": "str",
    "athletics": "str",
    "dexterity": "dex",
    "stealth": "dex",
    "acrobatics": "dex",
    "constitution": "con",
    "intelligence": "int",
    "investigation": "int",
    "arcana": "int",
    "history": "int",
    "wisdom": "wis",
    "perception": "wis",
    "insight": "wis",
    "survival": "wis",
    "charisma": "cha",
    "persuasion": "cha",
    "deception": "cha",
    "intimidation": "cha",
}
_CHECK: Final = re.compile(
    rf"\b({'|'.join(_ABILITIES)})(?: \(\w+\))? (?:saving throw|check|roll|test|save)\b", re.IGNORECASE
)
_ASKS: Final = re.compile(
    r"\b(?:makes?|rolls?|needs?|must|should|attempts?|tries|try|requires?|calls? for)\b"
)
_NUMBERS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_NUMBER: Final = rf"(\d{{1,5}}|{'|'.join(_NUMBERS)})"
_HANDS: Final = re.compile(
    r"^[ ,]{0,2}(?:then |slowly |quietly )?(hands|gives|passes|pays|tosses) (?:over )?"
)
_GOLD: Final = re.compile(rf"\b{_NUMBER} (?:gold(?:en)?(?: pieces?| coins?)?|gp)\b", re.IGNORECASE)
_THING: Final = re.compile(
    rf"{_NUMBER} ([a-z][a-z'\u2019-]{{1,20}}(?: [a-z][a-z'\u2019-]{{1,20}}){{0,3}}?)"
    r"(?=\s*$|[.,;!]| (?:and|to|with|from|for|that|which|as|before)\b)"
)
# Nobody puts these into a pack.
_NO_THINGS: Final = frozenset(
    [
        "chance",
        "glance",
        "grin",
        "hand",
        "hug",
        "look",
        "nod",
        "push",
        "shove",
        "smile",
        "wave",
        "wink",
        "word",
    ]
)
_WOUND: Final = re.compile(
    r"\b(?:takes|suffers|loses) (\d{1,2}(?:d\d{1,2})?) (?:points? of )?(?:\w+ )?(?:damage|hit points?)\b"
)
_MENDS: Final = re.compile(
    r"\b(?:regains|recovers|heals|is healed for) (\d{1,2}(?:d\d{1,2})?) (?:hit points?|hp)\b", re.IGNORECASE
)


class SaidCalls(NamedTuple):
    """The calls of a telling, and the rest of it: the record of a call tells its sentence."""

    words: str
    calls: tuple[Call, ...]


def find_said_calls(
    words: str, people: Mapping[str, str], *, told: str = "", offered: Collection[str] = ()
) -> SaidCalls:
    """Return the calls that a telling makes in plain words, at most a few, and the words beside them.

    `people` are the names of those in the scene by uid, `told` the texts that are decided and told already.
    """
    names = {name: uid for uid, name in people.items() if name}
    heard = told.casefold()
    calls: dict[str, Call] = {}
    paragraphs = []
    for paragraph in words.split("\n\n"):
        kept = []
        for sentence in split_units(paragraph):
            new = [
                (tool, form)
                for tool, form in _forms_in(sentence, names)
                if tool in offered and not _is_told(form, sentence, heard)
            ]
            if not new or len(calls) >= _MOST or calls.keys() & {tool for tool, _ in new}:
                kept.append(sentence)
                continue
            calls.update((tool, Call(tool=tool, form=form)) for tool, form in new)
        paragraphs.append(" ".join(kept))
    return SaidCalls("\n\n".join(filter(None, paragraphs)), tuple(calls.values()))


def _forms_in(sentence: str, names: Mapping[str, str]) -> Iterator[tuple[str, Form]]:
    if '"' in sentence or "\u201c" in sentence or len(sentence) > _LONGEST:
        return  # somebody says so
    here = _named(sentence, names)
    heroes = [name for _, _, name in here if names[name].startswith("pc_")]
    check = _CHECK.search(sentence)
    if check is not None and len(heroes) == 1 and _ASKS.search(sentence):
        kind = _ABILITIES[check[1].casefold()]
        yield "ask_roll", tools.AskRoll.model_validate({"character": heroes[0], "kind": kind})
    yield from _handed(sentence, here, names)
    for pattern, tool, form in ((_WOUND, "hurt", tools.Hurt), (_MENDS, "heal", tools.Heal)):
        points = pattern.search(sentence)
        if points is not None and len(heroes) == 1 and sentence.find(heroes[0].split()[0]) < points.start():
            yield tool, form.model_validate({"character": heroes[0], "amount": points[1]})


def _handed(
    sentence: str, here: list[tuple[int, int, str]], names: Mapping[str, str]
) -> Iterator[tuple[str, Form]]:
    """Yield what an NPC hands to a character. What characters hand over, their players decide."""
    if len({name for _, _, name in here}) != 2 or not names[here[0][2]].startswith("npc_"):
        return
    giver, to = here[0][2], next(name for _, _, name in here if name != here[0][2])
    does = _HANDS.match(sentence[here[0][1] :])
    if does is None or not names[to].startswith("pc_"):
        return
    rest = sentence[here[0][1] + does.end() :]
    gold = _GOLD.search(rest)
    if gold is not None:
        yield "pay", tools.Pay(gold=_number(gold[1]), payer=giver, to=to)
        return
    for start, end, name in _named(rest, names):
        if name == to:
            rest = f"{rest[:start]}{rest[end:]}".replace("  ", " ").lstrip()
            break
    thing = _THING.match(rest)
    if (
        thing is not None
        and thing[2].split()[-1] not in _NO_THINGS
        and (does[1] != "gives" or _is_thing(thing[2]))
    ):
        yield (
            "give",
            tools.Give(item=thing[2].strip(), to=to, giver=giver, number=min(_number(thing[1]), 100)),
        )


def _is_thing(item: str) -> bool:
    """Check for a thing of the rules: much else can be given, such as an answer."""
    return recognised(item) is not None


def _named(text: str, names: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """Return where names of the scene stand in a text, whole or by their first word, in order."""
    found = []
    for name in names:
        first = name.split()[0]
        pattern = re.escape(name) if first == name else f"{re.escape(name)}|{re.escape(first)}"
        found += [(match.start(), match.end(), name) for match in re.finditer(rf"\b(?:{pattern})\b", text)]
    return sorted(found)


def _number(word: str) -> int:
    return max(int(word), 1) if word.isdigit() else _NUMBERS[word.casefold()]


def _is_told(form: Form, sentence: str, heard: str) -> bool:
    """Check for what was decided before: the same sentence, or a thing or sum that the adventure names."""
    if sentence.strip().casefold().rstrip(".") in heard:
        return True
    if isinstance(form, tools.Pay):
        return re.search(rf"\b{form.gold} gold\b", heard) is not None
    return isinstance(form, tools.Give) and form.item.casefold() in heard
