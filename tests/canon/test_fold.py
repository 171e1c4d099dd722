"""The fold of claims: newer truth wins, a lie never beats a fact, and late news changes no newer truth."""

from hypothesis import given
from hypothesis import strategies as st

from dndbots.canon.claims import CertaintyRank, Claim, HeldClaim
from dndbots.canon.fold import SlotValue, claim_history, find_party, settle_claims, value_after


def held(
    value: object, *, at: int, seq: int | None = None, sure: CertaintyRank = CertaintyRank.FACT
) -> HeldClaim:
    fields = dict.fromkeys(HeldClaim._fields)
    return HeldClaim(
        **{
            **fields,
            "subject": "npc_elena_001",
            "slot": "mood",
            "value": value,
            "certainty": sure,
            "holders": 1,
            "at": at,
            "seq": at if seq is None else seq,
            "n": 0,
        }
    )


def settled(*claims: HeldClaim) -> list[object]:
    return [one.value for one in settle_claims(claims, lambda _claim, _seq: 0)]


@given(st.permutations(range(1, 7)))
def test_the_newest_fact_wins_in_whatever_order_claims_come(order: list[int]) -> None:
    """A fold does not depend on the order in which rows are read."""
    assert settled(*(held(f"mood {at}", at=at) for at in order)) == ["mood 6"]


def test_late_news_of_an_old_turn_does_not_beat_newer_truth() -> None:
    """A claim counts from the turn it speaks of, not from the moment it was extracted."""
    assert settled(held("angry", at=5), held("calm", at=2, seq=9)) == ["angry"]


def test_a_newer_belief_stands_beside_the_fact() -> None:
    """The fact stays; an older belief is gone."""
    assert settled(held("angry", at=5), held("calm", at=7, sure=CertaintyRank.BELIEF)) == ["angry", "calm"]
    assert settled(held("angry", at=5), held("calm", at=3, sure=CertaintyRank.RUMOR)) == ["angry"]


def test_history_names_what_superseded_a_claim() -> None:
    """Nothing is overwritten: each claim knows the next one that is at least as certain."""
    old, rumor, new = held("calm", at=1), held("mad", at=2, sure=CertaintyRank.RUMOR), held("angry", at=3)
    history = claim_history([new, old, rumor])
    assert [(one.claim.value, one.superseded_by and one.superseded_by.value) for one in history] == [
        ("calm", "angry"),
        ("mad", "angry"),
        ("angry", None),
    ]


def test_amounts_add_up() -> None:
    """Counting slots start where the game starts them."""
    values: dict[str, object] = {"gold": 5}
    assert value_after(Claim("pc_zara_001", "+gold", -2), values.get) == SlotValue("gold", 3)
    assert value_after(Claim("mon_rats_001", "+number", -1), values.get).value == 0
    assert value_after(Claim("pc_zara_001", "mood", "calm"), values.get) == SlotValue("mood", "calm")


def test_the_party_is_who_is_stated_else_every_character_alive() -> None:
    """One rule, for the witnesses of an event and for the table."""
    everybody = ["pc_a_001", "pc_b_001", "pc_c_001"]
    assert find_party([], lambda: everybody, "pc_b_001".__eq__) == ["pc_a_001", "pc_c_001"]
    assert find_party(["pc_b_001", "pc_c_001"], lambda: everybody, "pc_b_001".__eq__) == ["pc_c_001"]
