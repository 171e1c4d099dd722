"""Attempts: what somebody tries against the odds, and how hard it is by what is attempted."""

from typing import Final

from dndbots.game.acts import Act, Attempt, Verb
from dndbots.game.input.grammar.clauses import Clause
from dndbots.game.input.grammar.slots import DeedSlots
from dndbots.game.input.meanings import Understanding, refuse
from dndbots.game.input.talk.absent_names import names_being
from dndbots.game.input.vocabulary.lexicon import GAP, VerbSense, verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import FOE, ITEM, PERSON, THING, SceneName
from dndbots.game.input.vocabulary.word_roots import root_of, roots_in
from dndbots.rules.characters.equipment import Weapon, recognised
from dndbots.text.english_words import STOP_WORDS

TAKING: Final = VerbSense("try.take", "try", "take", "dex", "easy")
STEALING: Final = VerbSense("try.pickpocket", "try", "pickpocket", "dex", "hard", "stolen")
FORCING: Final = VerbSense("try.force", "try", "force", "str", "hard", "broken", noise=True)
APPROACHING: Final = VerbSense("try.approach", "try", "approach", "dex", "none")
DEFENDING: Final = VerbSense("try.defend", "try", "defend", "dex", "easy", "guarded")
HIDING: Final = VerbSense("try.hide", "try", "hide", "dex", "fair", "hidden")
HANDLING: Final = VerbSense("try.handle", "try", "handle", "dex", "easy")
DISTRACTING: Final = VerbSense("try.deceive", "try", "deceive", "dex", "easy", "fooled")
BRAWLING: Final = VerbSense("try.shove", "try", "shove", "str", "fair", "prone", noise=True)
HELPING: Final = VerbSense("try.help", "try", "help", "int", "easy", "helped")

AT_NOBODY: Final = "to try that on"
_LEVELS: Final = ("easy", "fair", "hard", "heroic")
# How something carried is used, by the phrase.
_USES: Final = {
    "wear": frozenset(("wear", "put on", "put * on", "don", "strap on")),
    "draw": frozenset(
        (
            "draw",
            "draw out",
            "unsheathe",
            "unsheath",
            "ready",
            "take out",
            "pull out",
            "pull * out",
            "whip out",
        )
    )
    | {
        "equip",
        "nock",
        "load",
        "reload",
        "wield",
        "get out my",
        "bring out",
        "arm myself",
        "switch to",
        "raise",
    },
    "stow": frozenset(
        ("sheathe", "sheath", "stow", "stow * away", "put away", "put * away", "lower", "lower my")
    ),
    "drop": frozenset(
        ("drop", "discard", "throw away", "throw down", "lay down", "throw", "hurl", "toss", "chuck")
    ),
    "show": frozenset(
        ("show", "present", "display", "flash", "brandish", "hold up", "hold out", "hold * up", "wave")
    ),
}
# Attempts that are at nobody, whoever is named beside them.
_AT_NOBODY: Final = frozenset(
    ("climb", "swim", "leap", "lock", "force", "track", "recall", "listen", "contest", "pray", "knock")
)
_SOMEBODY: Final = frozenset(("him", "her", "them", "they", "his", "their", "she", "he"))
# Attempts that are aimed at somebody, even if nobody is named.
_AT_SOMEBODY: Final = frozenset(("scare", "persuade", "deceive", "shove", "sense", "tame", "pickpocket"))


def read_attempt(slots: DeedSlots, sense: VerbSense | None = None) -> Understanding:
    """Return something tried against the odds: at whom, with or on what, and what is tested."""
    sense = sense or slots.sense
    target = slots.being or _implied_target(slots, sense) or _named_target(slots, sense)
    is_there = slots.crowd or slots.scenery or slots.is_commonplace
    if target is None and sense.approach in _AT_SOMEBODY and not is_there:
        named = f"no {slots.noun!r}" if _names_being(slots) else "nobody"
        gone = " any more" if _was_here(slots) else ""
        return refuse(slots.clause.text, f"there is {named} here{gone} {AT_NOBODY}")
    what = _object_of(slots)
    many = target is not None and target.kind == FOE and len(slots.scene.foes) > 1
    attempt = rate_attempt(sense, slots.clause, harder=many)
    act = Act(
        verb=Verb.TRY,
        target=None if target is None else target.key,
        what=what,
        words=slots.clause.worded,
        attempt=attempt,
    )
    label = None if target is None else target.label
    return Understanding(verb="try", target=label, what=what, words=act.words, check=attempt, act=act)


