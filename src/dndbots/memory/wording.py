"""Words, names and sentences of a text, as far as a check needs them: by rule, without a dictionary.

English words are known by a list of the commonest. Every other language is known by its source alone.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\uff07]")
_HYPHENS = re.compile("[\u2010\u2011\ufe63\uff0d]")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
# Written without spaces: each character stands for a word.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U000323af]"
)
# Underscores around it are emphasis.
_UID = re.compile(r"(?<![^\W_])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![^\W_])")
_END = re.compile(
    r"""(?<![.!?\u2026])[.!?\u2026]++["'\u201d\u2019)\]\u00bb]*+(?=\s)"""
    r"""|[\u3002\uff01\uff1f]+["\u201d\u300d\u300f]*"""
)
_NO_END = re.compile(
    r"(?:^|[\s(\"'])(?:mr|mrs|ms|dr|st|lt|sgt|capt|prof|jr|sr|vs|no|approx|etc|e\.g|i\.e|[a-z]|\d{1,2})\.$",
    re.IGNORECASE,
)
# What may stand between the end of one sentence and the first word of the next.
_STARTS = re.compile(
    r"""(?:^|[.!?\u2026:;\u3002\uff01\uff1f])["'\u2018\u201c\u201d\u00ab\u00bb()\[\]\s\u2013\u2014-]*$"""
)

