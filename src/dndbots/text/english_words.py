"""Lists of English words: words without content, everyday words, and words that are always capitalised.

The stop list is `STOP_WORDS`. A text in another language has no word of these lists, and is still read.
"""

from typing import Final

# The index never holds these words. Stored campaigns have been indexed without them, so the list is fixed:
# a word taken out of it would be found in new lines only.
_INDEX_TEXT = (
    "a about after again all also am an and any are as at back be because been before being but by can "
    "could did do does down each few for from get go going gonna got had has have he her here hey him "
    "his how i if in into is it its just let like ll m me more most my no not now of off oh ok okay on "
    "one only or other our out over own re s said so some such t than that the their them then there "
    "these they this those through to too under until up us ve very was we well were what when where "
    "which while who why will with would yeah yes you your"
)
# Words of the table and of talk, beyond those of the index: frequent in play, and without content.
_TALK_TEXT = (
    "able acrobatics action actually ah already alright always another anybody anything arcana around ask "
    "athletics attack away awesome been begin begins bit bonus both came cant charisma check come comes "
    "coming constitution cool course damage damn dc deception dexterity dice didnt dm does doesnt doing "
    "done dont else even ever every everything feel feels feet felt fine first foot fuck fucking gets "
    "getting god goes gone good gotta great guess guy guys hes hit hits hmm huh id ill im initiative "
    "insight intelligence intimidation investigation isnt ive jesus keep kind kinda know lets little look "
    "looked looking looks lot made make many maybe mean means minus modifier much natural need never nice "
    "nope nothing perception persuasion please plus point points pretty probably put puts really right "
    "roll rolled rolling rolls round same save saving say says see she shes shit should someone something "
    "sorry sort sorta start starts stealth still strength sure take tell thank thanks thats theres theyre "
    "thing things think though three throw time try trying turn two uh um use using wanna want wasnt way "
    "went were weve whats wisdom wont wow yep yet youd youll youre youve"
)
# Words that hold a sentence together. They may be added to a statement or left out of it, so a check of
# facts ignores them. It does not ignore `STOP_WORDS`: "attack" and "strength" matter in a fact.
_FUNCTION_TEXT = """
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
_EVERYDAY_TEXT = """
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
# Words that have capitals without being a name.
_CAPITALISED_TEXT = """
    i dm gm npc npcs pc pcs hp ac xp gp sp cp ok elven elvish dwarven dwarvish orcish draconic infernal
    celestial abyssal undercommon monday tuesday wednesday thursday friday saturday sunday
"""

INDEX_STOP_WORDS: Final = frozenset(_INDEX_TEXT.split())
STOP_WORDS: Final = INDEX_STOP_WORDS | frozenset(_TALK_TEXT.split())
FUNCTION_WORDS: Final = frozenset(_FUNCTION_TEXT.split())
EVERYDAY_WORDS: Final = FUNCTION_WORDS | frozenset(_EVERYDAY_TEXT.split())
CAPITALISED_WORDS: Final = frozenset(_CAPITALISED_TEXT.split())
