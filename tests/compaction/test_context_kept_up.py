"""A context kept up from turn to turn equals one made anew, with compactions in between."""

from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compaction.readers import ELENA, THROK, Says, says, table, told
from tests.compaction.test_perspective import AtRandom, proposals, told_in_words
from tests.logs import PCS, logs, played
from tests.memory.test_laws import some

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.testing import as_text, memory_campaign

steps = st.lists(st.sampled_from(["", "rules", "random", "forget", "review"]), min_size=2, max_size=5)


def contexts(campaign: Campaign) -> list[str]:
    found = []
    for viewer in (DM, *PCS[:2]):
        for budget in (300, 1500):
            with suppress(DndbotsError):
                found.append(as_text(campaign.context(viewer, budget)))
    return found


def cold(campaign: Campaign) -> list[str]:
    """Return the same campaign with empty caches."""
    return contexts(Campaign(campaign._store.another(), branch=campaign.branch))


def take(campaign: Campaign, step: str, number: int, drawn: Any) -> None:
    match step:
        case "rules":
            campaign.compact()
        case "random":
            campaign.compact(extractor=AtRandom(drawn))
        case "review":
            campaign.compact(extractor=AtRandom(drawn), review=True)
            for one in campaign.proposals()[:2]:
                with suppress(DndbotsError):
                    campaign.accept(one.id)
        case "forget":
            events = list(campaign.events(viewer=DM))
            with suppress(DndbotsError):
                campaign.forget(events[-1 - number % len(events)].event_id)


@settings(max_examples=some(25))
@given(logs(most=10), steps, proposals)
def test_what_was_followed_is_what_is_found(log: list[GameEvent], between: list[str], drawn: Any) -> None:
    """Byte for byte, after every turn and every compaction."""
    campaign = played(memory_campaign(), [])
    for number, one in enumerate(told_in_words(log)):
        with suppress(DndbotsError):
            campaign.record(one)
        assert contexts(campaign) == cold(campaign)
        take(campaign, between[number % len(between)], number, drawn)
        assert contexts(campaign) == cold(campaign)


def test_what_was_read_stands_in_the_context_of_who_heard_of_it() -> None:
    """A person named in the newest turn is in the context, even if nobody met them lately."""
    campaign = table(told("a", "Elena is the smith of Oakhurst, and fears wolves.", witnesses=[THROK]))
    campaign.compact(
        extractor=Says(says("a", "Elena", "role", "smith"), says("a", "Elena", "fears", "wolves"))
    )
    for number in range(60):
        campaign.record(told(f"t{number}", "Throk walks on.", participants=[THROK], witnesses=[]))
    campaign.record(told("z", "You hear Elena call.", participants=[THROK], witnesses=[]))
    text = campaign.context(THROK, 1500).text
    assert "wolves" in text
    assert contexts(campaign) == cold(campaign)
    campaign.forget("a")
    assert "wolves" not in campaign.context(THROK, 1500).text
    assert campaign.entity(ELENA, viewer=THROK).name == "Elena"


def test_what_was_told_before_the_newest_lines_is_still_known() -> None:
    """A person not mentioned for long stays in the context while there is room."""
    campaign = table(told("a", "Garth is a smith."), *(told(f"t{n}", "It rains.") for n in range(100)))
    campaign.compact(extractor=Says(says("a", "Garth", "role", "smith")))
    (item,) = [
        one for one in campaign.context(THROK, 1000).items if "Garth" in one.text and one.section == "known"
    ]
    assert (item.text, item.reason, item.sources) == ("Garth::role->smith", "mentioned earlier", ("a",))
