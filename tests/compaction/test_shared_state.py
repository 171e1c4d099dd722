"""The shared state: no update is lost, no batch is seen in halves, and the newest evidence wins."""

import random
import sys
import threading
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import HANG

from dndbots.compaction.data.models import (
    MOST_EARLIER,
    Believed,
    CampaignData,
    CharacterInfo,
    Earlier,
    EnvironmentInfo,
    NPCInfo,
    StatedValue,
)
from dndbots.compaction.shared_state import SharedStateManager
from dndbots.errors import DuplicateEvent, UpdateRefused
from dndbots.extraction.port import Turn, Update

ROLES = "smith guard thief priest miller scout baker hunter farmer sailor".split()  # noqa: SIM905
PEOPLE = ["Mirela", "Aldwin", "Grimfang", "Bellara", "Corvin"]
TURNS = [
    Turn(f"t{n}", "DM", "dm", f"{name} is the {role} now, and a friend of Throk.")
    for n, (name, role) in enumerate((name, role) for role in ROLES for name in PEOPLE)
]
DATA = CampaignData(
    characters={"pc_throk_001": CharacterInfo(uid="pc_throk_001", name="Throk")},
    npcs={"npc_mirela_001": NPCInfo(uid="npc_mirela_001", name="Mirela", aliases=("the Red",))},
)


def update(turn: Turn, field: str = "role", value: str = "", **more: Any) -> Update:
    name, _, _, role = turn.text.split(" ")[:4]
    fields = {"kind": "npc", "name": name, "field": field, "value": value or role, "turn": turn.id, **more}
    return Update.model_validate(fields)


def new_state(*turns: Turn, data: CampaignData = DATA) -> SharedStateManager:
    return SharedStateManager(data, turns or TURNS)


def told(number: int, text: str, speaker: str = "DM") -> Turn:
    return Turn(f"e{number}", speaker, "dm" if speaker == "DM" else "pc", text)


def say(state: SharedStateManager, turn: Turn, name: str, field: str, value: str, **more: Any) -> None:
    kind = more.pop("kind", "npc")
    fields = {"kind": kind, "name": name, "field": field, "value": value, "turn": turn.id, **more}
    state.apply(Update.model_validate(fields))


def by_name(data: CampaignData) -> dict[str, tuple[Any, ...]]:
    """Return the current values without uids, which depend on the order of introduction."""
    names = {uid: info.name for uid, info in data.entities().items()}
    return {
        info.name: tuple(
            (
                key,
                [names[uid] for uid in fact.value] if isinstance(fact.value, list) else fact.value,
                fact.since,
            )
            for key, fact in info.facts.items()
        )
        for info in data.entities().values()
    }


# Conflicts


def test_newer_evidence_wins_and_the_older_is_kept() -> None:
    """The value of the later turn stands, and what was so before is kept with its time."""
    first, second = told(1, "Mirela is a smith."), told(2, "Mirela is a thief.")
    state = new_state(first, second)
    say(state, first, "Mirela", "role", "smith")
    say(state, second, "Mirela", "role", "thief")
    fact = state.snapshot().npcs["npc_mirela_001"].facts["role"]
    assert fact == StatedValue(value="thief", since="e2", earlier=(Earlier(value="smith", since="e1"),))


def test_late_news_of_old_turns_never_beats_newer_truth() -> None:
    """Also not when it is longer."""
    first, second = told(1, "Mirela is a smith of great and lasting fame."), told(2, "Mirela is a thief.")
    state = new_state(first, second)
    say(state, second, "Mirela", "description", "thief")
    say(state, first, "Mirela", "description", "smith of great and lasting fame")
    fact = state.snapshot().npcs["npc_mirela_001"].facts["description"]
    assert (fact.value, fact.since) == ("thief", "e2")
    assert [earlier.since for earlier in fact.earlier] == ["e1"]


def test_what_was_known_before_is_older_unless_its_turn_is_known() -> None:
    """Data of an earlier compaction yields to new turns, and not to older ones."""
    first, second, third = (
        told(n, f"Mirela is a {what}.") for n, what in enumerate(["smith", "thief", "scout"])
    )
    npc = NPCInfo(uid="npc_mirela_001", name="Mirela", facts={"role": StatedValue(value="thief", since="e1")})
    state = SharedStateManager(CampaignData(npcs={npc.uid: npc}), [first, second, third])
    say(state, first, "Mirela", "role", "smith")
    assert state.snapshot().npcs[npc.uid].facts["role"].value == "thief"
    say(state, third, "Mirela", "role", "scout")
    assert [one.value for one in state.snapshot().npcs[npc.uid].facts["role"].earlier] == ["thief", "smith"]


