"""Quest plots of endless chapters: six kinds, with endings that depend on what the party does and asks.

Asking about a bargain strikes it: the party makes its choices by talking to people.
"""

from collections.abc import Callable
from typing import Any, Final

from dndbots.game.adventures.endless.deck import fill_blanks
from dndbots.game.adventures.endless.region import Region, Someone

# Rounds after which a quest fails.
_TOO_LATE: Final = 240


class Plot:
    """A quest in the making: its words, its giver and what it adds to the region."""

    def __init__(self, region: Region, kind: str, *, giver: Someone, **people: Someone) -> None:
        self.region, self.kind, self.giver = region, kind, giver
        self.key = region.key(kind)
        self.words = region.words(giver=giver.name, **{role: who.name for role, who in people.items()})
        self._endings: dict[str, Any] = {}

    def draw_line(self, line: str) -> str:
        """Draw a line of this plot and fill its blanks."""
        return fill_blanks(self.region.deck.draw(f"plots.{self.kind}.{line}"), self.words)

    def knows(self, who: Someone, about: str, line: str, **more: Any) -> None:
        """Add something that a person says about this quest."""
        self.region.people[who.key]["knows"].append({"about": [about], "says": self.draw_line(line), **more})

    def ending(self, line: str, when: str, **more: Any) -> None:
        """Add an ending."""
        self._endings[line] = {"when": when, "text": self.draw_line(line), **more}

    def late(self, line: str, unless: str) -> None:
        """Add an ending for a party that takes too long."""
        self.ending(line, f"rounds {_TOO_LATE} and not {unless}", state="failed", reward={})

    def finish(self, go: str, find: str, *, gold: int = 15) -> None:
        """Add the quest to the region, with two steps and the giver's reaction to a refusal."""
        level = self.region.level
        self.region.quests[self.key] = {
            "name": self.draw_line("name"),
            "giver": self.giver.key,
            "offer": self.draw_line("offer"),
            "goal": self.draw_line("goal"),
            "reward": {"gold": gold * level, "xp": 100 * level},
            "steps": {
                "go": {"text": self.draw_line("go"), "when": go},
                "find": {"text": self.draw_line("find"), "when": find},
            },
            "endings": self._endings,
        }
        refusal = fill_blanks(self.region.deck.draw("people.reacts.refused"), self.words)
        reaction = {"when": f"quest {self.key} refused", "says": refusal, "trust": -2}
        self.region.people[self.giver.key]["reacts"].append(reaction)

    def bargain(self, who: Someone, about: str, bait: str, word: str, when: str) -> str:
        """Add an offer that is taken by asking about it again. Return the condition for that."""
        taken = f"{word} struck"
        self.knows(who, about, bait, when=when, topics=[f"the {word}"])
        self.knows(who, f"the {word}", "struck", when=when, topics=[taken])
        return f'heard "{taken}"'


def fetch(region: Region, *, giver: Someone, rival: Someone, friend: Someone) -> None:
    """Add a quest to bring an item back, which a rival would buy."""
    item = region.deck.item()
    plot = Plot(region, "fetch", giver=giver, rival=rival, friend=friend)
    plot.words["item"] = item
    key = region.new_item(item, worth=40 * region.level)
    region.talk_of(giver, item.lower())
    resting = region.key("resting_place")
    looks = region.deck.draw("places.chest.looks", of=2)
    region.at("deep")["things"][resting] = {"looks": looks, "items": [key], "topics": [item.lower()]}
    region.at("deep")["foes"][region.foes["deep"]].setdefault("guards", []).append(resting)
    taken = plot.bargain(rival, item.lower(), "bait", "bargain", f"has {key}")
    plot.ending("sold", taken, state="betrayed", reward={"gold": 40 * region.level})
    plot.ending("kept", f"has {key} and at {region.keys[giver.part]}", by=giver.key)
    plot.late("late", f"has {key}")
    plot.finish(f"visited {region.keys['ruin']}", f"has {key}", gold=25)


def rescue(region: Region, *, giver: Someone, captive: Someone) -> None:
    """Add a quest to free a captive, who can also be ransomed."""
    plot = Plot(region, "rescue", giver=giver, captive=captive)
    foes, home = region.foes["lair"], region.keys[giver.part]
    purse = region.new_item(f"a purse for the ransom of {captive.given}", worth=20)
    shelf = {"looks": "a purse on a shelf", "items": [purse], "when": f"quest {plot.key} accepted"}
    region.at(giver.part)["things"][region.key("purse")] = shelf
    plot.knows(captive, giver.topic, "captive_says", topics=[giver.topic])
    free = f"met {captive.key} and (killed {foes} or spared {foes})"
    plot.ending(
        "lost",
        f"killed {captive.key} or rounds {_TOO_LATE} and not met {captive.key}",
        state="failed",
        reward={},
    )
    plot.ending("ransomed", f"met {captive.key} and spared {foes} and has {purse}", state="ransomed")
    plot.ending("freed", f"{free} and at {home}")
    plot.finish(f"visited {region.keys['lair']}", f"met {captive.key}", gold=20)


