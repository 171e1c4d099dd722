"""Find the way that a player means: by its name, where it leads, what is told of it, or the way back."""

from collections.abc import Sequence
from typing import Final

from dndbots.events import EventType
from dndbots.game.acts import Act, Verb
from dndbots.game.input.deeds.described_ways import find_described
from dndbots.game.input.deeds.known_routes import find_route
from dndbots.game.input.grammar.clauses import Clause
from dndbots.game.input.grammar.slots import DeedSlots
from dndbots.game.input.meanings import REFUSED, UNCLEAR, Reading, Understanding
from dndbots.game.input.vocabulary.lexicon import word_group, word_lists
from dndbots.game.input.vocabulary.scene_names import BEINGS, ITEM, THING, WAY, SceneName, SceneNames
from dndbots.game.input.vocabulary.word_roots import alike_groups, root_of
from dndbots.text.words import words_of

_SHORT: Final = {
    "n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down", "ne": "northeast",
    "nw": "northwest", "se": "southeast", "sw": "southwest",
}  # fmt: skip
DIRECTIONS: Final = frozenset((*_SHORT, *_SHORT.values())) | frozenset(
    ("upstairs", "downstairs", "inside", "outside", "in", "out", "left", "right", "forward")
)
# What a way without a verb begins with: "through the gate".
_LEADING: Final = DIRECTIONS | frozenset(
    (
        "to",
        "through",
        "into",
        "onto",
        "towards",
        "toward",
        "back",
        "along",
        "via",
        "over",
        "across",
        "past",
        "beyond",
        "under",
    )
)
_SOMEWHERE: Final = frozenset(("somewhere", "someplace", "anywhere", "off", "where", "wherever"))
_CLIMBING: Final = frozenset(("climb", "climbs", "climbing", "ascend", "mount", "take"))
_REMARKS: Final = frozenset(("is", "are", "was", "were", "does"))
_MOST_BARE: Final = 8
_MOST_NAMED: Final = 3
_NOT_WHERE: Final = frozenset(("with", "using", "before", "after", "without"))
_OUT: Final = frozenset(
    ("out", "outside", "exit", "outdoors", "away", "leave", "air", "cold", "night", "outdoors")
)
_BACK: Final = frozenset(
    ("back", "home", "return", "came", "backtrack", "rejoin", "retreat", "around", "retrace", "crawled")
)
_UP: Final = frozenset(("up", "upstairs", "upwards", "upward", "ascend", "higher", "top"))
_DOWN: Final = frozenset(
    ("down", "downstairs", "downwards", "downward", "descend", "deeper", "below", "bottom")
)
_IN: Final = frozenset(
    ("in", "inside", "into", "indoors", "enter", "on", "onward", "onwards", "forward", "ahead", "further")
)
_FURTHER: Final = frozenset(("further", "farther", "deeper", "onward", "onwards", "forward", "ahead"))
_AWAY: Final = frozenset(("off", "back", "out"))
_INTO: Final = frozenset(("in", "inside", "into", "enter", "to"))
_COMPANY: Final = frozenset(
    ("party", "others", "friends", "group", "companions", "everybody", "everyone", "rest", "team", "them")
)
_MOST_READINGS: Final = 3