_FUNCTION = """
    a about above across after again against ago all almost along already also although always am among an
    and another any anyone anything are around as at away back be because been before behind being below
    beneath beside besides between beyond both but by can cannot could did do does done down during each
    either else enough even ever every everyone everything except few first for from further had has have
    having he her here hers herself him himself his how however i if in inside instead into is it its itself
    just last later least less like many may me might mine more most much must my myself near nearly neither
    never next no nobody none nor not nothing now of off often on once one only onto or other others our ours
    out outside over own perhaps quite rather same several shall she should since so some someone something
    soon still such than that the their theirs them themselves then there therefore these they this those
    though three through throughout thus to together too toward towards two under unless until up upon us
    very was we well were what whatever when where whether which while who whom whose why will with within
    without would yet you your yours yourself
"""
# Ordinary words that may open an English sentence, in their plainest form: endings are taken off first.
_COMMON = """
    able accept accord act action adventure afraid afternoon agree ahead aid air alas alchemist alive allow
    ally alone ambush ancient anger animal answer apparent apprentice approach archer arm armour armor army
    arrive arrow ash ask assassin attack attempt aware bad bandit bar barbarian bard bargain barrel battle
    bear beast beg begin behold belief believe bell below better big bird black blade blood blue board boat
    body bone book boot both bottle boy bread break breath bridge bring bright brigand broken brother build
    burn busy buy call camp candle captain capture caravan careful carry cast castle cat cause caution cave
    cavern chain chance change chaos character charge chase check chest chief child children choose church
    city clan clean clear cleric cloak close cloth clue coin cold come command common companion complete
    concern confront contact continue control convince corpse council count courage course court coven cover
    craft creature crew crowd crown cruel cry cult cultist current curse cut dagger damage danger dark day
    dead deal dear death debt decide deep defeat defend delay demand demon deny depart describe desert despite
    destroy detail devil dinner direct discover dispute distant divide dog door doubt dragon draw dream
    drink drive drop druid due dungeon dusk dust dwarf eager early earth east easy eat edge effort eight elder
    elf elves encounter end enemy enter entire equal equip escape escort event eventual everywhere evil exact
    exchange exhaust exit expect explain explore eye face fact fail faint fair faith fall false family famous
    far farm fast father favour favor fear feast feel fellow fever field fierce fifty fight fighter figure
    final find fine finish fire fish five flame flee fly foe fog follow food foot force forest forge forget
    former fortunate forty forward fought found four free fresh friend front full fun funeral future gain gate
    gather gave general gentle get ghost ghoul giant gift girl give given glad gnome gnoll go goblin god gold
    gone good grant grave great greed green greet grey gray ground group grow guard guess guest guide guild
    half halfling hall hammer hand happen happy hard haste head heal healer hear heart heavy held help hero
    hidden hide high hill hire history hit hold holy home honest honour honor hope horn horror horse hour
    house huge human hundred hungry hunt hunter hurt ice idea ill imagine immediate important indeed injury
    inn innocent inquire insist inspire intend interest investigate invite iron item join journey judge keep
    kept key kidnap kill kind king kingdom knight knock know known kobold lack lady lair lake lamp land large
    late laugh law lay lead leader learn leave led left legend lend let letter level library lich lie life
    light likely likewise line list listen little live local lock long look loot lord lose loss lost lot loud
    love low loyal luck mad made mage magic main make man map march mark market master matter maybe mayor mean
    meant meanwhile meet memory men mercenary merchant mercy message messenger met midnight mighty mile mind
    mine minotaur miss mission mist money monk monster month moon moreover morning mother mountain mouth move
    murder music mutual mystery name narrow natural need negotiate news night nine noble noise noon north
    note notice number oath obey object obtain obvious occupy odd offer officer ogre old open opinion orc
    order origin outnumber outraged owe owner page paid pain pair paladin panic part party pass past path
    patient patrol pay peace peasant people person pick piece pirate place plain plan plant play please plenty
    poison poor possess possible potion power pray prayer prefer prepare present press presumable price priest
    prince princess prison prisoner proceed progress promise proof protect proud prove provide public pull
    punish purchase purple pursue push put queen quest question quick quiet quit rage raid rain raise ran
    ranger rapid rare rat reach read ready real realise realize reason rebel recall receive recent reckless
    recognise recognize record recover red refuse regard regroup reinforce reject relation relative release
    relic relieve reluctant remain remember remove renew repair repeat reply report request rescue resist rest
    result retreat return reunite reveal revenge reward rich ride right ring rise ritual rival river road
    robber rogue room rope round royal ruin rule rumour rumor run rush sack sacrifice sad safe sage said sail
    same sat save say scared scatter school scout scroll sea seal search season seat second secret secure see
    seek seem seize sell send sense separate serious serpent servant serve session set settle seven severe
    shadow shaken shaman shape share sharp shield ship shock shop short shot shout show shrine sick side siege
    sign silence silent silver similar simple sing single sister sit six skeleton sky slay slave sleep slight
    slow small smell smile smith smoke snake sneak snow soldier solve song sore sorcerer sort soul sound south
    space spare speak special speech speed spell spend spent spider spirit split spot spring spy stab staff
    stair stand star start state status stay steal steel step stir stolen stone stop store storm story strange
    stranger street strength strike strong struggle stuck study stumble submit succeed success sudden suffer
    suggest summer summon sun supply support suppose sure surprise surrender surround survive suspect swamp
    swear sweet swift sword sworn tale talk tall task tavern teach team tear tell temple ten tend tense terms
    terrify terror thank thief thieves thing think thirty thorough thousand threat threaten throne throw thug
    tide tie time tired tiefling today tomb tomorrow tonight took tool torch torture total touch tough tower
    town track trade trader train traitor trap travel traveller treasure treaty tree tribe trick trip troll
    trouble true trust truth try tunnel turn twelve twenty twice twin typical ultimate unable unaware uncle
    undead undeterred unfortunate unhappy unharmed unicorn unite unknown unlike unlikely unseen upset urge use
    usual valley value vampire various vast vengeance verdict victim victory village villager villain violent
    visit voice vow wait wake walk wall want war warn warlock warrior watch water weak weapon wear week weigh
    welcome went west wet whenever wherever whichever whisper white whoever whole wicked wild win wind window
    wine winter wise wish witch withdraw witness wizard wolf wolves woman women won wonder wood word work
    world worry worse worst worth wound wrath wreck write wrong wrote year yell yellow yes yesterday yield
    young youth zombie
"""
# Capitals without being anybody's name.
_CAPITALISED = """
    i dm gm npc npcs pc pcs hp ac xp gp sp cp ok elven elvish dwarven dwarvish orcish draconic infernal
    celestial abyssal undercommon monday tuesday wednesday thursday friday saturday sunday
"""
FUNCTION_WORDS: Final = frozenset(_FUNCTION.split())
COMMON_WORDS: Final = FUNCTION_WORDS | frozenset(_COMMON.split())
CAPITALS: Final = frozenset(_CAPITALISED.split())
_ENDINGS: Final = ("ing", "edly", "ed", "ly", "ies", "es", "s", "er")
_PLAIN_ENDINGS: Final = ("ing", "ly", "tion", "tions", "ment", "ments", "ness", "less")
_SHORTEST_PLAIN: Final = 8  # below it are names: Emily, Sterling
_SHORTEST_ROOT: Final = 3
_NEAR: Final = 12
_FEW_WORDS: Final = 20
_LEAST_FUNCTIONAL: Final = 0.2  # in English nearly half of all words
_MOST_CAPITALS: Final = 0.15  # in English one word of twenty, in German one of four


def folded(text: str) -> str:
    """As words are compared: any case, any accent, any apostrophe."""
    plain = plain_marks(text)
    if plain.isascii():
        return plain.lower()
    decomposed = unicodedata.normalize("NFKD", plain).casefold()
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def words_of(text: str) -> Iterator[str]:
    """Every word, folded, possessives taken off; a hyphenated one in its parts."""
    for match in _WORD.finditer(folded(text)):
        for part in match.group().split("-"):
            if has_unspaced(part):
                yield from part
            else:
                yield _bare(part)


def has_unspaced(text: str) -> bool:
    """Whether some of it is written in a script that sets no spaces between words."""
    return _UNSPACED.search(text) is not None


def plain_marks(text: str) -> str:
    """The text with one kind of apostrophe and one kind of hyphen."""
    return _HYPHENS.sub("-", _APOSTROPHES.sub("'", text))


def uids_of(text: str) -> Iterator[str]:
    return (match.group() for match in _UID.finditer(text.lower()))


