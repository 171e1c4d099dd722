"""The cache of a viewer: the same answers as a fresh start, whatever happens between two contexts."""

from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import Any

import pytest
from tests.memory.context.test_context import BOTH, CRYPT, MILL, THROK, ZARA, assert_sound, fact
from tests.table import event

from dndbots import Campaign
from dndbots.canon.entities import Entity
from dndbots.errors import StoreUnavailable
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM
from dndbots.memory.context import ViewerCache, fit_context, sections, viewer_cache
from dndbots.storage.views.view import View
from dndbots.testing import as_text, memory_campaign

WAR = "qst_war_001"
ANNA, BERT, RAT, CART = "npc_anna_001", "npc_bert_001", "mon_rat_001", "item_cart_001"
VIEWERS = (DM, *BOTH)
Happening = dict[str, Any]


def look(campaign: Campaign) -> dict[tuple[str, int], str]:
    found = {}
    for viewer in VIEWERS:
        for budget in (300, 1500):
            context = campaign.context(viewer, budget)
            assert_sound(context)
            found[viewer, budget] = as_text(context)
    return found


def fresh(campaign: Campaign) -> Campaign:
    """The same campaign, of which nothing is at hand."""
    return Campaign(campaign._store.another(), branch=campaign.branch)


@pytest.fixture
def table() -> Campaign:
    campaign = memory_campaign()
    people = [*BOTH, ANNA, BERT]
    campaign.record(event("e0", DM, "You meet.", location=MILL, participants=people, discovered=[CRYPT]))
    return campaign


def idle(number: int) -> list[Happening]:
    """So many lines in which nothing happens."""
    return [{"text": f"Throk waits, and counts to {n}.", "participants": [THROK]} for n in range(number)]


def happenings(row: list[Happening]) -> Iterator[GameEvent]:
    for number, one in enumerate(row):
        rest = dict(one)
        text, source = rest.pop("text", "So it goes."), rest.pop("source", DM)
        kind = rest.pop("kind", EventType.DM_NARRATION)
        yield event(f"h{number}", source, text, kind=kind, **rest)


