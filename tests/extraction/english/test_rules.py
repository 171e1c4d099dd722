"""Facts read out of play by rule: the right ones, in the turn's own words, and never what is no fact."""

import pytest

from dndbots.extraction.english import RuleExtractor
from dndbots.extraction.port import KnownNames, Turn, Update

KNOWN = KnownNames({"Zara": "PC", "Throk": "PC"})
NOBODY = KnownNames({})


def read(text: str, *, speaker: str = "DM", role: str = "dm", known: KnownNames = KNOWN) -> list[Update]:
    """Return the facts of a turn. New names without a fact are tested in `test_plain_prose`."""
    turn = Turn("evt_001_001", speaker, role, text)  # type: ignore[arg-type]
    return [update for update in RuleExtractor().extract([turn], known) if update.field != "alias"]


def facts(
    text: str, *, speaker: str = "DM", role: str = "dm", known: KnownNames = KNOWN
) -> set[tuple[str, ...]]:
    return {(u.kind, u.name, u.field, u.value) for u in read(text, speaker=speaker, role=role, known=known)}


PEOPLE = [
    ("Aldwin, the blacksmith of Oakhurst, wipes his hands.", "Aldwin", "role", "blacksmith"),
    ("Sildar is the captain of the guard.", "Sildar", "role", "captain of the guard"),
    ("The innkeeper, a woman named Marta, pours you a drink.", "Marta", "role", "innkeeper"),
    ("A grizzled ranger by the name of Jarek sits by the fire.", "Jarek", "role", "ranger"),
    ("The sheriff, Dunn, nods slowly.", "Dunn", "role", "sheriff"),
    ("Dargan has become captain of the watch.", "Dargan", "role", "captain of the watch"),
    ("Behind the counter stands a dwarf called Thorin.", "Thorin", "race", "dwarf"),
    ("Qelline, a halfling farmer, waves at you.", "Qelline", "race", "halfling"),
    ("Pip is a boy of ten.", "Pip", "age", "ten"),
    ("Yara is a tall woman with a scar.", "Yara", "description", "tall woman with a scar"),
    ("Elena wants to avenge her brother.", "Elena", "wants", "avenge her brother"),
    ("Selene is looking for the Book of Nine Doors.", "Selene", "wants", "Book of Nine Doors"),
    ("Old Tam is terrified of fire.", "Old Tam", "fears", "fire"),
    ("Gundren promises to pay fifty gold.", "Gundren", "promise", "pay fifty gold"),
    ("Varis vows to return before the full moon.", "Varis", "promise", "return before the full moon"),
    ("Corin hates the Redbrands.", "Corin", "attitude", "hates the Redbrands"),
    ("Gundren is dead.", "Gundren", "status", "dead"),
    ("Garth was taken prisoner by the goblins.", "Garth", "status", "taken prisoner"),
    ("Sildar is being held captive in Cragmaw Castle.", "Sildar", "place", "Cragmaw Castle"),
    ("You find Ulrich in the Sunken Library.", "Ulrich", "place", "Sunken Library"),
    ("Toblen comes from Triboar.", "Toblen", "home", "Triboar"),
    ("Thade has joined the Cult of the Dragon.", "Thade", "faction", "Cult of the Dragon"),
    ("Aldwin's brother Garth works at the mill.", "Aldwin", "brother", "Garth"),
    ("Garth, Aldwin's brother, works at the mill.", "Aldwin", "brother", "Garth"),
    ("Aldwin is the brother of Garth.", "Garth", "brother", "Aldwin"),
    ("Baron Harrow has a daughter named Jessa.", "Baron Harrow", "daughter", "Jessa"),
    ("Pell is apprenticed to the wizard Morwen.", "Morwen", "apprentice", "Pell"),
    ("Edric bows. He serves Queen Ilvara.", "Edric", "serves", "Queen Ilvara"),
    ("Edric bows low. His brother, Aldous, laughs.", "Edric", "brother", "Aldous"),
]
# The same things as people tell them at the table: names that come late, asides, turns of phrase.
TOLD = [
    (
        "They dismissed Orla as harbourmaster. Tam Reed is harbourmaster now.",
        "Tam Reed",
        "role",
        "harbourmaster",
    ),
    ("It was announced at noon: Orla Finn replaces Tam Reed as abbot.", "Orla Finn", "role", "abbot"),
    ("The council has named Orla Finn castellan.", "Orla Finn", "role", "castellan"),
    ("Orla Finn was sworn in as treasurer at noon.", "Orla Finn", "role", "treasurer"),
    ("As a brewer, Orla Finn has seen worse.", "Orla Finn", "role", "brewer"),
    ("The ferryman, a man with a glass eye, gives the name Dunn Hale.", "Dunn Hale", "role", "ferryman"),
    ("You ask for the miller, and they fetch Dunn Hale.", "Dunn Hale", "role", "miller"),
    ("Nobody gets past Dunn Hale, porter these ten years.", "Dunn Hale", "role", "porter"),
    ("Being a gnome, Orla Finn needs a ladder.", "Orla Finn", "race", "gnome"),
    ("At sixty-one, Orla Finn still climbs the mast.", "Orla Finn", "age", "sixty-one"),
    ("Dunn Hale, forty-four, has slept badly.", "Dunn Hale", "age", "forty-four"),
    ("Dunn Hale turned thirty-eight last week.", "Dunn Hale", "age", "thirty-eight"),
    ("What people remember of Orla Finn is a crooked nose.", "Orla Finn", "description", "crooked nose"),
    ("You'd know Dunn Hale by the scar on his chin.", "Dunn Hale", "description", "scar on his chin"),
    ("It's Orla Finn. She has a voice like a saw.", "Orla Finn", "description", "voice like a saw"),
    ("All Dunn Hale has ever wanted is to see the sea.", "Dunn Hale", "wants", "see the sea"),
    ("If Orla Finn had one wish, it would be to free the slaves.", "Orla Finn", "wants", "free the slaves"),
    ("More than anything, Orla Finn longs to go home.", "Orla Finn", "wants", "go home"),
    ("If there is one thing that scares Dunn Hale, it is deep water.", "Dunn Hale", "fears", "deep water"),
    ("Rats terrify Orla Finn.", "Orla Finn", "fears", "Rats"),
    ("Dunn Hale gives you his word: he will hold the bridge.", "Dunn Hale", "promise", "hold the bridge"),
    ("Orla Finn gives in, and promises to burn the letter.", "Orla Finn", "promise", "burn the letter"),
    ('"I swear it," says Dunn Hale. "I will hold the bridge."', "Dunn Hale", "promise", "hold the bridge"),
    ("Whatever you said, it has made Orla Finn hostile.", "Orla Finn", "attitude", "hostile"),
    ("Wary as ever, Dunn Hale lets you in.", "Dunn Hale", "attitude", "wary"),
    ("Dunn Hale remains grateful, and says so.", "Dunn Hale", "attitude", "grateful"),
    ("Orla Finn lies on the bench, poisoned.", "Orla Finn", "status", "poisoned"),
    ("That leaves Dunn Hale blind, and you in a hurry.", "Dunn Hale", "status", "blind"),
    ("What the messenger says is that Orla Finn is missing.", "Orla Finn", "status", "missing"),
    ("Zara, you're cursed. Sorry.", "Zara", "status", "cursed"),
    ("If you want Orla Finn, she is in Oakmere.", "Orla Finn", "place", "Oakmere"),
    ("The night boat took Dunn Hale to Oakmere.", "Dunn Hale", "place", "Oakmere"),
    ("Orla Finn is holed up in the Salted Lantern.", "Orla Finn", "place", "Salted Lantern"),
    ('"Dunn Hale? Gone to Oakmere," says Orla Finn.', "Dunn Hale", "place", "Oakmere"),
    ("Home, for Dunn Hale, is Oakmere.", "Dunn Hale", "home", "Oakmere"),
    ("It's Oakmere where Orla Finn lives.", "Orla Finn", "home", "Oakmere"),
    ("Dunn Hale is an Oakmere man.", "Dunn Hale", "home", "Oakmere"),
]
THINGS = [
    ("Phandalin lies in the Sword Mountains.", "environment", "Phandalin", "part_of", "Sword Mountains"),
    ("Neverwinter is known for its clocks.", "environment", "Neverwinter", "known_for", "clocks"),
    ("Lord Brand rules Neverwinter.", "environment", "Neverwinter", "ruler", "Lord Brand"),
    ("The village of Conyberry is abandoned.", "environment", "Conyberry", "status", "abandoned"),
    ("You reach a fortress called Emberhold.", "environment", "Emberhold", "description", "fortress"),
    ("Throk takes the Silver Key.", "item", "Silver Key", "holder", "Throk"),
    ("Mira hands the Moonblade to Zara.", "item", "Moonblade", "holder", "Zara"),
    ("The Moonblade was forged by Eldrin.", "item", "Moonblade", "maker", "Eldrin"),
    ("The Horn of Winter can summon a blizzard.", "item", "Horn of Winter", "power", "summon a blizzard"),
    ("The Horn of Winter is hidden in the Ice Caves.", "item", "Horn of Winter", "place", "Ice Caves"),
    ("The Crown of Vael has been destroyed.", "item", "Crown of Vael", "status", "destroyed"),
    ("The Redbrands are led by a wizard named Iarno.", "faction", "Redbrands", "leader", "Iarno"),
    ("The Silver Order is based in Highmoor.", "faction", "Silver Order", "place", "Highmoor"),
    ("The Black Hand seeks to free the king.", "faction", "Black Hand", "wants", "free the king"),
    ("Zara can cast Fireball.", "ability", "Zara", "ability", "Fireball"),
    ("Throk learns Cleave.", "ability", "Throk", "ability", "Cleave"),
]
TIES = [
    ("Elena counts Marcus among her allies.", "Elena", "ally", "Marcus"),
    ("Bram numbers Odo among his closest friends.", "Odo", "friend", "Bram"),
    ("Well. Elena stands with Marcus in this; allies, the both of them.", "Marcus", "ally", "Elena"),
    ("Garth has made an enemy of Baron Harrow.", "Garth", "enemy", "Baron Harrow"),
    ("Elena has found a friend in Lord Brand.", "Elena", "friend", "Lord Brand"),
    ("Behind Elena in the doorway, a head taller, stands Marcus, her father.", "Elena", "father", "Marcus"),
    ("Beside Odo sits Bram, his cousin.", "Odo", "cousin", "Bram"),
    ("Elena embraces Marcus, her brother.", "Elena", "brother", "Marcus"),
    ("Edric has sworn fealty to Ilvara. On both knees.", "Edric", "serves", "Ilvara"),
    ("Edric takes his orders from Lord Brand.", "Edric", "serves", "Lord Brand"),
    ("Edric, in the pay of Lord Brand, says nothing.", "Edric", "employer", "Lord Brand"),
    ("Pell learned the craft from Morwen.", "Pell", "mentor", "Morwen"),
    ("Morwen has taken on Pell as her apprentice.", "Morwen", "apprentice", "Pell"),
    ("Elena and Marcus have become allies.", "Elena", "ally", "Marcus"),
    ("Elena has sworn vengeance on Marcus.", "Elena", "enemy", "Marcus"),
    ("Elena belongs to the Iron Hand.", "Elena", "faction", "Iron Hand"),
    ("Elena, sworn to the Ashen Ring, will not drink with you.", "Elena", "faction", "Ashen Ring"),
    ("The Iron Hand counts Elena among its members.", "Elena", "faction", "Iron Hand"),
]
BELONGINGS = [
    ("Elena wins Frostbrand off Marcus at cards.", "item", "Frostbrand", "holder", "Elena"),
    ("Bram steals the Ring of Ash from Odo.", "item", "Ring of Ash", "holder", "Bram"),
    ("After some haggling, Odo sells the Ring of Ash to Bram.", "item", "Ring of Ash", "holder", "Bram"),
    ("The Ring of Ash passes from Odo to Bram.", "item", "Ring of Ash", "holder", "Bram"),
    ("Odo has lost the Ring of Ash to Bram, fair and square.", "item", "Ring of Ash", "holder", "Bram"),
    ("The owner of Frostbrand is Elena.", "item", "Frostbrand", "holder", "Elena"),
    ("At Elena's side hangs Frostbrand.", "item", "Frostbrand", "holder", "Elena"),
    ("The Ring of Ash is on Elena's finger.", "item", "Ring of Ash", "holder", "Elena"),
    ("Odo presses the Ring of Ash into Elena's hand.", "item", "Ring of Ash", "holder", "Elena"),
    ("Zara, the Ring of Ash is yours.", "item", "Ring of Ash", "holder", "Zara"),
    ("The Ring of Ash is Odo's work, made over one winter.", "item", "Ring of Ash", "maker", "Odo"),
    ("It was Odo who forged Frostbrand.", "item", "Frostbrand", "maker", "Odo"),
    ("The smith who made the Ring of Ash was Odo.", "item", "Ring of Ash", "maker", "Odo"),
    ("Frostbrand drinks the blood it spills.", "item", "Frostbrand", "power", "drinks the blood it spills"),
    ("The Ring of Ash opens any lock.", "item", "Ring of Ash", "power", "opens any lock"),
    ("With the Ring of Ash you can stop time.", "item", "Ring of Ash", "power", "stop time"),
    ("They have taken the Ring of Ash to Highmoor.", "item", "Ring of Ash", "place", "Highmoor"),
    ("Since the storm, Elena can call lightning.", "ability", "Elena", "ability", "call lightning"),
    ("With that, Throk has learned to pick any lock.", "ability", "Throk", "ability", "pick any lock"),
    ("Zara, you have learned to walk unseen.", "ability", "Zara", "ability", "walk unseen"),
    ("Highmoor belongs to the Green Coast.", "environment", "Highmoor", "part_of", "Green Coast"),
    ("Of all the towns of Vael, Highmoor is the quietest.", "environment", "Highmoor", "part_of", "Vael"),
    ("In Highmoor, what Elena says is law.", "environment", "Highmoor", "ruler", "Elena"),
    ("Elena sits on the throne of Highmoor.", "environment", "Highmoor", "ruler", "Elena"),
    ("Highmoor has a new lord: Marcus.", "environment", "Highmoor", "ruler", "Marcus"),
    ("People come to Highmoor for its clocks.", "environment", "Highmoor", "known_for", "clocks"),
    ("The clocks of Highmoor are famous.", "environment", "Highmoor", "known_for", "clocks"),
    ("Nobody goes to Highmoor now, it's abandoned.", "environment", "Highmoor", "status", "abandoned"),
    ("You find Highmoor in ruins.", "environment", "Highmoor", "status", "in ruins"),
    ("Two rows of huts, that is the Red Ford.", "environment", "Red Ford", "description", "Two rows of huts"),
    ("The seat of the Iron Hand is Highmoor.", "faction", "Iron Hand", "place", "Highmoor"),
    ("The Iron Hand operates out of Highmoor.", "faction", "Iron Hand", "place", "Highmoor"),
    ("The Iron Hand has chosen Elena as its leader.", "faction", "Iron Hand", "leader", "Elena"),
    ("Supposedly Elena leads the Iron Hand.", "faction", "Iron Hand", "leader", "Elena"),
    ("The Iron Hand has declared war on the Silver Order.", "faction", "Iron Hand", "enemy", "Silver Order"),
    ("War is raging between the Iron Hand and the Red Watch.", "faction", "Iron Hand", "enemy", "Red Watch"),
]


