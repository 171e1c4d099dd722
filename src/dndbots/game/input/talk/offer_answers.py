"""Read answers to an offer: yes and no in any words, and a promise or a denial of what is wanted."""

import re
from typing import Final

from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input.grammar.clauses import Clause
from dndbots.game.input.meanings import Understanding
from dndbots.game.input.vocabulary.lexicon import phrase_pattern, word_group
from dndbots.game.input.vocabulary.scene_names import SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import ENDS, text_of
from dndbots.game.input.vocabulary.word_roots import root_of
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.words import words_of

_OPENING: Final = re.compile(
    r"^(?:(?:sorry|well|so|hm+|oh|that|then|and|but|right|please|um+|uh+|thanks|hey|er|ah|look) )+(?=\w)"
)
_INTERJECTION: Final = re.compile(r"^(?:oh|ah|aw|dear) no\b ?")
_PARTY: Final = frozenset(("everyone", "everybody", "guys", "team", "gang", "folks"))
_ANSWERS: Final = frozenset(("accept", "decline", "refuse", "agree"))
_ABOUT_YOU: Final = (
    "you can not",
    "you must",
    "you should",
    "you have to",
    "you need",
    "you could",
    "you would",
)
_SHORT_YES: Final = 3
# A sum by itself: "seventy and a hot meal", "15g flat".
_BARE_PRICE: Final = re.compile(
    r"(?:make it |say |call it |then )?"
    r"(?P<sum>\d\d+|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|(?:a )?hundred)g?"
    r"(?: (?:gold|gp|coins|pieces))?(?=$| (?:and|plus|or|flat|each|apiece|now|up|then)\b)"
)
_SPOKEN: Final = re.compile(r'"([^"]*)"')
_NOT_TOLD: Final = re.compile(r"\bnot (?:tell|going to tell)\b")
_WANTS_SILENCE: Final = ("say nothing", "tell nobody", "keep quiet", "silence", "secret")


def read_answer(scene: SceneNames, clause: Clause, words: str | None = None) -> Understanding | None:
    """Return the answer to what is offered here; None if the clause is none."""
    if not scene.offers:
        return None
    asks_for = clause.words[:1] and clause.words[0].text == "no" and clause.words[-1].text == "?"
    if asks_for and len(clause.said) > 1:
        return None  # "no cider?"
    if _PARTY & {word.text for word in clause.words}:
        return None  # "alright everyone, …"
    text = _as_me(scene, text_of(clause.words))
    if _opens("supposing", text) or _opens("parting", text):
        return None  # "what if I keep quiet for a month?"
    offer = scene.offers[-1]
    accepts = True if is_handshake(clause) else _accepts(scene, text, offer)
    if accepts is None:
        accepts = _last_answer(scene, clause, offer)
    return None if accepts is None else answer_offer(scene, clause, offer, accepts=accepts, words=words)


def _last_answer(scene: SceneNames, clause: Clause, offer: SceneName) -> bool | None:
    """Return the last answer in several sentences: "I am a poor man, lady. Find somebody else."."""
    sentences: list[list[str]] = [[]]
    for word in clause.words:
        if word.text in ENDS:
            sentences.append([])
        elif not word.is_mark:
            sentences[-1].append(word.text)
    if len([said for said in sentences if said]) < 2 or clause.is_question:
        return None
    answers = [_accepts(scene, _as_me(scene, " ".join(said)), offer) for said in sentences if said]
    return next((answer for answer in reversed(answers) if answer is not None), None)


def answer_offer(
    scene: SceneNames, clause: Clause, offer: SceneName, *, accepts: bool, words: str | None = None
) -> Understanding:
    """Return that an offer is taken or turned down, in the words that were typed."""
    verb = Verb.ACCEPT if accepts else Verb.REFUSE
    act = Act(verb=verb, what=offer.key, words=(clause.text if words is None else words)[:LONGEST_WORDS])
    giver = None if scene.speaker is None else scene.speaker.label
    return Understanding(verb=verb.value, target=giver, what=offer.label, words=act.words, act=act)


def _as_me(scene: SceneNames, text: str) -> str:
    """Return a text in the first person, if it begins with the character's own name: "Throk does it"."""
    first, _, rest = text.partition(" ")
    return f"i {rest}" if first in scene.me.words and rest else text