promise: Happening = {
    "source": ANNA,
    "text": "I promise you a horse.",
    "kind": EventType.DIALOGUE,
    "location": MILL,
    "participants": [*BOTH, ANNA],
}
at_crypt: Happening = {"subject": ANNA, "op": "@", "object": CRYPT}
crowd = [f"mon_bat_{n:03d}" for n in range(1, 60)]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            [
                {"location": MILL, "participants": [RAT], "witnesses": [THROK], "told_to": [ZARA]},
                *idle(50),
            ],
            id="somebody is seen while others are told of it",
        ),
        pytest.param(
            [promise, *idle(30), {"participants": BOTH, "facts": [fact(ANNA, "number", 0)]}],
            id="somebody with whom something is open turns out to be dead",
        ),
        pytest.param(
            [
                {"participants": BOTH, "facts": [fact(THROK, "friends", ["npc_yan_001", "npc_zoe_001"])]},
                {"participants": [*BOTH, "npc_zoe_001"]},
            ],
            id="somebody is met of whom there was only talk",
        ),
        pytest.param(
            [{"participants": BOTH, "location": CART}],
            id="somebody is at what is no place",
        ),
        pytest.param(
            [
                {"participants": [*BOTH, ANNA], "same_as": {BERT: ANNA}, "facts": [fact(ANNA, "hp", 3)]},
                {"participants": [ANNA, THROK], "location": MILL},
                {"participants": [BERT, *crowd], "witnesses": [ZARA], "location": CRYPT},
            ],
            id="somebody is seen under another uid",
        ),
        pytest.param(
            [
                {"participants": BOTH, "facts": [at_crypt]},
                {"participants": BOTH, "location": MILL, "valid_from": "e0", "facts": [fact(ANNA, "hp", 2)]},
                {
                    "participants": BOTH,
                    "facts": [{"subject": ANNA, "op": "@", "object": CRYPT, "ended": True}],
                },
                {"participants": [THROK], "witnesses": [ZARA], "location": MILL, "enemies": [ANNA]},
            ],
            id="a place is stated, ends, and is seen",
        ),
        pytest.param(
            [{"participants": BOTH, "location": MILL, "loot": ["rope"]}, {"names": {"fac_party_001": "We"}}],
            id="the party gets another name",
        ),
        pytest.param(
            [
                {"participants": BOTH, "facts": [fact(THROK, "friends", ["npc_yan_001"])]},
                {"participants": BOTH, "text": "Yan the Tall and Old Zoe are coming."},
                {"participants": BOTH, "names": {"npc_zoe_001": ["Zoe", "Old Zoe"]}},
                {"participants": [*BOTH, "npc_yan_001"], "names": {"npc_yan_001": "Yan the Tall"}},
                {"participants": BOTH, "same_as": {ANNA: BERT}, "location": MILL},
                {"participants": [*BOTH, ANNA], "names": {ANNA: "Bertha"}, "location": MILL},
            ],
            id="names are given to new people, to those only talked of, and to one of two who are one",
        ),
        pytest.param(
            [
                {"participants": [*BOTH, ANNA], "location": CRYPT},
                {"participants": [*BOTH, ANNA], "location": CART},
                {"participants": [*BOTH, ANNA], "location": MILL},
            ],
            id="somebody goes to and fro",
        ),
        pytest.param(
            [
                {"participants": [*BOTH, ANNA], "quest_id": WAR, "quest_state": "offered", "location": MILL},
                {
                    "participants": BOTH,
                    "facts": [fact(WAR, "goal", "Ring the bell."), fact(WAR, "giver", ANNA)],
                },
                *idle(2),
                {"participants": BOTH, "names": {ANNA: "Anna Reed", WAR: "The Bell War"}},
                {"participants": BOTH, "facts": [fact(ANNA, "looks", "a woman with a limp")]},
                {"participants": BOTH, "facts": [fact(MILL, "looks", "Flour lies on all of it.")]},
                {"participants": BOTH, "quest_id": WAR, "quest_state": "accepted"},
                {"participants": BOTH, "quest_id": WAR, "quest_state": "completed"},
            ],
            id="a quest goes on, and its giver gets another name",
        ),
    ],
)
@pytest.mark.parametrize("most", [2_048, 2], ids=["all is at hand", "little is"])
def test_whatever_happens_between_two_contexts(
    table: Campaign, row: list[Happening], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for after each event, a context is the one that a fresh start gives, byte for byte."""
    monkeypatch.setattr(viewer_cache, "_MOST_KNOWN", most)
    for one in happenings(row):
        look(table)
        table.record(one)
    assert look(table) == look(fresh(table))


def test_what_has_not_changed_is_not_described_again(
    table: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context after a new event reads again only what the event says something of."""
    described: list[str] = []
    for describe in (sections.describe_quest, sections.describe_place):
        monkeypatch.setattr(sections, describe.__name__, _noting(described, describe))
    quest: Happening = {"participants": BOTH, "quest_id": WAR, "quest_state": "offered", "location": MILL}
    looks: Happening = {"participants": BOTH, "facts": [fact(MILL, "looks", "Flour lies on all of it.")]}
    for number, one in enumerate([quest, looks, *idle(2), quest | {"quest_state": "accepted"}]):
        del described[:]
        table.record(next(happenings([one])).model_copy(update={"event_id": f"q{number}"}))
        assert "war" in table.context(THROK, 600).text.casefold()
        assert (WAR in described) == (one.get("quest_id") == WAR)
        assert (MILL in described) <= (one not in idle(2))


def _noting(described: list[str], describe: Callable[..., Any]) -> Callable[..., Any]:
    def noted(entity: Entity, *rest: Any, **more: Any) -> Any:
        described.append(entity.uid)
        return describe(entity, *rest, **more)

    return noted


def test_what_is_at_hand_does_not_grow_with_the_campaign(
    table: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many people and places one has to do with, no more than so many are kept."""
    monkeypatch.setattr(viewer_cache, "_MOST_KNOWN", 50)
    for number in range(200):
        somebody, place, name = f"npc_one_{number:03d}", f"loc_one_{number:03d}", f"Ulla {_word(number)}"
        names = {somebody: name, place: f"{_word(number)}'s Mill"}
        told = f"{name} promises you a horse at {_word(number)}'s Mill."
        seen: Happening = {"location": place, "participants": [*BOTH, somebody], "names": names}
        kind, session = EventType.LOCATION_CHANGE, f"s{number // 2:02d}"
        table.record(event(f"e{number + 1}", DM, told, kind=kind, session=session, **seen))
        table.context(THROK, 600)
    (found,) = (one for (viewer, _), one in table._memory._caches.items() if viewer == THROK)
    sizes = {name: len(value) for name, value in vars(found).items() if isinstance(value, dict | set)}
    assert max(sizes.values()) < 200, sizes
    assert look(table) == look(fresh(table))


def _word(number: int) -> str:
    """A word of its own for each number."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:03d}").capitalize()


def test_a_round_of_events_is_taken_in_at_once(table: Campaign) -> None:
    """However many events lie between two contexts, it is the one that a fresh start gives."""
    look(table)
    table.record_many(
        happenings(
            [
                promise,
                {"participants": [*BOTH, ANNA, RAT], "location": CRYPT},
                {
                    "participants": [ANNA, RAT],
                    "witnesses": BOTH,
                    "location": MILL,
                    "facts": [fact(RAT, "hp", 2)],
                },
                {"participants": BOTH, "names": {ANNA: "Anna Reed"}, "facts": [fact(ANNA, "hp", 5)]},
                {"participants": [*BOTH, ANNA], "location": CRYPT},
                *idle(6),
            ]
        )
    )
    assert look(table) == look(fresh(table))


def test_what_was_said_in_quotation_marks_is_kept_in_them(table: Campaign) -> None:
    """A vow is a sentence of a longer speech, and "I" is not the reader."""
    said = '"Agreed. I swear to you that we come back. If not, may my beer be warm."'
    for one in happenings([{"source": THROK, "text": said, "participants": BOTH}, *idle(30)]):
        table.record(one)
    kept = [item.text for item in table.context(THROK, 300).items if item.section == "open"]
    assert kept == ['Throk: "I swear to you that we come back."']


def test_what_the_party_gets_is_told_by_its_name(table: Campaign) -> None:
    """Loot without a named holder goes to the party, and readers see its name, not a uid."""
    table.record(event("e1", DM, "Treasure!", participants=BOTH, loot=["rope", {"gold": 5}]))
    assert "Party got a rope and 5 gold." in table.context(THROK, 500).text


def test_nothing_is_open_with_the_dead_under_any_uid(table: Campaign) -> None:
    """A promise of somebody who turned out to be another is over when that other dies."""
    for one in happenings([promise, *idle(30), {"participants": BOTH, "same_as": {ANNA: BERT}}]):
        table.record(one)
    assert "open" in {item.section for item in table.context(THROK, 300).items}
    table.record(event("e1", DM, "He dies.", participants=BOTH, killed=[BERT]))
    assert "open" not in {item.section for item in table.context(THROK, 300).items}


def test_a_view_that_is_behind_gets_what_it_had(table: Campaign) -> None:
    """A view from before an event gets the context of that time, and no line stands twice."""
    one = ViewerCache("cl100k_base")
    with table.view(THROK) as before:
        table.record(event("e1", DM, "A bell rings.", participants=BOTH))
        with table.view(THROK) as after:
            assert texts(after, one) == texts(after, ViewerCache("cl100k_base"))
            assert texts(before, one) == texts(before, ViewerCache("cl100k_base"))
            assert texts(after, one) == texts(after, ViewerCache("cl100k_base"))


def texts(view: View, following: ViewerCache) -> str:
    return as_text(fit_context(view, following, budget=600, query=None, encoding="cl100k_base"))


def test_a_failure_on_the_way_leaves_nothing_half_told(
    table: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failure of the store, the cache is built again."""
    look(table)
    table.record(event("e1", DM, "A bell rings.", session="s02", participants=BOTH))

    def broken(_view: View) -> dict[str, int]:
        raise StoreUnavailable("somewhere", reason="gone")

    with monkeypatch.context() as patched:
        patched.setattr(View, "sessions", broken)
        with pytest.raises(StoreUnavailable):
            table.context(THROK, 600)
    assert look(table) == look(fresh(table))


def test_many_ask_while_one_records(table: Campaign) -> None:
    """Each gets what was so at some moment, and the last what is so now."""
    found: list[tuple[str, str]] = []
    faults: list[BaseException] = []
    over = Event()

    def ask(viewer: str) -> None:
        try:
            while not over.is_set():
                found.append((viewer, as_text(table.context(viewer, 400))))
        except BaseException as exc:  # noqa: BLE001 - told by the thread that looks
            faults.append(exc)

    threads = [Thread(target=ask, args=(viewer,)) for viewer in (*VIEWERS, *VIEWERS, THROK, DM)]
    for thread in threads:
        thread.start()
    for number in range(25):
        line = f"Line {number} of the baron."
        table.record(event(f"n{number}", DM, line, location=(MILL, CRYPT)[number % 2], participants=BOTH))
    over.set()
    for thread in threads:
        thread.join()
    assert not faults
    moments = [one.event_id for one in table.events(viewer=DM)]
    possible = {
        viewer: {as_text(fresh(table).context(viewer, 400, as_of=one)) for one in moments}
        for viewer in VIEWERS
    }
    assert all(text in possible[viewer] for viewer, text in found)
    assert look(table) == look(fresh(table))