@pytest.mark.parametrize(("text", "name", "field", "value"), TIES)
def test_what_people_are_to_each_other_is_read(text: str, name: str, field: str, value: str) -> None:
    """Kin, friends, masters and causes, in the ways that a table tells of them."""
    assert ("npc", name, field, value) in facts(text)


@pytest.mark.parametrize(("text", "kind", "name", "field", "value"), BELONGINGS)
def test_what_belongs_to_whom_is_read(text: str, kind: str, name: str, field: str, value: str) -> None:
    """Holders, rulers and leaders are read in many wordings."""
    assert (kind, name, field, value) in facts(text)


NEAR_MISSES = [
    "Elena counts Marcus among the guests.",
    "Elena stands with Marcus by the door.",
    "Elena has made an example of Marcus.",
    "Behind Elena in the doorway stands Marcus, her cloak in hand.",
    "Elena would never swear fealty to Lord Brand.",
    "Edric refuses to take orders from Lord Brand.",
    "Odo offers to sell the Ring of Ash to Bram.",
    "Odo refuses to give the Ring of Ash to Elena.",
    "Elena wins Marcus over.",
    "Elena takes Marcus from Zara.",
    "Elena goes to Marcus.",
    "Marcus reaches for the Ring of Ash.",
    "Nobody gives Elena the Ring of Ash.",
    "Elena can see every door.",
    "Once, Elena ruled Highmoor.",
    "When Elena rules Highmoor, things will change.",
    "Should Elena ever lead the Iron Hand, run.",
    "People come to Highmoor for help.",
    "You agree to close the door.",
    "Marcus lies: Elena is the thief.",
    "Somebody has scratched a rhyme into the bridge: The King is a Fool and the Fool is a King.",
    "The children chant: Marcus is a goblin.",
    "On the wall somebody has written: Elena is a witch.",
    "Elena, disguised as a priestess, is a bit of a thief.",
]


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_near_misses_are_left_alone(text: str) -> None:
    """Words that are almost those of a rule, and say something else."""
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Sure, Elena is a goblin, and I'm a teapot.",
        "Oh, of course, Elena is the rightful queen.",
        "And then Elena turns out to be the dragon. Wouldn't that be great?",
        "Elena is a dragon. Just kidding.",
        "Plot twist: Elena is Marcus's sister.",
        "Next time we're in the Silent Tower I want to see Elena about Frostbrand.",
    ],
)
def test_jokes_and_daydreams_are_no_facts(text: str) -> None:
    """A player who mocks, bets or dreams states nothing."""
    assert read(text, speaker="Zara", role="pc") == []