def is_handshake(clause: Clause) -> bool:
    """Check for a hand or a nod that says yes: "I spit in my palm and hold it out"."""
    return _has("handshake", text_of(clause.words))


def is_excuse(clause: Clause) -> bool:
    """Check for a polite yes that is taken back: "I would love to, but I have a boat to catch"."""
    return _has("excuse", text_of(clause.words))


def confirms_deal(scene: SceneNames, clause: Clause) -> bool:
    """Check for a yes at length after a friend has said yes already: "fine, we will do it for sixty"."""
    text = text_of(clause.words)
    is_done = not scene.offers and bool(scene.quests) and scene.speaker is not None
    return is_done and len(text.split()) > _SHORT_YES and _opens("yes", text) and " do it" in f" {text}"


def explain_no_offer(scene: SceneNames, text: str) -> str:
    """Return that there is nothing to answer, if a text answers an offer; else nothing."""
    answers = _opens("yes", text) or _opens("no", text) or bool({*text.split()} & _ANSWERS)
    if scene.offers or not answers:
        return ""
    return "nothing is offered to you now" if scene.quests else "nobody has offered you anything yet"


def is_haggle(scene: SceneNames, text: str) -> bool:
    """Check that a text asks for another price than the one that was named."""
    price = phrase_pattern("price").search(text)
    named = price.group().split()[0] if price is not None else ""
    bare = _BARE_PRICE.match(text) if scene.offers else None
    named = named or ("" if bare is None else bare["sum"])
    return _has("haggle", text) or (bool(named) and named not in _offer_speech(scene).casefold())


def _accepts(scene: SceneNames, text: str, offer: SceneName) -> bool | None:
    """Return True for a yes, False for a no, and None for neither."""
    whole = _OPENING.sub("", _INTERJECTION.sub("", text))
    text = " ".join(word for word in text.split() if word not in word_group("address"))
    text = _OPENING.sub("", _INTERJECTION.sub("", text))
    if _has("double_no", text) or _has("excuse", text):
        return not _has("excuse", text)
    silence = _answers_silence(scene, text, offer)
    if silence is not None:
        return silence
    if _opens("no", text) or _opens("no", whole):
        return None if is_haggle(scene, text) else False
    if _opens("yes", text) or _opens("yes", whole):
        return None if _has("condition", text) and is_haggle(scene, text) else True
    if is_haggle(scene, text) or not _shares_words(scene, text, offer):
        return None
    return False if _has("denial", text) else True if _has("promise", text) else None


def _answers_silence(scene: SceneNames, text: str, offer: SceneName) -> bool | None:
    """Read an answer to the wish to say nothing: then "I will say nothing" is a yes."""
    goal = f"{scene.table.fact(offer.key, 'goal', '')} {_offer_speech(scene)}".casefold()
    price = phrase_pattern("price").search(text)
    if price is not None and price.group().split()[0] not in _offer_speech(scene).casefold():
        return None  # "give me twenty gold and I saw nothing"
    if text.startswith(_ABOUT_YOU) or not any(words in goal for words in _WANTS_SILENCE):
        return None
    if _has("disclosure", text) and not _NOT_TOLD.search(text):
        return False
    return True if _has("silence", text) else None


def _offer_speech(scene: SceneNames) -> str:
    return "" if scene.speaker is None else scene.said_by(scene.speaker.key)


def _shares_words(scene: SceneNames, text: str, offer: SceneName) -> bool:
    """Check that a text is about what is wanted: in the goal, or in the giver's own words."""
    spoken = " ".join(_SPOKEN.findall(_offer_speech(scene)))
    goal = f"{offer.label} {scene.table.fact(offer.key, 'goal', '')} {spoken}"
    wanted = {root_of(word) for word in words_of(goal) if word not in STOP_WORDS}
    return any(root_of(word) in wanted for word in words_of(text) if word not in STOP_WORDS)


def _has(name: str, text: str) -> bool:
    return phrase_pattern(name).search(text) is not None


def _opens(name: str, text: str) -> bool:
    return phrase_pattern(name).match(text) is not None
