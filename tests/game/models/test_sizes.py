"""Questions to models stay short, whatever was said, also outside the prompt."""

from tests.game.models.tables import PASK, Walker, begun, calling, played_by

from dndbots.game.acts import Act, Verb
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_npcs import MOST_TOKENS as TO_PEOPLE
from dndbots.game.models.scene_text import MOST_DM_TOKENS as SCENE
from dndbots.game.models.scene_text import MOST_PLAYER_TOKENS as AROUND
from dndbots.game.models.scene_text import clip_line, fit_text
from dndbots.llm.protocol import Answer, Question
from dndbots.testing import ScriptedVoice
from dndbots.tokens import count_tokens

# A token for every letter, and more.
LONG = "\u9f98\u9750\u9f49\u7228\u9c7b" * 900
NAMES = ("Odo", "Brin", "Tessel", "Marl", "Quenby", "Ansel", "Hob", "Wim", "Corvin", "Lusa")


def crowded(question: Question) -> Answer:
    """A DM who fills a scene with people, and talks without an end."""
    told = question.text.partition(", round ")[2].partition("\n")[0]
    person = {
        "name": NAMES[int(told) % len(NAMES)],
        "looks": LONG[:70],
        "role": LONG[:80],
        "wants": LONG[:900],
    }
    made = calling(question, "introduce_npc", **person).calls
    speaks = calling(question, "speak_as", npc="Pask", gist=LONG[:240]).calls
    clock = calling(question, "set_clock", threat=LONG[:240], rounds=1).calls
    return Answer(words=LONG, calls=(*made, *speaks, *clock), model="double")


def test_no_question_to_the_dm_or_to_people_is_long() -> None:
    """People who never stop talking, in a script with a token for every letter, among a crowd."""
    dm, people = ScriptedVoice(crowded), ScriptedVoice(LONG)
    game = begun(dm=ModelDM(dm, npcs=people), player=Walker(), seats=4)
    acts = [Act(verb=Verb.ASK, target=PASK, what="news", words=LONG[:2_000])] * 4
    names = [game.table.name(uid).split()[0] for uid in game.table.living()]
    game.cast = type(game.cast)(dm=game.cast.dm, player=Walker(**dict(zip(names, acts, strict=True))))
    game.play(9)
    assert len(dm.questions) >= 9
    assert people.questions
    for voice, most in ((dm, SCENE), (people, TO_PEOPLE)):
        asked = [count_tokens(one.text) for one in voice.questions]
        assert most / 3 < max(asked) <= most
    assert all("What do you, " in one.text for one in people.questions)
    assert "SINCE YOUR LAST WORD HERE" in dm.questions[-1].text


def test_no_question_to_a_player_is_long() -> None:
    """However the people and places around a character are called."""
    game, voice = played_by("Hm.", seats=2)
    game.cast = type(game.cast)(dm=ModelDM(ScriptedVoice(crowded)), player=game.cast.player)
    game.play(9)
    asked = [count_tokens(one.text) for one in voice.questions]
    assert AROUND / 3 < max(asked) <= AROUND + 40  # and what is wanted of it
    assert all("YOU CAN: " in one.text for one in voice.questions)


def test_what_fits_is_told_at_length_and_the_rest_in_short() -> None:
    """The first length that does; the shortest, where none does."""
    tried: list[int] = []

    def told(longest: int) -> str:
        tried.append(longest)
        return "word " * longest

    assert count_tokens(fit_text(told, (400, 90, 10), most=100)) <= 100
    assert tried == [400, 90]
    assert fit_text(told, (400, 90), most=5) == told(90)
    assert clip_line("a  b\nc", 9) == "a b c"
    assert clip_line("a long line", 6) == "a lon…"