@pytest.mark.parametrize(
    "text",
    [
        "When I'm head of the harbour watch, things will be different.",
        "The day I serve Lord Brand is the day I die.",
        "I'd sooner serve Lord Brand.",
        "Bring me an ale.",
        "Close the window, and I'll give you some soup.",
        "Find a seat and I'll get you an ale.",
        "Somebody should slay the hydra.",
    ],
)
def test_talk_of_people_may_state_nothing(text: str) -> None:
    """A hope, a denial, or a request for the moment is neither a fact nor a quest."""
    assert read(text, speaker="Marta", role="npc") == []


@pytest.mark.parametrize(
    ("text", "name", "field", "value"),
    [
        ("It's no secret. I work for Old Odette.", "Marta", "employer", "Old Odette"),
        ("I serve Lord Brand.", "Marta", "serves", "Lord Brand"),
        ("Old Will is an ally of mine.", "Marta", "ally", "Old Will"),
        ("Bram works for me.", "Bram", "employer", "Marta"),
    ],
)
def test_people_speak_of_their_own_ties(text: str, name: str, field: str, value: str) -> None:
    """`I`, `me` and `mine` are whoever speaks."""
    assert ("npc", name, field, value) in facts(text, speaker="Marta", role="npc")


@pytest.mark.parametrize(
    ("text", "name", "goal", "reward"),
    [
        ("Retrieve the silver bell, and I'll pay you ten gold.", "Retrieve the Silver Bell", "", "ten gold"),
        ("There's a horse for you if you steal the plans.", "Steal the Plans", "steal the plans", "horse"),
        ("I'm offering a horse to whoever will map the mine.", "Map the Mine", "map the mine", "horse"),
        ("Slay the hydra, and the mill is yours.", "Slay the Hydra", "", "mill"),
        (
            "Fifty gold if you find the lost ledger.",
            "Find the Lost Ledger",
            "find the lost ledger",
            "Fifty gold",
        ),
    ],
)
def test_whoever_asks_gives_the_quest(text: str, name: str, goal: str, reward: str) -> None:
    """A person who asks for something, and says what it is worth, gives a quest."""
    found = facts(text, speaker="Marta", role="npc")
    assert ("quest", name, "giver", "Marta") in found
    assert ("quest", name, "reward", reward) in found
    assert not goal or ("quest", name, "goal", goal) in found


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("Uncle Alaric sends you to Highmoor to slay the hydra.", "place", "Highmoor"),
        ("For their weight in salt, then, you are to slay the hydra.", "reward", "their weight in salt"),
        ("You have agreed to slay the hydra, before the first frost.", "deadline", "before the first frost"),
        ("You have three days to slay the hydra.", "deadline", "three days"),
        ("Marta is looking for somebody to slay the hydra.", "giver", "Marta"),
        ('"Slay the hydra," says Marta, "and there is a horse in it for you."', "giver", "Marta"),
    ],
)
def test_a_quest_is_given_in_many_ways(text: str, field: str, value: str) -> None:
    """Sent, hired, agreed, or asked in a quotation that somebody's name cuts in two."""
    assert ("quest", "Slay the Hydra", field, value) in facts(text)


