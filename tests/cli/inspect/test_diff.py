"""`dndbots diff`: two characters' knowledge side by side, for the DM."""

from pathlib import Path

from tests.cli.calling import Run
from tests.table import event

from dndbots import Campaign


def test_what_each_knows_alone(run: Run, split: Path) -> None:
    """Whom one met, what one holds and from which event, threads, and the events of each."""
    answer = run("diff", "Zara", "Throk", "-c", split)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "Zara (pc_zara_001) knows, and Throk (pc_throk_001) does not:",
        "  met",
        "    Cellar (loc_cellar_001)",
        "  holds",
        "    Elena is a traitor. [evt_4]",
        "  threads",
        "    mystery: Who bought the children?",
        "  perceived",
        "    [evt_3, s01] Zara: I search below.",
        "    [evt_4, s01] DM: Small shoes, and a letter: Elena sold them.",
        "Throk (pc_throk_001) knows, and Zara (pc_zara_001) does not:",
        "  perceived",
        "    [evt_5, s01] Throk: I wait with Elena.",
    ]


def test_where_they_disagree(run: Run, split: Path) -> None:
    """Both values stand beside each other, each with its event, inside eighty columns."""
    saint = {"subject": "npc_elena_001", "key": "role", "value": "a saint who would never harm anybody"}
    with Campaign.open(split) as campaign:
        campaign.record(event("evt_8", "dm", "She smiles.", witnesses=["pc_throk_001"], facts=[saint]))
    told = run("diff", "Zara", "Throk", "-c", split).out.splitlines()
    after = told[told.index("They disagree:") :]
    assert after[1].split() == ["Zara", "(pc_zara_001)", "Throk", "(pc_throk_001)"]
    assert "Elena is a traitor. [evt_4]" in after[3]
    assert "[evt_8]" in "".join(after[3:])
    assert max(map(len, told)) <= 80


def test_who_goes_by_two_names(run: Run, split: Path) -> None:
    """Whom one knows by more names than the other is said so."""
    with Campaign.open(split) as campaign:
        campaign.record(
            event("evt_8", "dm", "Her seal.", witnesses=["pc_zara_001"], names={"npc_elena_001": "Lady Grey"})
        )
    told = run("diff", "Zara", "Throk", "-c", split).out
    assert "  knows better\n    Lady Grey (npc_elena_001): to Throk, Elena\n" in told


def test_only_the_newest_are_shown(run: Run, split: Path) -> None:
    """--last cuts every list, and says that it did; in JSON only the events are cut."""
    told = run("diff", "dm", "Throk", "--last", "1", "-c", split).out
    assert "  perceived, 1 of 2\n    [evt_4, s01] DM:" in told
    assert "perceived, 0 of 2\n" in run("diff", "dm", "Throk", "--last", "0", "-c", split).out
    shown = run("diff", "dm", "Throk", "--last", "1", "-c", split, "--json").json
    assert (shown["a"]["lines"], len(shown["a"]["newest"])) == (2, 1)


def test_in_json_it_is_what_the_facade_answers(run: Run, split: Path) -> None:
    """One document, with every fact whole."""
    told = run("diff", "Zara", "Throk", "--as-of", "evt_4", "-c", split, "--json").json
    with Campaign.open(split) as campaign:
        assert told == campaign.diff("Zara", "Throk", as_of="evt_4").model_dump(mode="json")


def test_nobody_differs_from_himself(run: Run, split: Path) -> None:
    """That is said in a line."""
    same = "Throk (pc_throk_001) and Throk (pc_throk_001) know the same\n"
    assert run("diff", "Throk", "throk", "-c", split) == (0, same, "")


def test_what_is_refused(run: Run, split: Path) -> None:
    """Somebody whom nobody knows, or an event that is not there: one line, and exit code 1."""
    answer = run("diff", "Zara", "Nobody", "-c", split)
    assert answer == (1, "", "error: no character has the name 'Nobody'; choose Throk, Zara or dm\n")
    answer = run("diff", "Zara", "Throk", "--as-of", "evt_99", "-c", split)
    assert answer == (1, "", "error: there is no event 'evt_99' in this branch of the log\n")
    assert run("diff", "Zara", "Throk", "--last", "-1", "-c", split).code == 2