class WayFinder:
    """Finds ways in a scene."""

    def __init__(self, scene: SceneNames) -> None:
        self._scene = scene

    def find(self, texts: Sequence[str], slots: DeedSlots, *, leaves: bool) -> SceneName | None:
        """Return the way that a deed of movement means; None if it is none, or unclear which."""
        said = {*texts}
        if texts and texts[0] in _CLIMBING and any(text in word_lists().alike["stairs"] for text in texts):
            said |= {"up"}
        if {"myself", "me"} & said and not leaves:
            return None
        end = next((n for n, text in enumerate(texts) if n and text in _NOT_WHERE), len(texts))
        rest = [text for text in texts[1:end] if text not in word_group("wayless") or text in _IN]
        place = {root_of(word) for word in words_of(self._scene.table.name(self._scene.here.uid))}
        elsewhere = [text for text in rest if root_of(text) not in place]
        is_place = slots.thing is None and slots.being is None
        described = find_described(self._scene, elsewhere) if is_place else None
        found = self._named(texts, slots) or described or self._led_by(elsewhere)
        if found is not None:
            return found
        if (said & _COMPANY or said & self._gone_friends) and not (slots.thing or self._scene.foes):
            return self._taken_by_others() or self._way_out()
        if leaves and len(self._scene.ways) == 1:
            return self._scene.ways[0]
        if leaves and not self._names_other([text for text in rest if text not in word_group("room")]):
            return self._way_out() or self._way_back()
        routed = find_route(self._scene, elsewhere) or self._to_origin(elsewhere)
        routed = routed or self._told_way(elsewhere) or self._to_person(elsewhere)
        return routed or self._by_direction(said, named=self._names_other(rest))

    @property
    def _gone_friends(self) -> set[str]:
        """Return the names of the members of the party who are elsewhere."""
        here = {self._scene.who, *(friend.key for friend in self._scene.friends)}
        names = self._scene.table.names.items()
        return {
            word
            for uid, name in names
            if uid.startswith("pc_") and uid not in here
            for word in words_of(name)
        }

    def find_anywhere(self, texts: Sequence[str]) -> SceneName | None:
        """Return the way that a line means which is known to take one: named, described, or out or back."""
        scene = self._scene
        parts: list[list[str]] = [[]]
        for text in texts:
            if text in word_group("preposition"):
                parts.append([])
            parts[-1].append(text)
        plain = word_group("wayless") | word_group("preposition") | word_group("article")
        places = [places for part in parts if (places := [text for text in part if text not in plain])]
        named = (scene.find(place, (WAY,)) or find_described(scene, place) for place in places)
        known = (find_route(scene, place) or self._to_origin(place) for place in places)
        told = (self._led_by(place) or self._told_way(place) or self._to_person(place) for place in places)
        return (
            next(filter(None, named), None)
            or find_described(scene, texts)
            or next(filter(None, known), None)
            or self._away({*texts})
            or next(filter(None, told), None)
        )

    def _away(self, said: set[str]) -> SceneName | None:
        """Return the way up, down, out or back; the only way there is."""
        ways = self._scene.ways
        if len(ways) == 1:
            return ways[0]
        off = [way for way in ways if way.label.split()[0] in said & {"off", "onto", "over"}]
        further = [way for way in ways if way != self._way_back()] if said & _FURTHER else off
        if len(further) == 1:
            return further[0]
        if said & (_UP | _DOWN):
            found = self._by_direction(said & (_UP | _DOWN), named=False)
            if found is not None:
                return found
        if said & (_COMPANY | self._gone_friends):
            found = self._taken_by_others()
            if found is not None:
                return found
        if said & _BACK:
            return self._way_back() or self._way_out()
        return self._way_out() if said & (_OUT | _COMPANY | self._gone_friends) else None

    def is_here(self, texts: Sequence[str]) -> bool:
        """Check for "go into the inn" of somebody who came in by the inn door."""
        here, said = self._scene.here.uid, {*texts}
        if said & (_OUT | _BACK) or not said & _INTO or self._scene.find(texts[1:], (WAY,)) is not None:
            return False
        known = self._scene.table.ways.values()
        taken = (way for ways in known for way, there in ways.items() if there == here)
        groups = {group for way in taken for word in words_of(way) for group in alike_groups(word)}
        nouns = [text for text in texts[1:] if text not in word_group("wayless") | _IN]
        return bool(nouns) and bool(groups & alike_groups(nouns[-1]) - {"door", "stairs", "road", "village"})

    def find_toward(self, texts: Sequence[str]) -> SceneName | None:
        """Return the way toward somebody or something that is not here; None if no way is told of it."""
        plain = word_group("wayless") | word_group("preposition")
        rest = [text for text in texts[1:] if text not in plain]
        named = self._scene.find(rest, (WAY,)) if rest else None
        led = named or self._led_by(rest[-1:]) or find_route(self._scene, rest)
        return led or self._told_way(rest) or self._to_person(rest)

    def find_where(self, texts: Sequence[str]) -> SceneName | None:
        """Return the way to where something is: "where the apples are"."""
        plain = (
            word_group("wayless")
            | word_group("preposition")
            | word_group("auxiliary")
            | word_group("article")
        )
        rest = [text for text in texts if text not in plain]
        return self._scene.find(rest, (WAY,)) or self._led_by(rest) if rest else None

    def _to_person(self, rest: Sequence[str]) -> SceneName | None:
        """Return the way toward somebody who was met elsewhere: "return to the reeve"."""
        table, scene = self._scene.table, self._scene
        for uid, name in table.names.items():
            place = table.place(uid) if uid.startswith("npc_") else None
            if place is None or place == scene.here.uid:
                continue
            known = {root_of(word) for word in (*words_of(name), *words_of(table.looks.get(uid, "")))}
            for text in rest:
                trade = {root_of(word) for word in word_lists().trades.get(text, ())}
                if (root_of(text) in known and text not in word_group("plain")) or len(trade & known) > 1:
                    return find_route(scene, [*words_of(table.name(place))]) or self._way_out()
        return None

    def _named(self, texts: Sequence[str], slots: DeedSlots) -> SceneName | None:
        """Return the way that is named: the last of several, as in "from the inn to the chapel"."""
        behind = [words for preposition, words in reversed(slots.parts) if preposition not in _NOT_WHERE]
        spoken = [[word.text for word in words] for words in (*behind, slots.object)]
        named = (self._scene.find(words, (WAY,)) for words in (*spoken, [*texts[1:]]) if words)
        return next((way for way in named if way is not None), None)

    def find_bare(self, texts: Sequence[str]) -> SceneName | None:
        """Return the way in words without a verb: "north", "back outside", "through the gate"."""
        is_remark = any(text in _REMARKS for text in texts) or [*texts] in (["cold"], ["air"], ["night"])
        if not texts or len(texts) > _MOST_BARE or is_remark:
            return None  # "cold, is it not?"
        whole = self._whole([_SHORT.get(text, text) for text in texts])
        if whole is None and len(texts) <= _MOST_NAMED and texts[0] not in _LEADING:
            whole = self._only(texts)
        if whole is not None or texts[0] not in _LEADING | _UP | _DOWN | _OUT | _BACK | _IN | _SOMEWHERE:
            return whole
        if len(texts) == 1:
            return self._by_direction({_SHORT.get(texts[0], texts[0])}, named=False)
        rest = [text for text in texts if text not in word_group("wayless") or text in _IN]
        places = [text for text in rest if text not in _LEADING | _SOMEWHERE]
        led = self._scene.find(texts, (WAY,)) or find_described(self._scene, places) or self._led_by(places)
        return led or self._by_direction({*texts}, named=self._names_other(rest))

    def _whole(self, texts: Sequence[str]) -> SceneName | None:
        """Return the way whose name is typed, and nothing else."""
        wanted = {root_of(text) for text in texts} - {"the", "a"}
        return next((way for way in self._scene.ways if wanted and wanted == _all_label_roots(way)), None)

    def _only(self, texts: Sequence[str]) -> SceneName | None:
        """Return the way that words mean which mean nothing else here: "orchard"."""
        found = self._scene.find_all(texts, (WAY,))
        is_other = self._scene.find(texts, (THING, ITEM, *BEINGS)) is not None
        missed = [text for text in texts if not found or (self._scene.worth(found[0], text) or 0) <= 0]
        return None if is_other or len(found) != 1 or {*missed} - {"the"} else found[0]

    def _names_other(self, rest: Sequence[str]) -> bool:
        """Check that a place is named that is no way here: then a direction alone decides nothing."""
        known = (
            word_group("outdoors")
            | word_lists().alike["stairs"]
            | _OUT
            | _BACK
            | _UP
            | _DOWN
            | _IN
            | _COMPANY
            | word_group("wayless")
        )
        place = {root_of(word) for word in words_of(self._scene.table.name(self._scene.here.uid))}
        return any(text not in known and root_of(text) not in place for text in rest)

    def _by_direction(self, said: set[str], *, named: bool) -> SceneName | None:
        """Return the way in a direction; None if another place is named, or if it is unclear."""
        if named:
            return None
        ways = self._scene.ways
        for direction in (_UP, _DOWN):
            if said & direction:
                found = [way for way in ways if {*words_of(way.label)} & direction]
                if found or not said & (_BACK | _OUT):
                    return next(iter(found), None)
        if said & _OUT or (said & word_group("outdoors") and self._is_indoors):
            return self._way_out()
        if said & _BACK:
            return self._way_back()
        inner = [way for way in ways if said & _IN and {*words_of(way.label)} & (_IN | {"door"})]
        return inner[0] if len(inner) == 1 else ways[0] if len(ways) == 1 and not said & _IN else None

    @property
    def _is_indoors(self) -> bool:
        return any(next(words_of(way.label), "") == "out" for way in self._scene.ways)

    def _way_out(self) -> SceneName | None:
        """Return the way out: the only one, the one called so, or the way one came."""
        ways = self._scene.ways
        if len(ways) == 1:
            return ways[0]
        called = [way for way in ways if "out" in words_of(way.label)]
        named = [way for way in called if way.label.casefold().startswith("out")] or called
        return named[0] if len(named) == 1 else self._way_back()

    def _way_back(self) -> SceneName | None:
        """Return the way to where the character came from."""
        scene, table = self._scene, self._scene.table
        if len(scene.ways) == 1:
            return scene.ways[0]
        origin = self._origin()
        if origin is None:
            return None
        known = table.ways.get(scene.here.uid, {})
        by_way = [way for way in scene.ways if known.get(way.key) == origin]
        if by_way:
            return by_way[0]
        name = {root_of(word) for word in words_of(table.name(origin))} - {"the"}
        by_name = [way for way in scene.ways if way.roots & name] or self._reverse_of(origin)
        return by_name[0] if len(by_name) == 1 else None

    def _reverse_of(self, origin: str) -> list[SceneName]:
        """Return ways that go back by name: "off the bridge" after "onto the bridge"; else "out"."""
        here, ways = self._scene.here.uid, self._scene.ways
        taken = [way for way, there in self._scene.table.ways.get(origin, {}).items() if there == here]
        said = {root_of(word) for way in taken for word in words_of(way)} - word_group("preposition")
        return [way for way in ways if _label_roots(way) & said] or [
            way for way in ways if next(words_of(way.label), "") in _AWAY
        ]

    def _to_origin(self, rest: Sequence[str]) -> SceneName | None:
        """Return the way back, if the place before this one is named."""
        origin = self._origin()
        name = (
            set[str]()
            if origin is None
            else {root_of(word) for word in words_of(self._scene.table.name(origin))}
        )
        named = {root_of(text) for text in rest if text not in word_group("wayless")} - {"the"}
        return (self._way_back() or self._way_out()) if name & named else None

    def _origin(self) -> str | None:
        """Return the place before this one, as far as the character remembers."""
        table, here, who = self._scene.table, self._scene.here.uid, self._scene.who
        taken = [
            (origin, way)
            for origin, ways in table.ways.items()
            for way, there in ways.items()
            if there == here
        ]
        seen_here = False
        for event in reversed(table.lately):
            place = event.known.location
            if place is None or place == here:
                seen_here = seen_here or event.event_type is EventType.LOCATION_CHANGE
                continue
            if event.source == who or who in (*event.known.participants, *(event.known.witnesses or ())):
                return place
        return taken[-1][0] if taken else None

    def _led_by(self, rest: Sequence[str]) -> SceneName | None:
        """Return the way that is told of together with a word: footprints that lead down to the stream."""
        for word in rest:
            for sentence in reversed(self._scene.sentences_with(word)):
                told = {root_of(one) for one in words_of(sentence)}
                led = [way for way in self._scene.ways if _label_roots(way) <= told]
                clause = next(
                    (
                        part
                        for part in sentence.split(";")
                        if root_of(word) in map(root_of, words_of(part)) or _is_in(word, part)
                    ),
                    sentence,
                )
                near = {root_of(one) for one in words_of(clause)}
                led = [way for way in led if _label_roots(way) <= near] or led
                if len(led) == 1:
                    return led[0]
        return None

    def _told_way(self, rest: Sequence[str]) -> SceneName | None:
        """Return the way that somebody here named when they spoke of it: "ask the healer, blue shutters"."""
        wanted = {root_of(text) for text in rest if text not in word_group("wayless")}
        persons = {name.key for name in self._scene.persons}
        for event in reversed(self._scene.table.lately) if wanted else ():
            told = {root_of(word) for word in words_of(event.content)} if event.source in persons else set()
            if wanted & told:
                led = [way for way in self._scene.ways if _label_roots(way) <= told]
                if len(led) == 1:
                    return led[0]
        return None

    def _taken_by_others(self) -> SceneName | None:
        """Return the way by which others left this place last."""
        here = self._scene.here.uid
        for event in reversed(self._scene.table.lately):
            if event.known.location == here:
                told = {root_of(word) for word in words_of(event.content)}
                if " left " in f" {event.content} " or any(fact.op == "@" for fact in event.known.facts):
                    left = [way for way in self._scene.ways if _label_roots(way) <= told]
                    if len(left) == 1:
                        return left[0]
        return None

    def leads(self, way: SceneName) -> str:
        """Return the name of the place that a way leads to, if the character knows it."""
        table = self._scene.table
        there = table.ways.get(self._scene.here.uid, {}).get(way.key)
        return table.name(there) if there is not None and there in table.names else ""

    def ask_which(self, line: str, words: str) -> Understanding:
        """Return that it is unclear which way is meant."""
        verb, said = (Verb.FLEE, "flee by") if self._scene.is_fight else (Verb.GO, "go")
        readings = tuple(
            Reading(f"{said} {way.label}", Act(verb=verb, what=way.key, words=words))
            for way in self._scene.ways[:_MOST_READINGS]
        )
        if not readings:
            return Understanding(verb=REFUSED, reason="you know of no way out of here", words=line)
        return Understanding(verb=UNCLEAR, readings=readings, reason="say which way", words=line)

    def none_called(self, noun: str) -> str:
        """Return the reason that there is no way of a name."""
        ways = ", ".join(way.label for way in self._scene.ways)
        return f"there is no way to {noun!r} here; " + (
            f"the ways are {ways}" if ways else "you know of no way out"
        )


def read_way(clause: Clause, scene: SceneNames, way: SceneName) -> Understanding:
    """Return that a way is taken; in a fight, that somebody flees by it."""
    verb = Verb.FLEE if scene.is_fight else Verb.GO
    act = Act(verb=verb, what=way.key, words=clause.worded)
    there = WayFinder(scene).leads(way)
    return Understanding(
        verb=verb.value, what=f"{way.label} ({there})" if there else way.label, words=act.words, act=act
    )


def _label_roots(way: SceneName) -> set[str]:
    """Return the roots of what a way is called by: without "lane" or "door", if more is said."""
    told = {root_of(word) for word in words_of(way.label) if word not in word_group("pathway")}
    roots = _all_label_roots(way)
    return (roots & told) or roots


def _all_label_roots(way: SceneName) -> set[str]:
    plain = word_lists().groups["preposition"] | word_lists().groups["article"]
    return {root_of(word) for word in words_of(way.label) if word not in plain} or {
        root_of(word) for word in words_of(way.label)
    }


def _is_in(word: str, part: str) -> bool:
    groups = [words for words in word_lists().alike.values() if word in words]
    return any(one in words for one in words_of(part) for words in groups)