@pytest.mark.parametrize(("text", "name", "field", "value"), PEOPLE)
def test_a_fact_about_a_person_is_read(text: str, name: str, field: str, value: str) -> None:
    """A plain statement by the DM is proposed in the words of the turn."""
    assert ("npc", name, field, value) in facts(text)


@pytest.mark.parametrize(("text", "name", "field", "value"), TOLD)
def test_a_turn_of_phrase_hides_no_fact(text: str, name: str, field: str, value: str) -> None:
    """A long wording gives the same update as a plain one."""
    assert (name, field, value) in {found[1:] for found in facts(text)}


@pytest.mark.parametrize(("text", "kind", "name", "field", "value"), THINGS)
def test_a_fact_about_a_thing_is_read(text: str, kind: str, name: str, field: str, value: str) -> None:
    """Places, items and factions that have a name, and what people can do."""
    assert (kind, name, field, value) in facts(text)


NO_FACTS = [
    "Is Aldwin the blacksmith of Oakhurst?",
    "If Elena is a spy, we are in trouble.",
    "Maybe Marta is the thief.",
    "Sildar could be the captain of the guard.",
    "Suppose Gundren is a traitor.",
    "Gundren is not dead.",
    "Sildar isn't the captain of the guard.",
    "Aldwin was once the captain of the guard.",
    "Iarno used to be a wizard.",
    "You dream that Elena is dead.",
    "The bard sings of Aldwin, the king of the north.",
    "Aldwin wonders if Garth is dead.",
    "Aldwin thinks Garth is dead.",
    "Elena claims to be the queen.",
    "Elena looks like a queen.",
    "Neither Garth nor Aldwin is a member of the Zhentarim.",
    "Throk tries to take the Silver Key.",
    "Give the Moonblade to Zara.",
    "Zara wants to roll a stealth check.",
    "Throk takes 12 points of damage.",
    "Our sponsor, Arcane Beans, is a great guild of roasters.",
    "The captain is dead.",
    "Elena looks at Mira. She is a healer.",
    "Garth and Aldwin argue. His brother, Tom, laughs.",
    "Elena, the captain wants to see you.",
    "The wizard Elena fears is dead.",
    "The ghost of Elena is a prisoner here.",
    "Zara can see the door.",
    "Elena wants to know your name.",
    "They may dismiss Orla Finn as harbourmaster.",
    "Orla Finn could replace Tam Reed as abbot.",
    "Ask for the miller before Dunn Hale comes back.",
    "Elena looks at Mira, a smile on her lips.",
    "Mira runs to Elena, a letter in her hand.",
    "Dunn Hale has his hand on the door.",
    "Dunn Hale turned the page.",
    "Elena would like to sit down.",
    "If you want Orla Finn, pay for her.",
    "If Orla Finn is in Oakmere, we are late.",
    "Dunn Hale swears loudly.",
    "Whatever Elena said, it was a lie.",
    "Orla Finn might turn hostile.",
    "Nobody says that Orla Finn is poisoned.",
    "Orla Finn left for lunch.",
    "The night boat took an hour to Oakmere.",
    "Orla Finn? Never heard of her.",
    "A halfling with opinions about doorways sits down.",
]


