"""Fights with groups of foes: everybody counts those whom they see, and a group dies with its last."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.sandbox import GOBLINS, MILL, ROAD, Sandbox
from tests.storage.writers import IS_LONG

from dndbots.canon import claims
from dndbots.errors import ActRefused
from dndbots.game.acts import Act, Verb
from dndbots.game.referee import end_fight
from dndbots.ids import DM

DEEDS = [Verb.ATTACK, Verb.ATTACK, Verb.ATTACK, Verb.CAST, Verb.FLEE, Verb.SAY]


def deed(sandbox: Sandbox, who: str, verb: Verb) -> Act:
    """Something to do in a fight, or on the way back into one."""
    place = sandbox.table.place(who)
    if place == ROAD:
        return Act(verb=Verb.GO, what="the mill door", words="Back!")
    if verb is Verb.CAST:
        return Act(verb=verb, what=next(iter(sandbox.table.spells(who)), None), words="Now!")
    if verb is Verb.FLEE:
        return Act(verb=verb, what="the road", words="Away!")
    return Act(verb=verb, target=GOBLINS if verb is Verb.ATTACK else None, words="Ha!")


def check_counts(sandbox: Sandbox) -> None:
    """Canon and table agree on the foes, for everybody, and the living at the fight know all of it."""
    fight = sandbox.table.fights.get(MILL)
    for who in (DM, *sandbox.party):
        table = sandbox.tables[who]
        if table.fact(GOBLINS, claims.NUMBER) is None:
            continue
        known = sandbox.campaign.entity(GOBLINS, viewer=who)
        assert known.properties["number"] == table.fact(GOBLINS, claims.NUMBER), who
        assert (known.alive, known.location) == (table.alive(GOBLINS), table.place(GOBLINS)), who
        assert known.alive == (known.properties["number"] > 0)
        assert known.alive == ("killed_by" not in known.properties)
        if fight is not None and (who == DM or who in sandbox.table.together(MILL)):
            assert known.properties["number"] == fight.foes[GOBLINS].number, who
            assert known.location == MILL


@settings(max_examples=2_000 if IS_LONG else 12)
@given(
    seed=st.integers(1, 10_000),
    number=st.integers(1, 7),
    acts=st.lists(st.lists(st.sampled_from(DEEDS), min_size=4, max_size=4), min_size=1, max_size=5),
    ends=st.sampled_from(["fled", "talked", None]),
)
def test_whoever_sees_a_fight_knows_how_many_are_left(
    seed: int, number: int, acts: list[list[Verb]], ends: str | None
) -> None:
    """Through blows, spells, flights and returns: one fewer for each that falls, dead only at none."""
    sandbox = Sandbox(seed)
    sandbox.fight(number)
    check_counts(sandbox)
    for wanted in acts:
        verbs = dict(zip(sandbox.party, wanted, strict=True))
        sandbox.rest_of_round(lambda sandbox, who, verbs=verbs: deed(sandbox, who, verbs[who]))
        check_counts(sandbox)
        sandbox.dm()
    if ends is not None and MILL in sandbox.table.fights:
        step = sandbox.step("end")
        end_fight(step, MILL, how=ends, text="It is over.")
        sandbox.commit(step)
        check_counts(sandbox)
        assert sandbox.campaign.entity(GOBLINS, viewer=DM).location is None
        for who in sandbox.table.together(MILL):
            try:
                sandbox.act(who, Act(verb=Verb.ATTACK, target=GOBLINS, words="And another!"))
            except ActRefused:
                continue
            raise AssertionError("who is gone was attacked")
    assert sandbox.campaign.verify() == []
