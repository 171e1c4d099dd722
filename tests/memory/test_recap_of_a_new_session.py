"""Which session a recap is of, when another one has just begun."""

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