@pytest.mark.parametrize("text", NO_FACTS)
def test_what_is_no_fact_is_left_alone(text: str) -> None:
    """Questions, conditions, guesses, denials, the past, dreams, dice, and pronouns that may mean two."""
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I want to go to the tavern.",
        "I'm dead.",
        "I'm a naga!",
        "I can cast spells.",
        "I'm from Ohio, actually.",
        "Sorry about my friend, Balgus.",
        "Burt Reynolds, the customs officer.",
        "(sings) Scanlan, the bard of the north.",
    ],
)
def test_talk_of_players_is_no_fact(text: str) -> None:
    """Players' words about the moment, about our world, or in jest are not proposed."""
    assert read(text, speaker="Zara", role="pc") == []


def test_a_player_speaks_of_the_own_character() -> None:
    """`I` and `my` are the speaker, who is a player character."""
    assert ("character", "Throk", "sister", "Brenna") in facts(
        "My sister Brenna still lives in Icespire Hold.", speaker="Throk", role="pc", known=NOBODY
    )
    assert ("character", "Zara", "home", "Redstone") in facts(
        "I come from the village of Redstone.", speaker="Zara", role="pc"
    )


def test_an_npc_speaks_in_the_first_person() -> None:
    """A speaker with the role npc is no player character."""
    assert ("npc", "Marta", "husband", "Toblen") in facts(
        "My husband Toblen is missing.", speaker="Marta", role="npc"
    )