def test_within_a_turn_the_later_update_wins() -> None:
    """A turn may take itself back."""
    turn = told(1, "Mirela is a smith. No, Mirela is a thief.")
    state = new_state(turn)
    say(state, turn, "Mirela", "role", "smith")
    say(state, turn, "Mirela", "role", "thief")
    assert state.snapshot().npcs["npc_mirela_001"].facts["role"].value == "thief"


def test_same_value_again_changes_nothing() -> None:
    """It was so already, and since when it is does not change."""
    first, second = told(1, "Mirela is a smith."), told(2, "Mirela is a Smith.")
    state = new_state(first, second)
    say(state, first, "Mirela", "role", "smith")
    before, version = state.snapshot(), state.version
    say(state, second, "Mirela", "role", "Smith")
    assert (state.snapshot(), state.version) == (before, version)
    assert len(state.accepted) == 2


def test_earlier_values_are_bounded() -> None:
    """The newest few are kept; the log has the others."""
    state = new_state()
    mine = [turn for turn in TURNS if turn.text.startswith("Mirela")]
    for turn in mine:
        state.apply(update(turn))
    fact = state.snapshot().npcs["npc_mirela_001"].facts["role"]
    assert fact.value == ROLES[-1]
    assert [one.value for one in fact.earlier] == ROLES[-2 : -2 - MOST_EARLIER : -1]


def test_belief_never_becomes_a_fact() -> None:
    """A player's claim is kept as a belief, beside the facts."""
    fact, claim = told(1, "Mirela is a smith."), told(2, "I say Mirela is a thief.", "Throk")
    state = new_state(fact, claim)
    say(state, claim, "Mirela", "role", "thief")
    assert state.snapshot().npcs["npc_mirela_001"].facts == {}
    say(state, fact, "Mirela", "role", "smith")
    mirela = state.snapshot().npcs["npc_mirela_001"]
    assert mirela.facts["role"].value == "smith"
    assert mirela.believed == (
        Believed(key="role", value="thief", by=("pc_throk_001",), said_by="pc_throk_001", since="e2"),
    )


def test_what_has_ended_is_so_no_longer() -> None:
    """A tie that ends leaves the others; a role that ends leaves none."""
    first = told(1, "Mirela is a smith, a friend of Throk and of Aldwin.")
    second = told(2, "Mirela is no longer a smith, and no friend of Throk.")
    state = new_state(first, second)
    say(state, first, "Mirela", "role", "smith")
    for friend in ("Throk", "Aldwin"):
        say(state, first, "Mirela", "friend", friend)
    assert state.snapshot().npcs["npc_mirela_001"].facts["friend"].value == ["pc_throk_001", "npc_aldwin_001"]
    say(state, second, "Mirela", "role", "smith", ended=True)
    say(state, second, "Mirela", "friend", "Throk", ended=True)
    facts = state.snapshot().npcs["npc_mirela_001"].facts
    assert list(facts) == ["friend"]
    assert facts["friend"].value == ["npc_aldwin_001"]


def test_abilities_are_listed_too() -> None:
    """An ability is listed until it ends."""
    first, second = told(1, "Mirela can pick locks."), told(2, "Mirela can no longer pick locks.")
    state = new_state(first, second)
    say(state, first, "Mirela", "ability", "pick locks", kind="ability")
    assert state.snapshot().npcs["npc_mirela_001"].abilities == ("pick locks",)
    say(state, second, "Mirela", "ability", "pick locks", kind="ability", ended=True)
    assert state.snapshot().npcs["npc_mirela_001"].abilities == ()


# Names


def test_uids_are_minted_and_never_taken_from_an_update() -> None:
    """Somebody new gets the next uid; the same one named again is the same."""
    turn = told(1, "Aldwin the priest is a brother of Corvin. Aldwin is old.")
    state = new_state(turn)
    say(state, turn, "Aldwin", "brother", "Corvin")
    say(state, turn, "Aldwin", "role", "priest")
    data = state.snapshot()
    assert set(data.npcs) == {"npc_mirela_001", "npc_aldwin_001", "npc_corvin_001"}
    assert data.npcs["npc_aldwin_001"].facts["brother"].value == ["npc_corvin_001"]
    with pytest.raises(UpdateRefused) as refused:
        say(state, turn, "npc_aldwin_001", "role", "priest")
    assert refused.value.rule == "text"