def slay(region: Region, *, giver: Someone) -> None:
    """Add a quest to end a threat, by force or by a truce."""
    plot = Plot(region, "slay", giver=giver)
    foes, home = region.foes["lair"], region.keys[giver.part]
    plot.ending("slain", f"killed {foes} and at {home}")
    plot.ending("truce", f"spared {foes} and at {home}", state="truce", reward={"xp": 150 * region.level})
    plot.late("late", f"(killed {foes} or spared {foes})")
    plot.finish(f"visited {region.keys['lair']}", f"killed {foes} or spared {foes}", gold=20)


def who(region: Region, *, giver: Someone, rival: Someone, friend: Someone, innocent: Someone) -> None:
    """Add a quest to find a culprit, who offers gold for silence."""
    plot = Plot(region, "who", giver=giver, culprit=rival, friend=friend, innocent=innocent)
    deed = region.deck.draw("plots.who.deed")
    plot.words["deed"] = deed
    clue = region.key("trace")
    region.at("ruin")["things"][clue] = {
        "looks": region.deck.draw("places.hidden.looks", of=3),
        "hidden": True,
        "text": plot.draw_line("clue"),
        "topics": [rival.topic, deed],
        "teaches": [{"about": rival.key, "is": {"suspected_of": deed}}],
    }
    region.talk_of(giver, deed)
    plot.knows(friend, deed, "saw", topics=["that night", rival.topic])
    plot.knows(giver, rival.topic, "truth", when=f"found {clue} and heard that night", topics=["the truth"])
    plot.knows(giver, innocent.topic, "doubt", when=f"quest {plot.key} accepted", topics=["guilty"])
    plot.knows(giver, "guilty", "wrong", when=f"quest {plot.key} accepted", topics=["the wrong name"])
    taken = plot.bargain(rival, deed, "bait", "silence", f"found {clue}")
    plot.ending("hushed", taken, state="betrayed", reward={"gold": 35 * region.level})
    plot.ending("found", "heard the truth")
    plot.ending(
        "hanged",
        f"heard the wrong name or rounds {_TOO_LATE} and not heard the truth",
        state="failed",
        reward={},
    )
    plot.finish(f"found {clue}", "heard that night")


def message(region: Region, *, giver: Someone, rival: Someone, friend: Someone) -> None:
    """Add a quest to deliver a letter, which a rival would like to read."""
    plot = Plot(region, "message", giver=giver, rival=rival, friend=friend)
    letter = region.new_item(f"the letter of {giver.given}", worth=0, use="It is sealed.")
    sill = {
        "looks": "a letter on the sill",
        "items": [letter],
        "topics": ["the letter"],
        "when": f"quest {plot.key} accepted",
    }
    region.at(giver.part)["things"][region.key("sill")] = sill
    taken = plot.bargain(rival, "the letter", "bait", "look", f"has {letter}")
    plot.ending("sold", f"{taken} and met {friend.key}", state="betrayed", reward={"gold": 20 * region.level})
    plot.ending(
        "delivered", f"has {letter} and met {friend.key} and at {region.keys[friend.part]}", by=friend.key
    )
    plot.late("late", f"met {friend.key}")
    plot.finish(f"has {letter}", f"met {friend.key}")


def sides(region: Region, *, giver: Someone, rival: Someone) -> None:
    """Add a quest between two factions: choose one, or make peace."""
    plot = Plot(region, "sides", giver=giver, rival=rival)
    plot.words |= {
        "faction": region.deck.faction(),
        "others": region.deck.faction(),
        "matter": region.deck.draw("plots.sides.matter"),
    }
    region.talk_of(giver, plot.words["matter"])
    stone = region.key("stone")
    region.at("ruin")["things"][stone] = {
        "looks": "a boundary stone, face down",
        "text": plot.draw_line("stone"),
        "topics": ["the old agreement", "our side", "our part"],
    }
    found = f"found {stone}"
    plot.knows(giver, plot.words["matter"], "ask_a", topics=["our side"])
    plot.knows(rival, plot.words["matter"], "ask_b", topics=["our part"])
    plot.knows(giver, "our side", "sworn_a", when=found, topics=["their side taken"])
    plot.knows(rival, "our part", "sworn_b", when=found, topics=["their part taken"])
    plot.knows(giver, "the old agreement", "peace_a", when=found, topics=["one hand on the stone"], needs=5)
    plot.knows(
        rival, "the old agreement", "peace_b", when=found, topics=["the other hand on the stone"], needs=5
    )
    plot.ending(
        "peace",
        "heard one hand on the stone and heard the other hand on the stone",
        state="peace",
        reward={"gold": 10 * region.level, "xp": 200 * region.level},
    )
    plot.ending("for_a", "heard their side taken")
    plot.ending("for_b", "heard their part taken", state="betrayed")
    plot.finish(found, f"met {rival.key}")


KINDS: Final[dict[str, Callable[..., None]]] = {
    "fetch": fetch,
    "rescue": rescue,
    "slay": slay,
    "who": who,
    "message": message,
    "sides": sides,
}