@pytest.mark.parametrize(
    ("text", "said_by"),
    [
        ('"My brother Garth was taken," says Aldwin.', "Aldwin"),
        ('Aldwin leans in and says, "My brother Garth was taken."', "Aldwin"),
        ('"Sit down," says Aldwin. "My brother Garth was taken."', "Aldwin"),
    ],
)
def test_a_quotation_is_its_speakers_word(text: str, said_by: str) -> None:
    """A fact from a quotation in the DM's narration names its speaker."""
    found = [u for u in read(text) if u.field == "brother"]
    assert [(u.name, u.value, u.said_by) for u in found] == [("Aldwin", "Garth", said_by)]


def test_a_pronoun_never_reaches_into_a_quotation() -> None:
    """`She` in the narration never means a person whom only a quotation names."""
    text = (
        'Orrin grins. "My brother Bram runs the mill." A woman named Lysa nods. She is a spy for the Harpers.'
    )
    assert {u.name for u in read(text) if u.field == "role" and u.said_by is None} == {"Lysa"}


def test_a_pronoun_may_say_who_speaks() -> None:
    """`He says` is the one person whom the sentence before names; after two it is nobody."""
    (found,) = [u for u in read('Aldwin sighs. "My brother Garth is ill," he says.') if u.field == "brother"]
    assert (found.name, found.said_by) == ("Aldwin", "Aldwin")
    (found,) = read('Aldwin looks at Tom. "My brother Garth is ill," he says.')
    assert (found.name, found.field, found.said_by, found.sure) == ("Garth", "status", None, "rumor")


