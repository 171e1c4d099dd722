"""After any edits, cuts, swipes and branches, memory is that of the chat as it is now."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interop.history.chat_client import ChatClient

from dndbots.campaign import Campaign
from dndbots.errors import SequenceConflict
from dndbots.interop.history.chat_history import Followed
from dndbots.interop.history.messages import ChatMessage
from dndbots.testing import as_text, assert_perspective, memory_campaign, perceivers

CHAT = "The Mill"


def memory_of(campaign: Campaign) -> dict[str, str]:
    """Everything that each viewer remembers, as text."""

    def views(viewer: str) -> list[Any]:
        return [
            campaign.context(viewer, 1_500),
            campaign.timeline(viewer=viewer, last=1_000),
            campaign.entities(viewer=viewer),
            campaign.threads(viewer),
            campaign.recall(viewer, "Who owes silver, and where is the key?"),
            campaign.memory(viewer),
        ]

    return {viewer: as_text(views(viewer)) for viewer in perceivers(campaign)}


def fresh(messages: list[ChatMessage]) -> Campaign:
    campaign = memory_campaign()
    campaign.chat(CHAT).follow(messages)
    return campaign


def contents(campaign: Campaign) -> list[str]:
    return [event.content for event in campaign.events(viewer="dm")]


def said(*texts: str, by: str = "Zara") -> list[ChatMessage]:
    return [ChatMessage(by, text, role="pc", is_user=True) for text in texts]


# The law.


@given(seed=st.integers(0, 2**32), steps=st.integers(1, 20))
def test_memory_is_that_of_the_chat_as_it_is_now(seed: int, steps: int) -> None:
    """A chat that was followed all along, and one that is imported once, are remembered alike."""
    client, campaign = ChatClient(random.Random(seed)), memory_campaign()
    for _ in range(steps):
        client.act()
        before, old = contents(campaign), campaign.branch
        followed = campaign.chat(CHAT).follow(client.messages)
        assert contents(campaign) == [message.text for message in client.messages]
        assert campaign.branch == old
        if followed.branch is not None:
            with campaign.another_branch(followed.branch) as kept:
                assert contents(kept) == before
    assert memory_of(campaign) == memory_of(fresh(client.messages))
    assert campaign.verify() == []


@given(seed=st.integers(0, 2**32))
def test_a_window_is_enough(seed: int) -> None:
    """A client that sends its newest messages only, with rerolls in between, is followed as well."""
    rng = random.Random(seed)
    client, campaign = ChatClient(rng), memory_campaign()
    people = {"Zara": "pc", "Throk": "npc", "Mira Vale": "npc", "Old Hob": "npc"}
    chat = campaign.chat(CHAT, people=people)
    for _ in range(rng.randint(2, 12)):
        rerolls = rng.randint(0, 2)
        client.say()
        if client.messages[-1].is_user:
            client.messages.append(client._message(is_user=False))
        for _ in range(rerolls):
            assert chat.follow_window(client.messages[-30:-1]).change != "unrelated"
            client.swipe()
        client.messages.append(ChatMessage("Zara", client._text(), role="pc", is_user=True))
        followed = chat.follow_window(client.messages[-30:])
        assert followed.change in {"started", "appended"}
        assert contents(campaign) == [message.text for message in client.messages]
    once = memory_campaign()
    once.chat(CHAT, people=people).follow_window(client.messages)
    assert memory_of(campaign) == memory_of(once)
    assert campaign.branches()[1:] == []


# Each change by itself.


def test_new_messages_are_appended() -> None:
    """The same chat again changes nothing."""
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    assert chat.follow(said("one", "two")) == Followed("started", added=2)
    assert chat.follow(said("one", "two")) == Followed("unchanged", kept=2)
    assert chat.follow(said("one", "two", "three")) == Followed("appended", kept=2, added=1)
    assert contents(campaign) == ["one", "two", "three"]


def test_an_edit_is_followed_and_what_was_is_kept() -> None:
    """The messages after it keep their ids, so a pin on one of them stays."""
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    chat.follow(said("one", "two", "three"))
    pinned = list(campaign.events(viewer="dm"))[2].event_id
    campaign.pin(pinned)
    followed = chat.follow(said("one", "TWO", "three"))
    assert followed == Followed("edited", kept=1, added=2, replaced=1, branch="main.undone-1", carried=1)
    assert contents(campaign)[:3] == ["one", "TWO", "three"]
    assert pinned in as_text(campaign.gates("dm")._asdict())
    with campaign.another_branch("main.undone-1") as kept:
        assert contents(kept)[:3] == ["one", "two", "three"]


def test_a_cut_goes_back() -> None:
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    chat.follow(said("one", "two", "three"))
    assert chat.compare(said("one")).change == "cut"
    assert chat.follow(said("one")).change == "cut"
    assert contents(campaign) == ["one"]
    assert chat.follow([]).change == "cut"
    assert contents(campaign) == []


def test_swipes_are_kept_beside_and_never_remembered() -> None:
    campaign = memory_campaign()
    reply = ChatMessage("Hob", "The heron flies.", role="npc", alternatives=("A kraken!", "The heron flies."))
    campaign.chat(CHAT).follow([*said("What is it?"), reply])
    assert list(campaign.chat(CHAT).alternatives().values()) == [["A kraken!", "The heron flies."]]
    for viewer in perceivers(campaign):
        assert campaign.recall(viewer, "kraken").no_record
    assert "kraken" not in memory_of(campaign)["pc_zara_001"]
    assert "kraken" not in "".join(campaign.export(viewer="Zara"))


def test_other_chats_and_play_are_carried_over() -> None:
    """An edit in one chat takes along all that came after it from elsewhere, in its order."""
    campaign = memory_campaign()
    campaign.chat("one").follow(said("a1", "a2"))
    campaign.chat("two").follow(said("b1"))
    campaign.import_transcript([{"speaker": "Zara", "text": "played"}])
    followed = campaign.chat("one").follow(said("a1", "a2!", "a3"))
    assert (followed.carried, followed.lost) == (2, 0)
    assert contents(campaign) == ["a1", "a2!", "a3", "b1", "played"]
    assert campaign.chat("two").follow(said("b1")).change == "unchanged"
    assert campaign.verify() == []


def test_summaries_of_the_old_past_stay_behind() -> None:
    """A summary that was made of an edited message is not carried over; a new one can be made."""
    campaign = memory_campaign()
    messages = said(*(f"The bell rang {n} times." for n in range(60)))
    campaign.chat(CHAT).follow(messages)
    campaign.compress("Zara")
    assert campaign.memory("Zara").long_term_summary
    campaign.chat(CHAT).follow([*said("The bell is broken."), *messages[1:]])
    assert not campaign.memory("Zara").long_term_summary
    assert memory_of(campaign) == memory_of(fresh([*said("The bell is broken."), *messages[1:]]))


def test_somebody_new_perceives_the_whole_chat() -> None:
    """Everybody who speaks in a chat perceives all of it, however it was followed."""
    campaign = memory_campaign()
    campaign.chat(CHAT).follow(said("one"))
    both = [*said("one"), *said("two", by="Throk")]
    campaign.chat(CHAT).follow(both)
    assert [event.content for event in campaign.events(viewer="Throk")] == ["one", "two"]
    assert memory_of(campaign) == memory_of(fresh(both))


def test_a_name_is_told_again_where_an_edit_took_its_first_mention() -> None:
    """The messages after an edit are not copied as they were if somebody was introduced in it."""
    campaign = memory_campaign()
    messages = [*said("one"), *said("two", "three", "four", by="Throk"), *said("five")]
    campaign.chat(CHAT).follow(messages)
    del messages[1]
    campaign.chat(CHAT).follow(messages)
    assert campaign.entity("Throk", viewer="Zara").uid == "pc_throk_001"
    assert memory_of(campaign) == memory_of(fresh(messages))


def test_only_witnesses_perceive_a_whisper() -> None:
    campaign = memory_campaign()
    whisper = ChatMessage("Zara", "The key is false.", role="pc", witnesses=("Throk",))
    messages = [*said("one"), whisper, *said("two", by="Throk"), *said("three", by="Mira")]
    campaign.chat(CHAT).follow(messages)
    assert "The key is false." not in [event.content for event in campaign.events(viewer="Mira")]
    assert_perspective(campaign, lambda table, viewer: [*table.export(viewer=viewer)])


def test_a_writer_who_comes_first_wins(tmp_path: Path) -> None:
    """If somebody else appends during a rewrite, nothing changes."""
    with Campaign.open(tmp_path / "campaign") as campaign, campaign.another() as other:
        campaign.chat(CHAT).follow(said("one", "two"))

        def meddle(_done: int, _total: int) -> None:
            other.import_transcript([{"speaker": "Zara", "text": "Me first.", "id": "first"}])

        with pytest.raises(SequenceConflict):
            campaign.chat(CHAT).follow(said("uno", "two"), progress=meddle)
        assert contents(campaign) == ["one", "two", "Me first."]
        assert campaign.chat(CHAT).follow(said("uno", "two")).change == "edited"
        assert contents(campaign) == ["uno", "two", "Me first."]
        assert campaign.verify() == []


# Windows.

LONG = (
    "The ferryman counts the coins twice, nods at the far shore, and pushes off without another word to us."
)


def test_a_reply_is_provisional_until_the_next_message() -> None:
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    reply = ChatMessage("Hob", "Welcome.", role="npc")
    assert chat.follow_window([*said("Hello."), reply]) == Followed("started", added=1, provisional=1)
    assert contents(campaign) == ["Hello."]
    other = ChatMessage("Hob", "Go away.", role="npc")
    assert chat.follow_window([*said("Hello."), other]).change == "unchanged"
    followed = chat.follow_window([*said("Hello."), other, *said("Why?")])
    assert (followed.change, followed.added) == ("appended", 2)
    assert contents(campaign) == ["Hello.", "Go away.", "Why?"]
    assert chat.follow_window([*said("Hello."), other, *said("Why?"), reply], settled=True).added == 1


def test_an_edit_further_back_forks() -> None:
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    texts = [f"{n} silver coins lie on the table." for n in range(50)]
    chat.follow_window(said(*texts))
    texts[30] = "The table is empty."
    followed = chat.follow_window(said(*texts[20:], "And now?"))
    assert (followed.change, followed.replaced, followed.added) == ("edited", 20, 21)
    assert contents(campaign) == [*texts, "And now?"]


def test_small_differences_are_tolerated_and_flagged() -> None:
    """Scripts of a client may alter texts on their way. Other names or numbers are edits."""
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    chat.follow_window(said("*I wait.*", LONG, "Good."))
    altered = LONG.replace("nods at", "looks at")
    followed = chat.follow_window(said("I wait.", altered, "Good.", "We land."))
    assert (followed.change, followed.added) == ("appended", 1)
    assert [near.now for near in followed.near] == ["I wait.", altered]
    assert contents(campaign) == ["*I wait.*", LONG, "Good.", "We land."]
    edit = LONG.replace("ferryman", "Ferryman Odo")
    assert chat.follow_window(said("I wait.", edit, "Good.", "We land.")).change == "edited"


def test_nothing_is_guessed() -> None:
    """Messages that have nothing to do with the chat change nothing; nor does a chance match."""
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    texts = ["Yes.", *(f"We walk {n} miles." for n in range(40))]
    chat.follow_window(said(*texts))
    assert chat.follow_window(said("Summarise the story so far.")).change == "unrelated"
    assert chat.follow_window(said("Yes.")).change == "unrelated"
    assert chat.follow_window(said("Yes.", "Describe a picture.")).change == "unrelated"
    assert contents(campaign) == texts
    # An injected "Yes." before a window is not the one at the beginning.
    assert chat.follow_window(said("Yes.", *texts[-5:], "On.")).change == "appended"
    assert contents(campaign) == [*texts, "On."]


def test_the_same_words_twice_are_two_messages() -> None:
    campaign = memory_campaign()
    chat = campaign.chat(CHAT)
    chat.follow_window(said("Yes.", "Yes."))
    chat.follow_window(said("Yes.", "Yes.", "Yes."))
    assert contents(campaign) == ["Yes.", "Yes.", "Yes."]
