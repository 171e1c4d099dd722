"""Find words that are for one pair of ears, in forms other than "whisper": "lean to Zara and mumble …"."""

import re
from itertools import islice
from typing import Final

from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input.meanings import Understanding, refuse
from dndbots.game.input.talk.absent_names import find_absent, is_known_name, refuse_name
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    SELF,
    THING,
    SceneName,
    SceneNames,
)
from dndbots.game.input.vocabulary.typed_words import read_words

_PIECES: Final = {
    "HUSH": r"(?:whisper|murmur|mutter|mumble|breathe|hiss|say|add|confide)s?",
    "LOW": r"(?:murmur|mutter|mumble|breathe|hiss|mouth)s?",
    "SECRETLY": r"(?:whisper|murmur|mutter|mumble|breathe|hiss|confide)s?",
    "CLOSE": r"(?:lean|bend|sidle|huddle|stoop|cup)s?",
    "QUIET": r"(?:(?:very )?(?:quietly|softly|secretly|privately|discreetly)|under (?:my|his|her) breath"
    r"|aside|in a whisper|in a (?:low|hushed|quiet) voice|in secret|in private|sotto voce|out of earshot)",
    "NEAR": r"(?:lean|bend|sidle|scoot|shuffle|step|move|inch|edge|creep|huddle|turn|cup|put|bring|hold|press"
    r"|walk|stoop)(?:s|es)?",
    "NAME": r"(?P<name>[^\W\d]+(?: [^\W\d]+){0,3}?)",
    "APART": r"(?:in private|alone|aside|in your ear|between us)",
    "UNHEARD": r"(?:out of earshot(?: of [^,:]{1,40})?|so (?:that )?(?:nobody|no one|none)[^,:]{1,40})",
    "BEHIND": r"[:,.!\u2014-]+ (?P<words>.+)",
    "THEIR": r"(?P<their>his|her|their)",
    "WHO": r"(?:[^\W\d]+ )?(?:(?:quietly|softly) )?",
    "SAYING": r"[:,]? (?P<words>\S.*)",
}
_WHISPER: Final = "whisper NAME: WORDS"
_EAR: Final = re.compile(r"['\u2019]s (?:[^\W\d]+ ){0,2}ears?\b", re.IGNORECASE)
# Where another deed or sentence begins, and words that may be in one which is for one pair of ears.
_JOINTS: Final = re.compile(
    r"(?:(?<=[,.;:!?\u2026\u2014])\s|\s(?=(?:and|but|then)\s))(?:(?:and|but|then)\s){0,2}", re.IGNORECASE
)
_HINTS: Final = re.compile(
    r"\b(?:psst|pst|private|alone|aside|between us|voice|only|just|confide|earshot|hear|note|signal|ear|mouth"
    r"|murmur|mutter|mumble|breath|hiss|whisper|close|quiet|soft|secret|discreet|so that)",
    re.IGNORECASE,
)
_MARKED: Final = re.compile(r"[\"\u201c\u201d\u201e\u00ab\u00bb*]")
_MOST_JOINTS: Final = 12
_WORD: Final = re.compile(r"\w")
_PIECE: Final = re.compile("|".join(_PIECES))
_FORMS: Final = tuple(
    re.compile(_PIECE.sub(lambda piece: _PIECES[piece.group()], pattern), re.IGNORECASE | re.DOTALL)
    for pattern in (
        # Into somebody's ear.
        (
            r"WHO(?:NEAR|HUSH)\b[^:.!?\"]{0,60}?\b(?:to|at|in|into|near|by|against|beside) "
            r"(?:NAME['\u2019]s|THEIR) (?:[^\W\d]+ ){0,2}ears?(?: and HUSH)?SAYING"
        ),
        # Close to somebody, and in a low voice.
        *(
            rf"WHO{moving} (?:(?:over|in|close|closer|up|down|a bit|my head) ){{0,2}}"
            rf"(?:to|toward|towards|near|beside|next to|up to) NAME,? and {saying}SAYING"
            # Who walks up to somebody and says something is heard by all.
            for moving, saying in (
                ("CLOSE", "(?:(?:quietly|softly) )?HUSH"),
                ("NEAR", "SECRETLY"),
                ("NEAR", "(?:quietly|softly) HUSH"),
            )
        ),
        r"WHO(?:pull|take|draw|drag|steer)s? NAME aside and (?:quietly )?HUSHSAYING",
        r"(?:in|into) (?:NAME['\u2019]s|THEIR) (?:[^\W\d]+ ){0,2}ears?[:,]+ (?P<words>.+)",
        # "*whispers to Borra* …".
        (
            r"\*WHO(?:SECRETLY|HUSH QUIET|leans? (?:over|in|close)) (?:to |at |in )?NAME(?:['\u2019]s ears?)?"
            r"(?: QUIET)?\*[:,]? (?P<words>.+)"
        ),
        r"\*WHOHUSH (?:to |at )?NAME QUIET\*[:,]? (?P<words>.+)",
        r"\*(?:[^\W\d]+ )?(?:quietly|softly|secretly) HUSH (?:to |at )?NAME\*[:,]? (?P<words>.+)",
        # "Under my breath to Borra: …", "to Borra, quietly: …".
        r"QUIET,? (?:to|for|at) NAME(?: only)?[:,\u2014-]+ (?P<words>.+)",
        r"to NAME(?: only)?,? QUIET[:,\u2014-]+ (?P<words>.+)",
        r"WHOHUSH (?:something |it )?QUIET (?:to|at) NAMESAYING",
        r"WHO(?:QUIET )?LOW (?:to|at) NAME(?:[:,]|(?= that| how| about)) (?P<words>.+)",
        # "Psst Borra, …", "Borra, a word in private: …", "low voice to Borra: …".
        r"p+s+t+[,!.\u2026]* NAMEBEHIND",
        r"NAME[,:] (?:just |only )?(?:a|one) (?:quick )?(?:(?:quiet|private) word|word APART)BEHIND",
        r"(?:(?:in|with) a )?(?:very )?low(?:ered)? voice,? (?:WHO(?:say|speak)s? )?to NAMEBEHIND",
        # For one pair of ears only.
        r"WHO(?:only tells?|tells? only) NAMESAYING",
        r"WHOtells? NAME (?:only|alone|and (?:nobody|no one) else)SAYING",
        r"WHOconfides? (?:in|to) NAMESAYING",
        r"(?:I )?QUIET lets? NAME knowSAYING",
        r"WHOtells? NAME,? UNHEARD[,:]SAYING",
        r"so (?:that )?only NAME (?:(?:can|may|could|will) )?hears?(?: (?:it|me|this))?SAYING",
        r"(?:(?:this|that) is )?(?:just|only) (?:for|to) NAME(?:['\u2019]s ears?)?(?: only| alone)?BEHIND",
        r"(?:for|to) NAME(?:['\u2019]s ears?)? (?:only|alone)BEHIND",
        r"\(to NAME,? QUIET\)SAYING",
        (
            r"WHO(?:pull|draw|drag|take|tug)s? NAME (?:close|closer|near|aside|to (?:me|one side)),? "
            r"and (?:quietly )?(?:HUSH|tells?)(?: (?:him|her|them))?SAYING"
        ),
        # What is written or shown by hand is for one, too.
        r"WHO(?:pass|slip|hand)(?:es|s)? NAME a (?:[^\W\d]+ )?note(?: (?:saying|that (?:says|reads)))?SAYING",
        r"WHOsignals? (?:to )?NAME (?:silently|secretly|by hand)SAYING",
    )
)