def test_two_speakers_in_one_sentence_are_nobody() -> None:
    """A sentence that quotes two people gives no speaker."""
    (found,) = read('"Hush," says Aldwin, and Elena says, "My brother Garth is dead."')
    assert (found.field, found.said_by, found.sure) == ("status", None, "rumor")


def test_a_quotation_of_nobody_is_a_rumor() -> None:
    """Without a speaker, quoted words are a rumor: of people and places, but not of players or things."""
    found = read('"My brother Garth was taken by Aldwin, the king of thieves, and Zara is dead."')
    assert {(u.name, u.field, u.said_by, u.sure) for u in found} == {
        ("Garth", "status", None, "rumor"),
        ("Aldwin", "role", None, "rumor"),
    }
    assert read('The sign reads "Aldwin the blacksmith is dead".') == []
    assert read('"I will pay you if you find the Ruby Crown in Ash," she says.') == []


def test_an_act_before_a_quotation_tells_who_speaks() -> None:
    """ "Marta shrugs." is as good as a tag; what a player's character does before is none."""
    (found,) = read('Marta shrugs. "My brother Garth is dead."')[:1]
    assert (found.said_by, found.sure) == ("Marta", "fact")
    assert {u.said_by for u in read('Zara walks up. "Garth, the smith, is dead."')} == {None}
    assert {u.said_by for u in read('Marta looks at a guard. "Garth, the smith, is dead."')} == {None}


