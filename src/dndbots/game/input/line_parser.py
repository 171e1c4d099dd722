"""Parse a line that a player typed into an act: a deed in plain words, or else speech.

A line that begins with a plain verb is a deed, and the people and things it names must be there. Any other
line is said aloud as it was typed. Every text, however odd, gives an act or `ActRefused`.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NoReturn

from dndbots.errors import ActRefused
from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input.act_resolver import find_matches, name_words, resolve_act
from dndbots.game.state.options import Surroundings
from dndbots.game.state.table import Table
from dndbots.text.clean import drop_hidden

TO_SAY: Final = "to say it aloud, put it in quotation marks"

_QUOTES: Final = tuple("\"'“”\u2018\u2019„«»—*")
# Words that may stand before a verb: "I'll", "let's", "please".
_BEFORE: Final = re.compile(
    r"(?:(?P<subject>i(?:'ll| will| want to| try to|'d like to| then| now)?|we|let's|let us)"
    r"|please|then|now|and|ok|okay)\b[\s,]+",
    re.IGNORECASE,
)
_TO_OTHERS: Final = re.compile(r"(?:me|us|you|your|yourself|care|heart|cover)\b", re.IGNORECASE)
_INTO: Final = re.compile(
    r"(?:back |over |up |on )?(?:to|through|by|into|in|towards?|along|down|via|at)\s+", re.IGNORECASE
)
# The end of a name and the beginning of how a deed is done.
_MANNER: Final = re.compile(
    r"[,;:!.\"“”—]|\s(?:with|using|and|while|before|then|as|from|so|for)\b", re.IGNORECASE
)
_ABOUT: Final = re.compile(r"(?:(?<!\s)\s++)?\b(?:about|of|on|for|regarding|concerning)\s++", re.IGNORECASE)
# The beginning of a question after "ask", where nobody is named.
_QUESTION: Final = re.compile(r"(?:what|who|whom|whose|where|when|why|how|which|whether|if)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\S+")
_NAME_WORD: Final = re.compile(r"\w+")
_MOST_NAME_WORDS: Final = 8
_MOST_MANNERS: Final = 40  # each one costs a lookup of all names

_VERBS: Final[dict[Verb, str]] = {
    Verb.SAY: "say",
    Verb.WHISPER: "whisper to|whisper",
    Verb.TELL: "tell|report",
    Verb.GO: "go|walk|head|move|travel|enter|climb|leave by|leave through|leave|exit|follow|return",
    Verb.FLEE: "flee|run away|run|escape|retreat",
    Verb.STAY: "stay|wait|remain",
    Verb.SEARCH: "search|look around|look for|search for",
    Verb.LOOK: "look at|look|examine|inspect|study|read|check|approach|walk up to|go up to",
    Verb.TAKE: "take|grab|pick up|get|collect|pocket|steal",
    Verb.OPEN: "open|unlock|force open|force|pull|push",
    Verb.ASK: "ask|talk to|talk with|speak to|speak with|question|interrogate",
    Verb.GIVE: "give|hand over|hand|pass",
    Verb.ACCEPT: "accept|agree to|agree|take on",
    Verb.REFUSE: "refuse|decline|reject",
    Verb.REST: "rest|sleep|camp|make camp|lie down",
    Verb.ATTACK: "attack|hit|strike|fight|kill|stab|shoot|slash|charge",
    Verb.CAST: "cast",
    Verb.BIND: "bind the wounds of|bind|bandage|stabilize|stabilise|tend to|tend|heal",
    Verb.PARLEY: "parley with|parley|negotiate with|negotiate|surrender to",
}
_PHRASES: Final = {phrase: verb for verb, said in _VERBS.items() for phrase in said.split("|")}
_LONGEST_FIRST: Final = sorted(_PHRASES, key=lambda phrase: (-len(phrase), phrase))
_VERB: Final = re.compile(rf"(?P<verb>{'|'.join(_LONGEST_FIRST)})(?=\W|$)", re.IGNORECASE)
# Verbs without an object. With any other words behind them the line is talk.
_ALONE: Final = {
    Verb.STAY: re.compile(r"(?:here|put|where (?:i am|we are)|a while|a moment|and see)?"),
    Verb.REST: re.compile(
        r"(?:here|a while|a moment|(?:for|until|till|through) (?:the )?(?:night|morning|a while|an hour))?"
    ),
}
# Verbs that stay deeds even if the line is a question.
_TALK: Final = frozenset((Verb.SAY, Verb.WHISPER, Verb.TELL, Verb.ASK))
# Letters for directions, as in text adventures.
_SHORT: Final = {"n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down"}


def clean_line(text: str) -> str:
    """Return text on one line, word for word, without the characters that nobody sees."""
    return drop_hidden(text).replace("\n", " ").strip()


def parse_line(table: Table, who: str, text: str) -> Act:
    """Return the act of a character whose player typed a line. `ActRefused` says what is wrong with it."""
    text = clean_line(text)
    if not text:
        raise ActRefused(who, verb=Verb.SAY.value, reason="the line is empty")
    if len(text) > LONGEST_WORDS:
        reason = f"the line has {len(text)} characters; a turn takes at most {LONGEST_WORDS}"
        raise ActRefused(who, verb=Verb.SAY.value, reason=reason)
    return _Line(Surroundings(table, who), text).act()


class _Line:
    """A typed line, split into a subject, a verb and the rest."""

    def __init__(self, here: Surroundings, text: str) -> None:
        self._here, self._text = here, text
        self._subject, self._rest = "", text
        self._verb = Verb.SAY

    def act(self) -> Act:
        if self._text.startswith(_QUOTES):
            return self._speech()
        if self._is_a_way():
            way = self._text.casefold()
            return self._deed(Verb.GO, lambda said: {"what": said}, _SHORT.get(way, way))
        found = self._verb_found()
        if found is None:
            return self._speech()
        phrase, verb = found.group().casefold(), _PHRASES[found.group().casefold()]
        said = self._rest[found.end() :]
        if self._is_talk(verb, said):
            return self._speech()
        self._verb = verb
        return _PARSERS[verb](self, phrase, said.strip())

    # The kind of line.

    def _is_a_way(self) -> bool:
        """Check for a line that is only a way here, or any direction."""
        said = self._text.casefold()
        directions = {*_SHORT, *_SHORT.values()}
        return said in directions or said in {way.casefold() for way in self._here.sights.ways}

    def _verb_found(self) -> re.Match[str] | None:
        while before := _BEFORE.match(self._rest):
            self._subject = self._subject or before.group("subject") or ""
            self._rest = self._rest[before.end() :]
        if found := _VERB.match(self._rest):
            return found
        # Players also write of their character in the third person: "Throk opens the chest."
        name = self._here.called(self._here.who)
        told = re.match(rf"(?:{re.escape(name)}|{re.escape(name.split()[0])})\s+", self._rest, re.IGNORECASE)
        if told is None:
            return None
        self._subject = name
        self._rest = re.sub(r"^(\w+?)(?:(?<=[sxzo])es|(?<=[cs]h)es|s)\b", r"\1", self._rest[told.end() :])
        return _VERB.match(self._rest)

    def _is_talk(self, verb: Verb, said: str) -> bool:
        """Check for a verb that is no deed: a shout, a question, or a request to others."""
        if said[:1] in (",", "!", "?", "…", "'", "\u2019", "-") or said.startswith("..."):
            return True
        if said.endswith("?") and verb not in _TALK:
            return True
        if verb in _ALONE and not _ALONE[verb].fullmatch(said.strip(" .!").casefold()):
            return True
        return verb not in (Verb.SAY, Verb.WHISPER) and _TO_OTHERS.match(said.strip()) is not None

    def _speech(self, words: str | None = None, target: str | None = None) -> Act:
        return Act(words=self._text if words is None else words, target=target)

    # One method for each kind of deed.

    def say(self, _phrase: str, said: str) -> Act:
        words = said.lstrip(":, ")
        if not words:
            self._refuse("say what to say")
        return self._speech(words)

    def tell(self, _phrase: str, said: str) -> Act:
        """Return a retelling of an event; telling somebody anything else is speech."""
        if _ABOUT.search(f" {said}") is None:
            return self._speech()
        act = resolve_act(self._here.table, self._here.who, Verb.TELL, words=self._worded(), what=said)
        return act if act.verb is Verb.TELL else self._speech()  # there is no news

    def whisper(self, _phrase: str, said: str) -> Act:
        target, words = self._addressed(said)
        words = words.strip()
        words = words[1:].lstrip() if words.startswith((":", ",")) else words
        if not words:
            self._refuse("say what to whisper: whisper NAME: WORDS")
        return resolve_act(self._here.table, self._here.who, Verb.WHISPER, words=words, target=target)

    def ask(self, phrase: str, said: str) -> Act:
        is_to_nobody = _ABOUT.match(f" {said}") or _QUESTION.match(said)
        target, rest = self._addressed(said) if not is_to_nobody else ("", f" {said}")
        about = _ABOUT.match(rest)
        topic = (rest[about.end() :] if about else rest).strip(' .,:?!"“”')
        uid = self._one_here(target)
        if uid in self._here.foes():
            return Act(verb=Verb.PARLEY, words=self._worded(), target=uid)
        if self._here.table.place(uid) is None:
            # The character has to walk up to them first.
            return Act(verb=Verb.LOOK, words=self._worded(), target=uid, what=uid)
        bare = about is not None or not rest.strip(" .") or phrase != "ask"
        # The engine words a bare question itself, but only if no word of the player is lost.
        bare = bare and (rest[about.end() :] if about else rest).strip(" .") == topic
        is_plain = bare and not self._subject and uid not in self._here.friends()
        words = "" if is_plain else self._worded()
        return resolve_act(
            self._here.table, self._here.who, Verb.ASK, words=words, target=uid, what=topic or None
        )

    def give(self, phrase: str, said: str) -> Act:
        """Read `rope to Zara` or `Zara the rope`."""
        if phrase == "pass" and not said:
            return Act(verb=Verb.STAY)
        thing, to, whom = said.rpartition(" to ")
        if not to:
            whom, thing = self._addressed(said)
            if self._somebody(whom) is None:
                self._refuse("say what to give to whom: give THING to NAME")
        return self._deed(Verb.GIVE, lambda name: {"what": thing.strip(), "target": name}, whom)

    def cast(self, _phrase: str, said: str) -> Act:
        spell, at = said, ""
        if found := re.search(r"\s(?:at|on|upon|against|over)\s", said):
            spell, at = said[: found.start()], said[found.end() :]
        if not at:
            return self._deed(Verb.CAST, lambda name: {"what": name}, spell)
        return self._deed(Verb.CAST, lambda name: {"what": spell, "target": name}, at)

    def go(self, _phrase: str, said: str) -> Act:
        in_flight = self._verb is Verb.FLEE and self._here.fight is not None
        ways = self._here.sights.ways
        if not said and len(ways) == 1:
            said = ways[0]
        verb = Verb.FLEE if in_flight else Verb.GO
        return self._deed(verb, lambda name: {"what": name}, _SHORT.get(said.casefold(), said))

    def search(self, _phrase: str, said: str) -> Act:
        """Return a look at the thing that is named; else a search of the whole place."""
        try:
            return self._deed(Verb.LOOK, lambda name: {"what": name}, said)
        except ActRefused:
            return Act(verb=Verb.SEARCH, words="" if not said and not self._subject else self._worded())

    def heal(self, phrase: str, said: str) -> Act:
        cures = [one for one in self._here.table.spells(self._here.who) if "cure" in one or "heal" in one]
        if phrase == "heal" and cures:
            return self._deed(Verb.CAST, lambda name: {"what": cures[0], "target": name}, said)
        return self._deed(Verb.BIND, lambda name: {"target": name}, said)

    def thing(self, _phrase: str, said: str) -> Act:
        if self._verb is Verb.LOOK and not said:
            self._refuse("say what to look at; /look shows what is here, and search searches the place")
        try:
            return self._deed(self._verb, lambda name: {"what": name}, said)
        except ActRefused:
            friend = self._friend(said) if self._verb is Verb.LOOK else None
            if friend is None:
                raise
            return self._speech(self._worded(), friend)  # the DM has nothing to tell about a friend

    def somebody(self, _phrase: str, said: str) -> Act:
        return self._deed(self._verb, lambda name: {"target": name}, said)

    def quest(self, _phrase: str, said: str) -> Act:
        if not self._here.quests():
            self._refuse("no quest is on offer here")
        return self._deed(self._verb, lambda name: {"what": name}, said)

    def alone(self, _phrase: str, said: str) -> Act:
        return Act(verb=self._verb, words="" if not said and not self._subject else self._worded())

    # Names in a line.

    def _deed(self, verb: Verb, asked: Callable[[str], dict[str, str]], said: str) -> Act:
        """Return the deed for the longest beginning of the rest that names something here."""
        reason = ""
        said = said.rstrip(" .")
        for one in _shorter(said):
            try:
                act = resolve_act(self._here.table, self._here.who, verb, **asked(one))
            except ActRefused as exc:
                reason = exc.reason  # the last one is about the name alone
                continue
            is_bare = not self._subject and said == one
            return act if is_bare else act.model_copy(update={"words": self._worded()})
        raise ActRefused(self._here.who, verb=verb.value, reason=f"{reason}; {TO_SAY}")

    def _addressed(self, said: str) -> tuple[str, str]:
        """Split off the longest beginning that names somebody here. Return the name and the rest."""
        words = [*_WORD.finditer(said)][:_MOST_NAME_WORDS]
        ends = (n for n, word in enumerate(words, 1) if word.group().endswith((":", ",")))
        words = words[: next(ends, len(words))]
        # An article after a name belongs to the rest.
        names = [word for word in reversed(words) if name_words(word.group())]
        for fits in (_is_run_of, _is_part_of):
            for word in names:
                name = said[: word.end()].rstrip(":,")
                uid = self._somebody(name)
                known_by = self._here.known_by(uid) if uid is not None else []
                if any(fits(name, one) for one in known_by):
                    return name, said[word.end() :]
        end = next((word.end() for word in words if name_words(word.group())), len(said))
        return said[:end].rstrip(":,"), said[end:]

    def _somebody(self, name: str) -> str | None:
        try:
            act = resolve_act(self._here.table, self._here.who, Verb.WHISPER, target=name)
        except ActRefused:
            return None
        return act.target

    def _friend(self, said: str) -> str | None:
        """Return the party member here whom the words name; None unless it is exactly one."""
        friends = {uid: self._here.called(uid) for uid in self._here.friends()}
        found = (find_matches(friends, one) for one in _shorter(said))
        return next((uids[0] for uids in found if len(uids) == 1), None)

    def _one_here(self, name: str) -> str:
        """Return the person who is named, or the only person here if no name is given."""
        here = self._here
        if not name:
            others = [uid for uid in here.people() if uid not in here.foes()]
            if len(others) == 1:
                return others[0]
        try:
            act = resolve_act(here.table, here.who, Verb.WHISPER, target=name)
        except ActRefused as exc:
            self._refuse(exc.reason)
        return str(act.target)

    def _worded(self) -> str:
        """Return the line as a sentence of its doer: with "I" in front if it has no subject."""
        if self._subject:
            return self._text
        ends = "" if self._text.endswith((".", "!", "?", "…", '"', "”")) else "."
        return f"I {self._text[:1].lower()}{self._text[1:]}{ends}"[:LONGEST_WORDS]

    def _refuse(self, reason: str) -> NoReturn:
        raise ActRefused(self._here.who, verb=self._verb.value, reason=f"{reason}; {TO_SAY}")


def _is_run_of(name: str, known: str) -> bool:
    """Check that a name is a run of consecutive words of a known one; articles need not be the same."""
    words, whole = (
        [word if name_words(word) else "" for word in _NAME_WORD.findall(one.casefold())]
        for one in (name, known)
    )
    while words and not words[0]:
        del words[0]
    return bool(words) and any(whole[n : n + len(words)] == words for n in range(len(whole)))


def _is_part_of(name: str, known: str) -> bool:
    """Check that all words of a name are in a known one."""
    return set() < name_words(name) <= name_words(known)


def _shorter(said: str) -> Iterator[str]:
    """Yield the words, then shorter and shorter beginnings; each also without a leading preposition."""
    manners = [found.start() for found in islice(_MANNER.finditer(said), _MOST_MANNERS)]
    ends = [len(said), *reversed(manners)]
    for end in dict.fromkeys(ends):
        part = said[:end].strip()
        if part or not said:
            yield part
            if led := _INTO.match(part):
                yield part[led.end() :]


_PARSERS: Final[dict[Verb, Callable[[_Line, str, str], Act]]] = {
    Verb.SAY: _Line.say,
    Verb.WHISPER: _Line.whisper,
    Verb.TELL: _Line.tell,
    Verb.GO: _Line.go,
    Verb.FLEE: _Line.go,
    Verb.STAY: _Line.alone,
    Verb.SEARCH: _Line.search,
    Verb.LOOK: _Line.thing,
    Verb.TAKE: _Line.thing,
    Verb.OPEN: _Line.thing,
    Verb.ASK: _Line.ask,
    Verb.GIVE: _Line.give,
    Verb.ACCEPT: _Line.quest,
    Verb.REFUSE: _Line.quest,
    Verb.REST: _Line.alone,
    Verb.ATTACK: _Line.somebody,
    Verb.CAST: _Line.cast,
    Verb.BIND: _Line.heal,
    Verb.PARLEY: _Line.somebody,
}
