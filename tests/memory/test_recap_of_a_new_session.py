"""The session of a recap when a new one has just begun."""

from tests.table import event

from dndbots.testing import memory_campaign


def test_a_session_that_has_only_begun_is_not_retold() -> None:
    """With a title or without, `Previously on` is about the session that was played before."""
    for title in ("", "The Mill"):
        campaign = memory_campaign([event("evt_1", "pc_zara_001", "I creep into the cave.")])
        before = campaign.recap("Zara").text
        campaign.start_session("s02", title=title)
        assert campaign.recap("Zara").session == "s01"
        assert campaign.recap("Zara").text == before
        assert campaign.recap("Zara", "s02").session == "s02"
        campaign.record(event("evt_2", "pc_zara_001", "I light a torch.", session="s02"))
        assert campaign.recap("Zara").session == "s02"


def test_a_session_that_was_gone_on_with_is_retold_whole() -> None:
    """Asked for by name, all of it is told, and nothing of what was played in between."""
    log = [
        ("e1", "Wolves howl at the moon.", "s01"),
        ("e2", "Bandits ride over the hill.", "s02"),
        ("e3", "Goblins dance around the fire.", "s01"),
    ]
    campaign = memory_campaign(
        event(name, "dm", text, participants=["pc_zara_001"], session=session) for name, text, session in log
    )
    text = campaign.recap("Zara", "s01").text
    assert "howl" in text
    assert "dance" in text
    assert text.index("howl") < text.index("dance")
    assert "ride" not in text


def test_what_came_before_a_session_that_was_gone_on_with_is_left_over() -> None:
    """The second part is what is being played; the first, and what lies between, is summarised."""
    log = [
        ("e1", "Wolves howl at the moon.", "s01"),
        ("e2", "Bandits ride over the hill.", "s02"),
        ("e3", "Goblins dance around the fire.", "s01"),
    ]
    campaign = memory_campaign(
        event(name, "dm", text, participants=["pc_zara_001"], session=session) for name, text, session in log
    )
    campaign.remember()
    assert campaign.carried("Zara").ids == ("e3",)
    assert campaign.carried("dm").ids == ("e3",)
