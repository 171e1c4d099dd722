"""A corpus of broken modules: each error names the line and helps.

Each is made from one sound module by one change, so that nothing else is wrong.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from dndbots.errors import InvalidModule
from dndbots.game.adventures import load

FERRY = (Path(__file__).parent / "ferry.yaml").read_text("utf-8")


class Fault(NamedTuple):
    """A change, the text of the reported line, the reported path, and words of the reason."""

    old: str
    new: str
    line: str
    path: str
    words: str


# These faults cause more problems on other lines.
WITH_CONSEQUENCES = {
    "misspelt part",
    "a key with a capital",
    "a joining word as key",
    "a key twice",
    "a place behind no way",
    "a place behind a condition that cannot hold",
    "a person nobody meets",
}

CORPUS = {
    "no title": Fault("  title: The Ferry at Hollin Reach\n", "", "module:", "module.title", "is missing"),
    "blank title": Fault(
        "title: The Ferry at Hollin Reach", "title:", "title:", "module.title", "is missing"
    ),
    "no start": Fault("  start: landing\n", "", "module:", "module.start", "is missing"),
    "unknown start": Fault(
        "start: landing", "start: lnading", "start: lnading", "module.start", "did you mean 'landing'?"
    ),
    "misspelt part": Fault("\nitems:", "\nitem:", "\nitem:", "item", "did you mean 'items'?"),
    "misspelt header": Fault(
        "  licence:", "  license:", "license:", "module.license", "did you mean 'licence'?"
    ),
    "header at the top": Fault("module:\n", "by: me\nmodule:\n", "by: me", "by", "belongs under `module:`"),
    "levels upside down": Fault(
        "1-2", "3-1", "levels:", "module.levels", "from the lower level to the higher"
    ),
    "levels in words": Fault(
        "1-2", "low", "levels:", "module.levels", "'low' is not valid here; expected `1-3`"
    ),
    "misspelt field": Fault(
        "    safe: yes", "    save: yes", "save: yes", "places.landing.save", "did you mean 'safe'?"
    ),
    "a comma in braces": Fault(
        "use: It names who pays whom.}",
        "use: It names who pays, and whom.}",
        "use: It names who pays, and whom.}",
        "items.ledger.and whom.",
        "a comma inside braces ends a text; put the text in quotes",
    ),
    "neither yes nor no": Fault(
        "dark: yes", "dark: maybe", "dark:", "places.shed.dark", "neither yes nor no"
    ),
    "a key with a capital": Fault("  shed:\n", "  Shed:\n", "  Shed:", "places.Shed", "lower-case letters"),
    "a joining word as key": Fault("  snik:\n", "  not:\n", "  not:", "people.not", "joins conditions"),
    "exit to nowhere": Fault(
        "the rope ferry: far_bank",
        "the rope ferry: far_bnak",
        "the rope ferry",
        "places.landing.exits.the rope ferry",
        "no place has the key 'far_bnak'; did you mean 'far_bank'?",
    ),
    "lock without a key": Fault(
        "locked: iron_key",
        "locked: irn_key",
        "the shed door:",
        "places.far_bank.exits.the shed door.locked",
        "no item has the key 'irn_key'; did you mean 'iron_key'?",
    ),
    "a way back that is taken": Fault(
        "    dark: yes",
        "    dark: yes\n    exits: {outside: {to: reeds, back: no}}",
        "      the shed door",
        "places.far_bank.exits.the shed door",
        "'outside', is already another exit of 'shed'; name the way back with `back`",
    ),
    "unknown item in a thing": Fault(
        "items: [ledger]",
        "items: [leger]",
        "items: [leger]",
        "places.shed.things.strongbox.items[1]",
        "did you mean 'ledger'?",
    ),
    "wrong dice of a trap": Fault(
        "damage: 1d4,",
        "damage: 1d,",
        "damage:",
        "places.shed.things.strongbox.trap.damage",
        "cannot be rolled",
    ),
    "a save that is none": Fault(
        "save: death}",
        "save: deaht}",
        "save:",
        "places.shed.things.strongbox.trap.save",
        "'deaht' is not one of death, wands, paralysis, breath or spells; did you mean 'death'?",
    ),
    "unknown monster": Fault(
        "monster: goblin\n",
        "monster: gobblin\n",
        "gobblin",
        "places.far_bank.foes.reavers.monster",
        "the rules have no monster 'gobblin'; did you mean 'goblin'?",
    ),
    "unknown wanderers": Fault(
        "monster: giant rat",
        "monster: giant bat",
        "giant bat",
        "places.reeds.wandering.foes[1].monster",
        "did you mean 'giant rat'?",
    ),
    "nobody in number": Fault(
        "number: 1d4+1", "number: 1d4-4", "1d4-4", "places.far_bank.foes.reavers.number", "gives -3 to 0"
    ),
    "too many": Fault(
        "number: 1d4+1", "number: 9d100", "9d100", "places.far_bank.foes.reavers.number", "between 1 and 500"
    ),
    "odds in percent": Fault(
        "chance: 1 in 6", "chance: 17%", "chance:", "places.reeds.wandering.chance", "expected `1 in 6`"
    ),
    "unknown mood": Fault(
        "mood: wary", "mood: angry", "mood:", "places.far_bank.foes.reavers.mood", "hostile"
    ),
    "guards nothing": Fault(
        "guards: [the shed door]",
        "guards: [the shed]",
        "guards:",
        "places.far_bank.foes.reavers.guards[1]",
        "did you mean 'the shed door'?",
    ),
    "led by nobody": Fault(
        "leader: snik",
        "leader: snikk",
        "leader:",
        "places.far_bank.foes.reavers.leader",
        "did you mean 'snik'?",
    ),
    "unknown person in a place": Fault(
        "people: [maren]",
        "people: [maron]",
        "people: [maron]",
        "places.landing.people[1]",
        "did you mean 'maren'?",
    ),
    "a person in two places": Fault(
        "    dark: yes",
        "    dark: yes\n    people: [maren]",
        "    people: [maren]\n    looks: Crates",
        "places.shed.people[1]",
        "the person 'maren' appears twice",
    ),
    "a thing in two places": Fault(
        "      strongbox:\n",
        "      purse: {looks: a purse}\n      strongbox:\n",
        "      purse: {looks: a purse}",
        "places.shed.things.purse",
        "the thing 'purse' appears twice",
    ),
    "no name": Fault("    name: Snik\n", "", "  snik:", "people.snik.name", "is missing"),
    "hidden characters in a name": Fault(
        "name: Snik", 'name: "Sn\\u202Eik"', "u202Eik", "people.snik.name", "control or invisible characters"
    ),
    "hidden characters in a text": Fault(
        "text: Cross the river.",
        'text: "Cross\\u200B"',
        "u200B",
        "quests.takings.steps.cross.text",
        "control or invisible characters",
    ),
    "trust above ten": Fault(
        "trust: 4", "trust: 14", "trust: 14", "people.maren.trust", "'14' is more than the maximum of 10"
    ),
    "trust in words": Fault(
        "trust: 4", "trust: much", "trust: much", "people.maren.trust", "not a whole number"
    ),
    "unknown voice": Fault(
        "voice: gruff", "voice: grufff", "voice:", "people.maren.voice", "did you mean 'gruff'?"
    ),
    "a text where a list stands": Fault(
        "    reacts:\n      - {when: killed reavers, says: You did it., trust: 3}",
        "    reacts: nothing",
        "reacts: nothing",
        "people.maren.reacts",
        "expects a list (lines that begin with `-`), not 'nothing'",
    ),
    "a list where a text stands": Fault(
        "name: Snik", "name: [Snik]", "[Snik]", "people.snik.name", "expects a text, not a list"
    ),
    "a text where fields stand": Fault(
        "  ledger: {name: the ledger, use: It names who pays whom.}",
        "  ledger: the ledger",
        "ledger: the ledger",
        "items.ledger",
        "expects fields",
    ),
    "a saying about nothing": Fault(
        "{about: [goblins],", "{", "Never saw them", "people.maren.knows[2].about", "is missing"
    ),
    "an unaskable saying": Fault(
        "about: the drowned man",
        "about: the sunken bell",
        "about: the sunken bell",
        "people.maren.knows[3].about",
        "nobody can ask about 'the sunken bell'",
    ),
    "a condition that is none": Fault(
        "when: killed reavers,",
        "when: slew reavers,",
        "slew",
        "people.maren.reacts[1].when",
        "'slew reavers' cannot be read at column 1: 'slew' is not expected here",
    ),
    "a condition about unknown foes": Fault(
        "when: killed reavers,",
        "when: killed revers,",
        "revers",
        "people.maren.reacts[1].when",
        "no foes or person has the key 'revers'; did you mean 'reavers'?",
    ),
    "a condition about an unknown thing": Fault(
        "when: found purse", "when: found prse", "prse", "people.maren.knows[3].when", "did you mean 'purse'?"
    ),
    "a condition about an unknown place": Fault(
        "visited far_bank", "visited far_bnk", "far_bnk", "quests.takings.steps.cross.when", "'far_bank'?"
    ),
    "a condition about an unknown item": Fault(
        "has ledger", "has leger", "has leger", "quests.takings.endings.truth.when", "did you mean 'ledger'?"
    ),
    "a condition about an unknown topic": Fault(
        "heard goblins",
        "heard gobbos",
        "gobbos",
        "quests.takings.endings.truth.when",
        "nothing brings up the topic 'gobbos'",
    ),
    "a condition about an unknown happening": Fault(
        "happened 1 or", "happened 7 or", "happened 7", "happenings[2].when", "no happening has the key '7'"
    ),
    "a condition about an unknown step": Fault(
        "step box done", "step bx done", "step bx", "quests.takings.endings.paid.when", "did you mean 'box'?"
    ),
    "a condition about an unknown state": Fault(
        "rounds 12 and",
        "quest takings lost and",
        "lost",
        "happenings[1].when",
        "the quest 'takings' is never 'lost'; use one of accepted, betrayed, completed, refused",
    ),
    "a condition about an unknown quest": Fault(
        "rounds 12 and", "quest takngs refused and", "takngs", "happenings[1].when", "did you mean 'takings'?"
    ),
    "a condition about an unknown person": Fault(
        "rounds 12 and", "met marn and", "marn", "happenings[1].when", "did you mean 'maren'?"
    ),
    "a fact about nobody": Fault(
        "about: maren,",
        "about: maron,",
        "maron",
        "places.shed.things.strongbox.teaches[1].about",
        "no person or place or item or foes or quest has the key 'maron'; did you mean 'maren'?",
    ),
    "a fact in two words": Fault(
        "{owes: forty",
        "{owes to: forty",
        "owes to",
        "places.shed.things.strongbox.teaches[1].is.owes to",
        "one word",
    ),
    "an unknown giver": Fault("giver: maren", "giver: marren", "marren", "quests.takings.giver", "'maren'?"),
    "an ending that is none": Fault(
        "state: betrayed",
        "state: accepted",
        "state: accepted",
        "quests.takings.endings.truth.state",
        "does not end a quest",
    ),
    "an ending told by nobody": Fault(
        "by: maren}", "by: mren}", "by: mren", "quests.takings.endings.truth.by", "did you mean 'maren'?"
    ),
    "an ending nowhere": Fault(
        "at: landing, reward", "at: landng, reward", "landng", "quests.takings.endings.paid.at", "'landing'?"
    ),
    "a negative reward": Fault(
        "gold: 30", "gold: -30", "gold: -30", "quests.takings.endings.paid.reward.gold", "less"
    ),
    "a move to nowhere": Fault(
        "moves: {snik: landing}", "moves: {snik: lnding}", "lnding", "happenings[1].moves.snik", "'landing'?"
    ),
    "a move of nobody": Fault(
        "moves: {snik: landing}", "moves: {snip: landing}", "snip", "happenings[1].moves.snip", "'snik'?"
    ),
    "foes nowhere": Fault(
        "foes: {landing:", "foes: {lnding:", "lnding", "happenings[1].foes.lnding", "did you mean 'landing'?"
    ),
    "an unknown thread": Fault(
        "kind: threat", "kind: omen", "kind: omen", "happenings[1].thread.kind", "promise"
    ),
    "a key twice": Fault(
        "  snik:\n", "  maren:\n", "  maren:\n    name: Snik", "people.maren", "is already defined on line 53"
    ),
    "one name for two": Fault(
        "name: the Shed",
        "name: the Far Bank",
        "name: the Far Bank\n    dark",
        "places.shed.name",
        "the place 'the Far Bank' appears twice",
    ),
    "foes with a person's key": Fault(
        "key: raiders", "key: snik", "  snik:\n", "people.snik", "have the same key"
    ),
    "foes twice": Fault(
        "key: raiders",
        "key: reavers",
        "key: reavers",
        "happenings[1].foes.landing",
        "the foes 'reavers' appears twice",
    ),
    "a name at a glance": Fault(
        "looks: Trampled mud,",
        "looks: Old boots of Maren's,",
        "Old boots",
        "places.far_bank.looks",
        "reveals the name 'Maren' at a glance",
    ),
    "a name in what one is seen as": Fault(
        "a goblin in a lady's hat", "Snik the goblin", "Snik the goblin", "people.snik.seen_as", "at a glance"
    ),
    "a place behind no way": Fault(
        "      the shed door: {to: shed, locked: iron_key, stuck: no, back: outside}",
        "      the shed door: {to: landing}",
        "  shed:",
        "places.shed",
        "cannot be reached from the start",
    ),
    "a place behind a condition that cannot hold": Fault(
        "locked: iron_key, stuck",
        "when: found strongbox, stuck",
        "  shed:",
        "places.shed",
        "cannot be reached from the start",
    ),
    "a person nobody meets": Fault(
        "people: [maren]", "people: []", "  maren:", "people.maren", "nobody can meet this person"
    ),
    "an ending out of reach": Fault(
        "when: has ledger and heard",
        "when: quest takings betrayed and heard",
        "truth:",
        "quests.takings.endings.truth",
        "this ending can never be reached",
    ),
    "a happening that never is": Fault(
        "happened 1 or happened flood", "happened flood", "key: flood", "happenings[2]", "can never happen"
    ),
    "a tab": Fault("    dark: yes", "\tdark: yes", "\tdark", "yaml", "found"),
    "an open bracket": Fault(
        "people: [maren]", "people: [maren", "    exits:\n      the rope", "yaml", "expected"
    ),
}


@pytest.mark.parametrize("name", CORPUS)
def test_a_fault_is_told_with_its_line_and_in_words_that_help(name: str, tmp_path: Path) -> None:
    """A fault gives one problem: with its line, its path and a suggestion."""
    fault = CORPUS[name]
    assert fault.old in FERRY
    text = FERRY.replace(fault.old, fault.new, 1)
    file = tmp_path / "broken.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidModule) as caught:
        load(file)
    line = text[: text.index(fault.line)].count("\n") + 1 + fault.line.startswith("\n")
    (told,) = [problem for problem in caught.value.problems if problem[:2] == (line, fault.path)]
    assert fault.words in told.reason
    assert f"{file}:{line}: {fault.path}: {told.reason}" in str(caught.value).splitlines()
    assert len(caught.value.problems) == 1 or name in WITH_CONSEQUENCES, str(caught.value)