def test_alias_and_one_word_of_a_longer_name_are_known() -> None:
    """The Red is Mirela; Thorn is Aldwin Thorn, as long as there is only one."""
    thorn = NPCInfo(uid="npc_aldwin_001", name="Aldwin Thorn")
    other = NPCInfo(uid="npc_berta_001", name="Berta Thorn")
    rock = EnvironmentInfo(uid="loc_rock_001", name="Gull Rock")
    turn = told(1, "Thorn is a priest. The Red is a smith. Rock is old.")
    data = CampaignData(npcs={**DATA.npcs, thorn.uid: thorn}, environments={rock.uid: rock})
    state = SharedStateManager(data, [turn])
    say(state, turn, "Thorn", "role", "priest")
    say(state, turn, "The Red", "role", "smith")
    assert state.snapshot().npcs[thorn.uid].facts["role"].value == "priest"
    assert state.snapshot().npcs["npc_mirela_001"].facts["role"].value == "smith"
    both = SharedStateManager(CampaignData(npcs={thorn.uid: thorn, other.uid: other}), [turn])
    with pytest.raises(UpdateRefused, match="'Aldwin Thorn', 'Berta Thorn'"):
        say(both, turn, "Thorn", "role", "priest")


def test_a_player_character_is_not_made_by_talk() -> None:
    """Only who takes a turn as one is a player character, and nobody is two things."""
    turn, other = told(1, "Zara is a thief. Throk is a smith."), told(2, "I am a thief.", "Zara")
    state = new_state(turn, other)
    with pytest.raises(UpdateRefused, match="no player character is called 'Zara'"):
        say(state, turn, "Zara", "role", "thief", kind="character")
    with pytest.raises(UpdateRefused, match="'Throk' is a PC already"):
        say(state, turn, "Throk", "role", "smith")
    say(state, other, "Zara", "role", "thief", kind="character")
    assert state.snapshot().characters["pc_zara_001"].believed[0].said_by == "pc_zara_001"


def test_a_turn_is_what_it_was() -> None:
    """The same turn again is nothing new; another one under its id is refused."""
    state = new_state()
    state.add_turns(TURNS)
    with pytest.raises(DuplicateEvent):
        state.add_turns([TURNS[0]._replace(text="something else")])


# Batches


class Stop(Exception):
    pass


def apply_all(state: SharedStateManager, *updates: Update, stops: bool = False) -> None:
    """A batch that may raise at its end."""
    with state.batch():
        for one in updates:
            state.apply(one)
        if stops:
            raise Stop


def test_batch_that_raises_leaves_nothing() -> None:
    """People, facts, claims and names are as before; what was refused is still counted."""
    state = new_state()
    before = state.snapshot()
    with pytest.raises(UpdateRefused):
        apply_all(state, update(TURNS[1]), update(TURNS[1], value="dragon"))
    assert (state.snapshot(), state.version, state.accepted) == (before, 0, ())
    assert state.rejected.counts == {"unsupported": 1}
    assert state.apply(update(TURNS[1])).subject.uid == "npc_aldwin_001"


def test_inner_batch_is_a_part_of_the_outer() -> None:
    """It becomes visible with the outer one; if it raises and that goes on, only the inner is undone."""
    state = new_state()
    with state.batch():
        state.apply(update(TURNS[0]))
        with pytest.raises(Stop):
            apply_all(state, update(TURNS[1]), stops=True)
        apply_all(state, update(TURNS[2]))
        assert state.version == 0
    assert state.version == 1
    assert [one.subject.name for one in state.accepted] == ["Mirela", "Grimfang"]


def test_outer_batch_undoes_the_inner() -> None:
    """Nothing of an inner batch that went well is left if the outer one raises."""
    state = new_state()

    def outer() -> None:
        with state.batch():
            apply_all(state, update(TURNS[3]))
            raise Stop

    with pytest.raises(Stop):
        outer()
    assert state.version == 0
    assert "npc_bellara_001" not in state.snapshot().npcs