def rate_use(slots: DeedSlots) -> Attempt:
    """Return how something carried is used. It needs no dice."""
    approach = slots.sense.approach or next(
        (approach for approach, verbs in _USES.items() if " ".join(slots.match.phrase) in verbs), "use"
    )
    return Attempt(approach=approach, ability="dex", level="none")


def _implied_target(slots: DeedSlots, sense: VerbSense) -> SceneName | None:
    if sense.approach not in _AT_SOMEBODY or slots.crowd or _names_being(slots):
        return None
    return slots.scene.foes[0] if slots.scene.foes else slots.scene.speaker


def _named_target(slots: DeedSlots, sense: VerbSense) -> SceneName | None:
    """Return who is meant elsewhere in the clause: "sing so that they fall asleep"."""
    if sense.approach in _AT_NOBODY:
        return None
    scene, lexicon = slots.scene, verb_lexicon()
    for word in slots.clause.words:
        kinds = (FOE, PERSON)
        if word.text in _SOMEBODY:
            found = scene.pronoun(word.text, kinds)
        else:
            is_name = not word.is_mark and not lexicon.has(word.text) and word.text not in STOP_WORDS
            named = next((name for name in scene.friends if word.text in name.words), None)
            found = (scene.find([word], kinds) or named) if is_name else None
        if found is not None:
            return found
    return None


def _names_being(slots: DeedSlots) -> bool:
    """Check that the object is a word for somebody: nobody else can be meant, though they are not here."""
    return names_being(slots.noun.rpartition(" ")[2])


def _was_here(slots: DeedSlots) -> bool:
    """Check that somebody of that name is known, though not here now: who left, fled or died."""
    root = root_of(slots.noun.rpartition(" ")[2])
    names = (name for uid, name in slots.scene.table.names.items() if uid.startswith(("npc_", "mon_")))
    return bool(root) and any(root in roots_in(name) for name in names)


def _object_of(slots: DeedSlots) -> str | None:
    aimed = next((words for before, words in slots.parts if before not in ("with", "using")), [])
    is_means = bool(slots.object or aimed) and not slots.is_body and bool(slots.behind("with", "using"))
    held = slots.find_object((ITEM,))
    is_struck = held is not None and isinstance(recognised(held.key), Weapon)  # "swing my sword at the shelf"
    found = (slots.thing if is_struck else None) or slots.find_object((ITEM, THING)) or slots.thing
    found = found or _instrument(slots)
    if found is None and not (slots.noun and (is_means or slots.scenery == slots.noun)):
        found = slots.item
    if found is not None:
        return found.label
    # "Dip a finger in the honey" is about the honey.
    noun = slots.noun_behind if slots.is_body and slots.noun_behind else slots.noun
    return noun or _noun_of_phrase(slots) or None


def _instrument(slots: DeedSlots) -> SceneName | None:
    """Return what music is made with: "play something gentle" is done with the lute."""
    if slots.sense.approach != "perform" or not word_group("music") & {*slots.clause.said}:
        return None
    return next((item for item in slots.scene.items if word_group("instrument") & item.words), None)


def _noun_of_phrase(slots: DeedSlots) -> str:
    """Return what the verb phrase itself names: the water of "jump into the water"."""
    phrase = slots.match.phrase
    is_named = (
        len(phrase) > 2
        and phrase[-2] in word_group("article")
        and phrase[-1] not in word_group("preposition")
    )
    return phrase[-1] if is_named and phrase[-1] != GAP else ""


def rate_attempt(sense: VerbSense, clause: Clause, *, harder: bool = False) -> Attempt:
    """Return what is tested, and how hard it is: by the sense, and by the words for what it is tried on."""
    said = {word.text for word in clause.words}
    level = sense.level or "fair"
    if level in _LEVELS:
        step = (harder or bool(said & word_group("hard"))) - bool(said & word_group("easy"))
        level = _LEVELS[min(max(_LEVELS.index(level) + step, 0), len(_LEVELS) - 1)]
    fields = {
        "approach": sense.approach,
        "ability": sense.ability or "dex",
        "level": level,
        "noise": sense.noise,
    }
    return Attempt.model_validate({**fields, "effect": sense.effect or None})