def _bare(word: str) -> str:
    return word[:-2] if word.endswith("'s") else word.rstrip("'")


def _roots(word: str) -> Iterator[str]:
    """What a word may be a form of: stopped of stopp and stop, carries of carry, using of us and use."""
    for ending in _ENDINGS:
        root = word.removesuffix(ending)
        if root != word and len(root) > 1:
            yield root
            yield f"{root}e"
            if root[-1] == "i" or ending == "ies":
                yield f"{root.removesuffix('i')}y"
            if root[-1] == root[-2]:
                yield root[:-1]


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """One form for goblin and goblins, arrive, arrives, arrived and arriving: crude, and always the same."""
    if not word.isascii():
        return word
    root = word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_ROOT:
            root = word.removesuffix(ending)
            break
    if root != word and root[-1] == root[-2] and root[-1] not in "lsz":
        root = root[:-1]
    return root[:-1] if root[-1] in "eiy" and len(root) > _SHORTEST_ROOT else root


_COMMON_STEMS: Final = frozenset(map(stem, COMMON_WORDS))


class Vocabulary:
    """The words of a source."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        counts: Counter[str] = Counter()
        self._uids: set[str] = set()
        for text in self._texts:
            counts.update(words_of(text))
            self._uids.update(uids_of(text))
        self._words = frozenset(counts)
        self._stems = frozenset(map(stem, counts))
        functional = sum(counts[word] for word in FUNCTION_WORDS & counts.keys())
        # A few words may be English without saying so.
        self._english = counts.total() < _FEW_WORDS or functional >= _LEAST_FUNCTIONAL * counts.total()

    def has_uid(self, uid: str) -> bool:
        return uid in self._uids

    def has_name(self, word: str) -> bool:
        """Exactly so, or with an `s` more or less."""
        return bool({word, f"{word}s", word.removesuffix("s"), word.removesuffix("es")} & self._words)

    def share(self, text: str) -> tuple[int, float]:
        """How many words a text has, and which part of them the source has or joins English sentences."""
        words = list(words_of(text))
        known = sum(word in FUNCTION_WORDS or stem(word) in self._stems for word in words)
        return len(words), known / len(words) if words else 0.0

    def lenient_share(self, text: str) -> tuple[int, float]:
        """The same, where any everyday English word will do."""
        words = list(words_of(text))
        known = sum(stem(word) in _COMMON_STEMS or stem(word) in self._stems for word in words)
        return len(words), known / len(words) if words else 0.0

    def strangers(self, text: str) -> Iterator[str]:
        """Capitalised words that the source does not have and that do not merely open a sentence.

        What may open a sentence is only known for English; and where a language gives capitals to more
        than names, as German does, they tell nothing.
        """
        if not self._english and self._capitals > _MOST_CAPITALS:
            return
        for word, opens in _capitalised(text):
            plain = opens and (not self._english or is_common(folded(word)))
            if not plain and not self._knows(word):
                yield word

    @cached_property
    def _capitals(self) -> float:
        """Which part of the words has a capital inside a sentence."""
        inside = sum(not opens for text in self._texts for _, opens in _capitalised(text))
        return inside / max(1, sum(len(_WORD.findall(text)) for text in self._texts))

    def _knows(self, word: str) -> bool:
        whole = _bare(folded(word))
        if self.has_name(whole) or whole in FUNCTION_WORDS or whole in CAPITALS:
            return True
        capitals = [part for part in word.split("-") if part[0].isupper()]
        names = [_bare(folded(part)) for part in capitals]
        return all(self.has_name(name) or name in FUNCTION_WORDS or name in CAPITALS for name in names)


def _capitalised(text: str) -> Iterator[tuple[str, bool]]:
    """Each word with a capital, and whether it opens a sentence, or shouts: then a capital tells nothing."""
    plain = unicodedata.normalize("NFKC", plain_marks(text))
    for match in _WORD.finditer(plain):
        word = match.group()
        if any(part[0].isupper() for part in re.split("['-]", word)):
            opens = _STARTS.search(plain, max(0, match.start() - _NEAR), match.start())
            yield word, bool(opens) or word.isupper()


def is_common(word: str) -> bool:
    """An everyday English word in any of its forms, or one that its ending gives away."""
    return all(
        part in COMMON_WORDS
        or not COMMON_WORDS.isdisjoint(_roots(part))
        or (len(part) >= _SHORTEST_PLAIN and part.endswith(_PLAIN_ENDINGS))
        for part in (_bare(part.partition("'")[0]) for part in word.split("-"))
    )


def sentences(text: str) -> list[str]:
    """The sentences of one line. Abbreviations and initials end none."""
    ends = [0]
    for match in _END.finditer(text):
        end = match.end()
        abbreviated = _NO_END.search(text, max(ends[-1], end - _NEAR), end)
        if not abbreviated and not text[end : end + _NEAR].lstrip()[:1].islower():
            ends.append(end)
    ends.append(len(text))
    return [piece for start, end in pairwise(ends) if (piece := text[start:end].strip())]