def test_snapshot_is_kept_by_whoever_took_it() -> None:
    """A snapshot never changes afterwards."""
    state = new_state()
    state.apply(update(TURNS[0]))
    before = state.snapshot()
    text = before.model_dump_json()
    state.apply(update(TURNS[5]))
    state.apply(update(TURNS[1]))
    assert before.model_dump_json() == text != state.snapshot().model_dump_json()


numbers = st.lists(st.integers(0, len(TURNS) - 1), max_size=12)


@given(st.lists(st.tuples(numbers, st.booleans()), max_size=6))
def test_batches_that_fail_might_as_well_not_have_been(batches: list[tuple[list[int], bool]]) -> None:
    """The state after any batches is that of the batches that did not raise."""
    state, without = new_state(), new_state()
    for given_turns, fails in batches:
        updates = [update(TURNS[number]) for number in given_turns]
        updates += [update(TURNS[number], "friend", "Throk") for number in given_turns]
        with suppress(Stop):
            apply_all(state, *updates, stops=fails)
        for one in updates if not fails else ():
            without.apply(one)
    assert state.snapshot() == without.snapshot()
    assert state.accepted == without.accepted


@given(st.permutations(range(len(TURNS))).flatmap(lambda every: st.tuples(st.just(every[:20]), st.randoms())))
def test_order_of_arrival_does_not_matter(drawn: tuple[list[int], random.Random]) -> None:
    """The same updates, each on a turn of its own, come to the same whenever they arrive."""
    chosen, chance = drawn
    shuffled = chance.sample(chosen, len(chosen))
    states = []
    for order in (chosen, shuffled):
        state = new_state()
        for number in order:
            state.apply(update(TURNS[number]))
            state.apply(update(TURNS[number], "friend", "Throk"))
        states.append(by_name(state.snapshot()))
    assert states[0] == states[1]


# Threads


def run(*workers: Any) -> None:
    """All at once, taking turns as often as can be; what one of them raises is raised here."""
    failed: list[BaseException] = []
    start, interval = threading.Barrier(len(workers)), sys.getswitchinterval()

    def guarded(work: Any) -> None:
        try:
            start.wait(HANG)
            work()
        except BaseException as exc:  # noqa: BLE001 - it is raised below
            failed.append(exc)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in workers]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)
    if failed:
        raise failed[0]


def test_eight_threads_lose_no_update() -> None:
    """Every update is there, and the state is that of applying them one after the other, as accepted."""
    crowd = [
        Turn(f"c{n}", "DM", "dm", f"{''.join(parts)} is the smith now, and a friend of Throk.")
        for n, parts in enumerate(
            product(("Bor", "Kel", "Zan", "Mur"), ("dak", "vin", "gor", "lek"), "aeiouy")
        )
    ]
    state = new_state(*TURNS, *crowd)

    def writer(seed: int) -> Any:
        def work() -> None:
            for turn in random.Random(seed).sample(TURNS, 20) + crowd[seed::8]:
                state.apply(update(turn))
                apply_all(state, update(turn, "friend", "Throk"), update(turn, "status"))

        return work

    run(*(writer(seed) for seed in range(8)))
    assert len(state.accepted) == (8 * 20 + len(crowd)) * 3
    assert len(state.snapshot().npcs) == len(PEOPLE) + len(crowd)
    serial = new_state(*TURNS, *crowd)
    for accepted in state.accepted:
        assert serial.apply(accepted.update) == accepted
    assert serial.snapshot() == state.snapshot()


def test_readers_never_see_half_of_a_batch() -> None:
    """Two people change together in every batch, of which some fail; readers see both or neither."""
    state = new_state()
    done = threading.Event()
    pairs = [(TURNS[n], TURNS[n + 1]) for n in range(0, len(TURNS), 5)]

    def writer() -> None:
        chance = random.Random(7)
        try:
            for _ in range(100):
                first, second = chance.choice(pairs)
                with suppress(Stop):
                    apply_all(state, update(first), update(second), stops=chance.random() < 0.3)
        finally:
            done.set()

    def reader() -> None:
        seen = 0
        while not done.is_set() or not seen:
            facts = by_name(state.snapshot())
            seen += 1
            mirela, aldwin = facts.get("Mirela", ()), facts.get("Aldwin", ())
            assert [value for _, value, _ in mirela] == [value for _, value, _ in aldwin]
            assert len(state.accepted) % 2 == 0

    run(writer, reader, reader)
    assert state.version > 0