def find_aside(scene: SceneNames, line: str) -> Understanding | None:
    """Return words that only one hears; None if a line has no such form.

    What is meant for somebody who is not here is refused: it is never said aloud, nor to somebody else.
    """
    absent = ""
    for form in _FORMS:
        match = form.fullmatch(line)
        if match is None:
            continue
        if match.groupdict().get("their"):
            hearer = _only_one(scene, match["their"].casefold())
            if hearer is None:
                return refuse(line, f"name who hears it: {_WHISPER}")
        else:
            hearer = _find_hearer(scene, match["name"])
        if hearer is None:
            absent = absent or _absent_name(scene, line, match)
        else:
            words = match["words"][:LONGEST_WORDS]
            act = Act(verb=Verb.WHISPER, target=hearer.key, words=words)
            return Understanding(verb="whisper", target=hearer.label, words=words, act=act)
    return refuse_name(scene, line, absent, f"whisper to; type {_WHISPER}") if absent else None


def find_aside_behind(scene: SceneNames, line: str) -> tuple[str, Understanding] | None:
    """Return what stands before words that only one hears, and these; None if a line does not go on so."""
    if _HINTS.search(line) is None or _MARKED.search(line) is not None:
        return None
    for joint in islice(_JOINTS.finditer(line), _MOST_JOINTS):
        aside = find_aside(scene, line[joint.end() :].strip())
        if aside is not None and _WORD.search(line[: joint.start()]):
            return line[: joint.start()].strip(), aside
    return None


def _absent_name(scene: SceneNames, line: str, match: re.Match[str]) -> str:
    """Return the name of who is not here, if it is one: "Elena" in "into Elena's ear"."""
    start, end = match.span("name")
    named = [word for word in read_words(line) if start <= word.start < end]
    if named and is_known_name(scene, line, named):
        return match["name"]
    if not named or scene.find(named, (FOE, SELF, THING, ITEM)) is not None:
        return ""
    return match["name"] if _EAR.match(line, end) else find_absent(scene, line[:end], named)


def _only_one(scene: SceneNames, owner: str) -> SceneName | None:
    """Return whose ear "her ear" is; None if it may be another's: a secret is for nobody by guess."""
    genders = {"his": ("m", ""), "her": ("f", ""), "their": ()}[owner]
    fitting = [name for name in (*scene.persons, *scene.friends) if name.gender in genders]
    return fitting[0] if len(fitting) == 1 else None


def _find_hearer(scene: SceneNames, name: str) -> SceneName | None:
    """Return who is named, if all words of the name fit."""
    owner = ("the", "my", "our")
    for plain in (owner, (*owner, "old", "good", "dear", "friend")):  # "my old friend Borra"
        words = [word for word in read_words(name) if word.text not in plain]
        found = scene.find(words, (FRIEND, PERSON)) if words else None
        if found is not None and all((scene.worth(found, word.text) or 0) > 0 for word in words):
            return found
    return None
