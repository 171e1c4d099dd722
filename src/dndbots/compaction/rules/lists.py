"""Words that tell a blacksmith from a bridge: who does what, what people are, and what names end in.

Data, and nothing but data. A word that is missing here is a fact that goes unread, never a wrong one.
"""

from collections.abc import Iterable, Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROLES: Final = _words(
    """
    abbess abbot acolyte admiral advisor adviser adventurer agent alchemist ambassador apothecary
    arcanist archbishop archdruid archer archmage archivist armorer armourer artificer artisan assassin
    astrologer astronomer bailiff baker bandit banker barbarian barber bard barkeep barkeeper barmaid
    baron baroness barrister bartender beggar bishop blacksmith bodyguard bookseller bounty-hunter bowyer
    brewer brigand builder burglar butcher butler captain caretaker carpenter cartographer castellan
    chamberlain champion chancellor chaplain chef chief chieftain clerk cleric clothier cobbler coachman
    collector commander commandant constable cook cooper coroner corporal councillor councilor councilman
    councilwoman count countess courier courtier craftsman cultist curator cutpurse dancer deacon deputy
    diplomat doctor druid duchess duke earl elder emperor empress enchanter enchantress engineer envoy
    evoker executioner exile explorer falconer farmer farmhand fence ferryman fisherman fishmonger
    fletcher foreman forester fortune-teller friar fugitive furrier gambler god goddess gamekeeper
    gardener general gladiator glassblower goldsmith governor grocer groom guard guardian guardsman guide
    guildmaster gunsmith harbormaster harbourmaster harper headman headmaster headmistress healer heir
    heiress herald herbalist herder hermit hero heroine high-priest highwayman historian housekeeper
    hunter huntress huntsman illusionist informant innkeeper inquisitor inventor investigator jailer
    jailor jester jeweler jeweller judge justiciar king knight laborer lawyer leader leatherworker
    librarian lieutenant locksmith lord lumberjack mage magician magistrate maid marshal marshall mason
    matriarch mayor medic mercenary merchant messenger midwife miller miner minister minstrel missionary
    monk musician mystic navigator necromancer noble nobleman noblewoman nun nurse officer official
    oracle orphan outlaw overlord overseer owner page painter paladin patriarch peddler philosopher
    physician pickpocket pilgrim pirate poet porter potter preacher priest priestess prince princess
    prior prioress privateer professor prophet prophetess proprietor proprietress quartermaster queen
    ranger regent rogue ruler sage sailor scholar scientist scout scribe sculptor seamstress seer
    sentinel sergeant servant shaman shepherd shepherdess sheriff shipwright shopkeeper shopkeep singer
    slaver smith smuggler soldier soothsayer sorcerer sorceress spy spymaster squire stablehand
    stablemaster steward stonecutter stonemason storyteller student surgeon swordsman swordswoman tailor
    tanner taskmaster tavernkeeper teacher templar thane thief tinker tinkerer torturer trader tracker
    trainer trapper traitor treasurer troubadour tutor undertaker vagabond veteran vicar vintner viscount
    vizier warden warlock warlord warmaster warrior watchman weaver weaponsmith weaponmaster widow
    widower witch wizard woodcarver woodcutter woodsman coward usurper
    almoner anchorite appraiser armiger arbiter assayer assessor auctioneer auditor augur balladeer
    bargee bargeman beadle beekeeper bellringer binder boatman boatswain bodyservant bonesetter bookbinder
    bookkeeper bosun brickmaker broker bursar candlemaker cardinal cartwright castellan
    cellarer chandler charcoal-burner chatelaine cheesemonger chronicler coachwright coiner comptroller
    concierge confessor confectioner conjurer consort consul coppersmith costermonger crier crofter
    crossbowman cupbearer currier cutler dairymaid dockhand docker draper dressmaker drover dyer embalmer
    embroiderer emissary eunuch exorcist  farrier ferrywoman fiddler fishwife forager
    fortune-teller fowler fruiterer gaoler gatewarden gilder glazier gondolier goose-girl
    governess grave-digger gravedigger hangman harpist harvester hatter haymaker hayward headsman headwoman
    helmsman horse-breaker hosier hostler huckster innkeep interpreter ironmonger janitor joiner jongleur
    juggler kennelman lamplighter lapidary laundress lector lookout loremaster lutenist luthier
    majordomo man-at-arms maltster marksman master-at-arms mapmaker midshipman milkmaid
    millwright milliner moneychanger moneylender monger notary nightwatchman orator ostler outrider
    papermaker parson pardoner pawnbroker perfumer pewterer pikeman pilot plasterer ploughman plumber
    poacher portreeve postmaster poulterer prefect printer procurer provost publican puppeteer purser
    quarryman ratcatcher reaper rector reeve registrar roofer ropemaker saddler salter scavenger
    schoolmaster schoolmistress schoolteacher scullion scrivener secretary seneschal sentry sexton
    shearer shipbuilder shoemaker skipper spicer spinner stablegirl stableboy stoker
    stevedore stonecarver strongman swineherd swordmaster tapster taxidermist teamster tiler tinsmith
    tollkeeper toolmaker toymaker translator tribune trumpeter turnkey upholsterer usher valet verger
    viceroy vicereine wainwright waiter waitress washerwoman watchmaker wheelwright whaler
    whitesmith wigmaker woodturner woodworker
    """
) | {
    "stable master", "quarter master", "harbor master", "harbour master", "guild master", "sword master",
    "weapon master", "hunt master", "post master", "brew master", "spy master", "beast master", "dock master",
    "ship's master", "night watch", "second-in-command", "town crier", "high priest", "high priestess",
}  # fmt: skip
# Roles that somebody has for a god, a cause or a person.
DEVOTED: Final = _words(
    """
    acolyte agent avatar bishop bodyguard captain champion chaplain cleric commander cultist deacon druid
    envoy exile general god goddess guard guardian head heir heiress herald high-priest hunter inquisitor
    knight leader lieutenant messenger monk nun oracle page paladin priest priestess prophet prophetess
    sage scout seer servant slayer soldier spy squire student templar veteran warden warlock widow
    widower witch
    """
)
ROLE_ENDINGS: Final = ("smith", "keeper", "master", "mistress", "monger", "wright", "maker", "herd", "warden")
RACES: Final = _words(
    """
    human elf elven elvish half-elf half-elven dwarf dwarven dwarvish halfling gnome gnomish orc orcish
    half-orc tiefling dragonborn goliath aasimar genasi tabaxi kenku firbolg goblin hobgoblin bugbear
    kobold lizardfolk triton tortle drow duergar svirfneblin half-giant giant ogre troll gnoll minotaur
    centaur satyr vampire lich werewolf ghoul ghost banshee beholder dragon demon devil illithid
    githyanki githzerai changeling warforged eladrin aarakocra yuan-ti medusa naga sphinx hag fey nymph
    dryad djinn wyvern doppelganger succubus imp angel unicorn treant merfolk shifter halfling
    half-dragon harengon owlin loxodon leonin locathah grung simic hexblood dhampir reborn kalashtar
    """
) | {
    "mind flayer", "high elf", "wood elf", "dark elf", "sea elf", "moon elf", "sun elf", "wild elf",
    "hill dwarf", "mountain dwarf", "rock gnome", "forest gnome", "deep gnome", "half orc", "half elf",
}  # fmt: skip
# Those that players play.
PLAYED: Final = _words(
    """
    human elf half-elf dwarf halfling gnome orc half-orc tiefling dragonborn goliath aasimar genasi tabaxi
    kenku firbolg goblin hobgoblin bugbear kobold lizardfolk triton tortle drow changeling warforged
    """
) | {"high elf", "wood elf", "dark elf", "hill dwarf", "mountain dwarf", "rock gnome", "forest gnome"}
FOLK: Final = _words(
    "man woman boy girl gentleman lady person figure child youth fellow individual lad lass maiden"
    " teenager creature being elderly stranger"
)
LOOKS: Final = _words(
    """
    tall short old young elderly aged ancient burly gruff grizzled thin slender lean gaunt wiry stocky
    stout fat plump portly heavyset broad broad-shouldered muscular massive huge hulking towering small
    tiny little petite lanky frail hunched stooped handsome beautiful pretty ugly scarred bearded bald
    balding grey-haired gray-haired white-haired red-haired dark-haired black-haired silver-haired blond
    blonde fair-haired one-eyed one-armed pale weathered weather-beaten ruddy tattooed hooded cloaked
    robed armored armoured ragged middle-aged graying greying wrinkled toothless soft-spoken stern kindly
    cheerful friendly jovial nervous quiet grumpy surly sour shy rough rugged sharp-eyed dour proud
    haughty imposing well-dressed female male dark-skinned round round-faced red-faced cold clever sly
    cunning wizened strange local powerful famous famed renowned brave good kind wise great mysterious
    evil vicious cruel
    """
)
# What one can tell somebody by.
FEATURES: Final = _words(
    """
    accent ankle ankles apron arm arms back bandage bandages beard bearing belly birthmark
    bone bones boots braid braids brow brows burn burns cane cap cheek cheeks cheekbones chin cloak coat
    complexion crutch cuff cuffs curls dimple dimples dreadlocks ear earring earrings ears elbow elbows eye
    eyebrow eyebrows eyelid eyelids eyepatch eyes face fang fangs fingernails finger fingers forearm
    forearms forehead freckles frown furs gait gap gloves grin hair hairline hand hands hat head headscarf
    hip hips hood horns hump jacket jaw jowls kerchief knee knees knuckles leg legs limp lips lip
    lisp mane mole monocle mouth moustache mustache nail nails neck necklace nose nostrils paunch perfume
    pimples pipe ponytail pox prosthetic rags ring rings robe robes scar scarf scars shawl shoulder
    shoulders sideburns skin skull smile sneer spectacles squint stammer stature stoop stubble stump stutter
    tail tattoo tattoos teeth temple temples throat thumb thumbs toes tongue tooth topknot tunic tusk tusks
    veil voice waistcoat walk warts wart whiskers wig wrinkles wrist wrists hook patch freckle tattooed
    """
)
# How somebody may stand to others.
TEMPERS: Final = _words(
    """
    admiring adoring affectionate aggrieved aloof ambivalent amicable antagonistic approachable
    approving begrudging bitter cautious chilly contemptuous cordial deferential defiant
    devoted disapproving disdainful disillusioned dismissive distant distrustful embittered
    enamored enamoured envious evasive faithful fawning fearful forgiving friendly frosty grateful
    grudging guarded hateful helpful hostile icy indebted indifferent infatuated
    jealous loyal mistrustful neutral obliging obsequious patronising patronizing possessive
    protective reproachful resentful respectful reverent sceptical scornful skeptical smitten spiteful
    standoffish supportive suspicious sympathetic thankful trusting unforgiving unfriendly unhelpful
    vengeful vindictive wary welcoming well-disposed
    """
)
# Races that only stand before what somebody is.
ADJECTIVES: Final = _words("elven elvish dwarven dwarvish gnomish orcish half-elven fey elderly")
# Words that end the names of places, and of families.
SURNAMES: Final = _words(
    "vale hill wood woods ford field fields marsh well hall stone hammer shield blade spear"
)
# What belongs to a role, and is not merely said of whoever has it.
TRADES: Final = _words(
    """
    court high head chief master royal town village city guild retired bounty temple ship war grand
    deputy first travelling traveling customs castle market harbor harbour tax potion weapons wine horse
    fur spice cloth gem book grave rat fortune dragon monster witch treasure relic street dock caravan
    wandering disgraced crime shadow blood storm fire water light battle forest river sea border prison
    gate night day vampire demon arms trade slave herb stable kitchen palace crown lord lady elder senior
    junior apprentice self-proclaimed toll salt silk wool grain fish iron coal timber cattle sheep goat pig
    mule ship's tea coffee tobacco tulip bell candle paper ink rope oil ale beer bread cheese leather glass
    silver gold copper tin stone brick clay pot wagon cart barge boat ferry bridge road well mine mint bank
    debt rent scrap rag bone ghost beast bear wolf whale eel crab oyster pearl amber ivory antique curio art
    music dance song sword spear axe bow archery fencing language law land estate house field vice under
    assistant acting chief lead lay private public state county parish church abbey chapel cathedral army
    navy fleet militia watch night-watch siege supply pack post mail signal chart map
    """
)
# What a person is called for another person, and the field that keeps it.
KIN: Final[Mapping[str, str]] = {
    **{
        word: word
        for word in _words(
            "brother sister twin father mother son daughter husband wife uncle aunt nephew niece cousin"
            " grandfather grandmother friend rival enemy ally lover mentor apprentice employer"
        )
    },
    "half-brother": "brother",
    "half-sister": "sister",
    "twin brother": "brother",
    "twin sister": "sister",
    "nemesis": "enemy",
    "archenemy": "enemy",
    "arch-enemy": "enemy",
    "arch-rival": "rival",
    "foe": "enemy",
    "pupil": "apprentice",
    "disciple": "apprentice",
    "tutor": "mentor",
}
# Those that hold both ways, in the plural: "Tarn and Odo are brothers".
MUTUAL: Final[Mapping[str, str]] = {
    "brothers": "brother",
    "sisters": "sister",
    "twins": "twin",
    "cousins": "cousin",
    "friends": "friend",
    "rivals": "rival",
    "enemies": "enemy",
    "allies": "ally",
    "lovers": "lover",
}
RULERS: Final = _words(
    """
    mayor king queen lord lady duke duchess baron baroness count countess earl governor ruler prince
    princess emperor empress sovereign regent thane overlord chieftain burgomaster castellan
    """
)
LEADERS: Final = _words(
    "leader head chief master guildmaster commander boss founder captain general grandmaster"
)
PLACE_WORDS: Final = _words(
    """
    abbey academy alley archipelago arena barrow basin bay beach bluff bog bridge canyon capital castle
    catacombs cathedral cave cavern caverns caves cellar cemetery chapel church citadel city cliff cliffs
    cloister coast college colony continent cottage country county court cove crag crater crossing
    crossroads crypt dale deep deeps delta desert district docks dungeon empire encampment estate falls
    farm fen field fields fjord ford forest fort fortress foundry garden gardens gate glacier glade gorge
    graveyard grotto grove gulf hall halls hamlet harbor harbour haven heath heights highlands hill hills
    hold hollow hospital house inn island isle isles jungle keep kingdom labyrinth lagoon lair lake land
    lands library lighthouse lodge lookout manor manse market marsh marshes maze meadow mere metropolis
    mill mine mines moat monastery monolith moor moors mound mount mountain mountains museum necropolis
    nation oasis observatory ocean outpost palace pass path peak peaks peninsula pit plain plains plateau
    plaza point pond port prison province pyramid quarry quarter range rapids ravine reach reef region
    ridge river road ruin ruins sanctuary sanctum sea settlement sewers shire shore shrine slums spire
    spires spring springs square stockade strait street stronghold swamp tavern temple theater theatre
    throne-room tomb tower towers town trail tunnel tunnels underdark university vale valley vault vaults
    village wall warren waste wastes waterfall well wharf wilds wood woods
    downs hundreds marches fells barrens steppes steppe fens reaches shires march uplands lowlands
    """
) - {"court", "house", "pass", "point", "deep"}  # fmt: skip
# Names that begin so are places: Castle Dren, Mount Hotenow, the River Ash.
PLACE_OPENERS: Final = _words("castle mount lake fort port river isle cape camp mere lake")
FACTION_WORDS: Final = _words(
    """
    alliance army guard guards rangers knights riders band battalion brigade brotherhood cabal cartel
    church circle clan coalition college company compact conclave congregation consortium council coven
    crew cult enclave faction family fellowship gang guild hand horde house inquisition legion league
    militia network order pact society sisterhood syndicate tribe tribunal trust union watch
    covenant choir knives chapter coterie assembly synod vanguard claws fangs ravens wolves cloaks court
    """
) - {"church", "college"}  # fmt: skip
ITEM_WORDS: Final = _words(
    """
    amulet anvil armor armour arrow arrows axe ax bag banner bell blade book boots bottle bow bracelet
    bracer bracers brooch cape chain chalice charm circlet cloak codex compass crossbow crown crystal
    cube cup dagger deed diadem diamond drum egg elixir emerald eye flail flask flute gauntlet gauntlets
    gem girdle glaive gloves goblet grimoire halberd hammer harp helm helmet hood horn idol jewel key
    lamp lance lantern letter locket longbow longsword lute mace mantle map mask maul medallion mirror
    necklace orb pearl pendant phylactery pipe portrait potion quiver rapier relic ring robe rod ruby rug
    sapphire scepter sceptre scimitar scroll seal shard shield sickle signet skull spear spellbook staff
    statue statuette stone sword tablet talisman tiara tome torch trident trinket trumpet veil vial wand
    warhammer whip whistle
    """
)
# How the names of swords and the like end: Frostbrand, Lightbringer.
ITEM_ENDINGS: Final = (
    "brand", "bane", "fang", "blade", "edge", "cleaver", "biter", "splitter", "reaver", "bringer", "breaker",
    "render", "drinker", "whisper", "shard", "piercer", "cutter", "caller", "song", "weaver", "tongue",
)  # fmt: skip
TITLES: Final = _words(
    """
    abbot admiral arcanist archmage baron baroness bishop brother captain chancellor chief commander
    constable corporal count countess dame deacon doctor dr duchess duke earl elder emperor empress
    father general governor grandmaster guildmaster high inquisitor judge king lady lieutenant lord madam
    magister magistrate marshal master mayor mistress mother mr mrs ms old priestess prince princess
    professor queen ranger regent saint sergeant sheriff sir sister sovereign squire uncle warden warlord
    """
)
# Everyday words that the list of the commonest does not have, and that often open a sentence.
OPENERS: Final = _words(
    """
    yeah yep yup nope nah oh ah ooh wow hey hi hello huh hmm mmm um uh er well okay alright right sorry
    thanks please guys welcome damn shit fuck god gosh jesus christ dude man boy girl sir ma'am actually
    basically literally honestly apparently probably possibly technically exactly totally absolutely
    really anyway also plus minus unfortunately luckily suddenly finally meanwhile besides hopefully
    eventually afterwards later roll rolling perception stealth initiative insight investigation
    athletics acrobatics arcana survival persuasion deception intimidation medicine religion nature
    wisdom strength dexterity constitution intelligence charisma critical advantage disadvantage saving
    throw action bonus reaction dungeon dungeons dragons player players someone everybody everyone
    anybody nobody somebody somewhere nowhere everything whose whoever what's that's it's there's here's
    let's don't didn't doesn't isn't wasn't can't won't couldn't wouldn't shouldn't i'm i'll i've i'd
    you're you'll you've you'd he's she's he'll she'll we're we'll we've we'd they're they'll they've mm
    cool nice awesome perfect amazing sweet gotcha true false behind above below beneath across inside
    outside upon among amongst amid toward towards within using natural nat mid-day midday sunrise sunset
    dawn congratulations cheers sure fair enough correct technically wait stop look listen sense common
    damage hp ac dc npc dnd d&d twitch youtube twitter facebook google netflix geek sundry critical role
    january february march april june july august september october november december christmas halloween
    easter english spanish french german irish scottish british american russian latin monster manual
    monday tuesday wednesday thursday friday saturday sunday
    handbook folk locals sailors bards travellers travelers some many nothing meet
    """
)
# How those begin who ask for something.
ASKING: Final = _words(
    """
    retrieve recover escort rescue reclaim exorcise unmask smuggle kidnap banish investigate slay avenge
    deliver locate obtain relight fetch chase scout
    """
)
# What people are called before their names, and everyday words that are names: Granny Kerstin, Will Holt.
NICKNAMES: Final = _words(
    """
    granny widow aunt grandpa grandma goodwife cousin mad little big young will may mark rose art bill hope
    grace faith dawn hunter clay brook reed ash
    """
)
# Places and makers of this world: what is said of them is said at the table, not in the story.
REAL_WORLD: Final = _words(
    """
    america england london ireland scotland canada california texas ohio florida hollywood los angeles
    york chicago boston paris france germany spain italy japan china tokyo australia europe africa mexico
    russia netflix twitch youtube twitter facebook google amazon disney marvel backblaze loot crate
    kickstarter starbucks reddit tumblr skype hbo mtv nintendo xbox playstation star wars trek
    """
) - {"loot", "crate", "star", "wars", "trek"}  # fmt: skip


def either(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first."""
    return (
        "(?:"
        + "|".join(sorted((word.replace(" ", "[ ]") for word in words), key=lambda w: (-len(w), w)))
        + ")"
    )