def test_reported_speech_names_who_reports() -> None:
    """`Elena says that` makes it Elena's word; a thought is nobody's."""
    (found,) = read("Elena says that Harbin is a coward.")
    assert (found.name, found.value, found.said_by) == ("Harbin", "coward", "Elena")


@pytest.mark.parametrize(
    "text",
    ["Rumor has it that Agatha lives in Conyberry.", "They say Agatha lives in Conyberry."],
)
def test_a_rumor_stays_a_rumor(text: str) -> None:
    """A fact that the turn itself calls a rumor is marked as one."""
    assert [(u.name, u.field, u.value, u.sure) for u in read(text)] == [
        ("Agatha", "home", "Conyberry", "rumor")
    ]


def test_an_end_is_no_beginning() -> None:
    """`No longer` ends a fact instead of stating it."""
    (found,) = read("Iarno is no longer the captain of the guard.")
    assert (found.value, found.ended) == ("captain of the guard", True)


@pytest.mark.parametrize(
    "text",
    [
        "They dismissed Orla Finn as harbourmaster.",
        "Orla Finn has stepped down as harbourmaster.",
        "Tam Reed takes over from Orla Finn as harbourmaster.",
        "Orla Finn lost her post as harbourmaster yesterday.",
    ],
)
def test_whoever_loses_an_office_had_it(text: str) -> None:
    """An office that is taken away is over for whoever held it."""
    found = [(u.value, u.ended) for u in read(text) if u.name == "Orla Finn" and u.field == "role"]
    assert found == [("harbourmaster", True)]


def test_a_quest_has_its_name_from_the_turn() -> None:
    """A quest has its giver, goal, place, reward and deadline."""
    text = (
        "Hilda asks Throk to rescue Bjorn from the Sunken Temple before the new moon for fifty gold pieces."
    )
    assert facts(text) == {
        ("quest", "Rescue Bjorn", "giver", "Hilda"),
        ("quest", "Rescue Bjorn", "goal", "rescue Bjorn from the Sunken Temple"),
        ("quest", "Rescue Bjorn", "place", "Sunken Temple"),
        ("quest", "Rescue Bjorn", "deadline", "before the new moon"),
        ("quest", "Rescue Bjorn", "reward", "fifty gold pieces"),
    }


def test_known_names_say_what_they_are() -> None:
    """A known category beats any guess, for a part of the name and for one without a capital, too."""
    known = KnownNames(
        {"Garrick Holt": "PC", "The Gilded Goose": "LOC", "silver key": "ITEM", "Gloom": "FAC"}
    )
    assert ("character", "Garrick", "status", "missing") in facts("Garrick is missing.", known=known)
    assert ("npc", "Mira", "place", "Gilded Goose") in facts("Mira is in the Gilded Goose.", known=known)
    assert ("item", "silver key", "holder", "Mira") in facts("Mira takes the silver key.", known=known)
    assert ("faction", "Gloom", "leader", "Mira") in facts("Mira leads the Gloom.", known=known)


def test_a_known_name_is_found_in_a_longer_one() -> None:
    """`Captain Sildar` is the Sildar whom the campaign knows; who has another name besides may not be."""
    known = KnownNames({"Sildar": "NPC"})
    assert ("npc", "Sildar", "status", "missing") in facts("Captain Sildar is missing.", known=known)
    longer = ("npc", "Sildar Hallwinter", "status", "missing")
    assert longer in facts("Sildar Hallwinter is missing.", known=known)
