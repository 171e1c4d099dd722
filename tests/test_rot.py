"""The benchmark of memory: its stories, its questions and its judge, and a short run of our own memory."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from bench.rot.__main__ import tell_stages
from bench.rot.environments import Environment, known_systems, requirements_of
from bench.rot.model_answers import answer_all
from bench.rot.questions import Known, _unclear_names, ask_questions
from bench.rot.report import write_report
from bench.rot.run import Stage, measure, merge_stages, started
from bench.rot.score import judge, quotes
from bench.rot.story import Story
from bench.rot.transcripts import read_stage

from dndbots.llm.protocol import Answer, Hear, Question

TURNS, QUESTIONS = 400, 60


@pytest.fixture(scope="module")
def story() -> Story:
    made = Story(3)
    assert len(list(made.take(TURNS))) == TURNS
    return made


def run(system: str) -> list[Stage]:
    with started(system, Environment(python=Path(sys.executable))) as worker:
        return measure(worker, tell_stages(3, [TURNS], QUESTIONS), 500, lambda _: None)


def run_ours(tmp_path: Path) -> tuple[list[Stage], Path]:
    environment = Environment(python=Path(sys.executable))
    stages = run("dndbots")
    return stages, write_report(tmp_path, {"dndbots": stages}, {"dndbots": environment}, {"seeds": 3}, {})


def test_the_same_seed_tells_the_same_story(story: Story) -> None:
    """Lines, hearers and claims depend on the seed alone."""
    again = Story(3)
    list(again.take(TURNS))
    assert (again.lines, again.hearers, again.claims) == (story.lines, story.hearers, story.claims)


def test_an_answer_stands_in_a_line_that_its_viewer_perceived(story: Story) -> None:
    """Every question can be answered from one line, or no line that the viewer perceived tells it."""
    questions = ask_questions(story, TURNS, 200, seed=3)
    assert {"fact", "secret", "never told"} <= {known.kind for known in questions}
    for known in questions:
        heard = [
            f"{line['speaker']}: {line['text']}".casefold()
            for line, hearers in zip(story.lines, story.hearers, strict=True)
            if known.viewer in hearers
        ]
        tells = [text for text in heard if any(value.casefold() in text for value in known.values)]
        assert bool(tells) is bool(known.values), known
        for value in known.hidden:
            assert not any(
                value.casefold() in text and any(name.casefold() in text for name in known.names)
                for text in heard
            ), known


def test_nobody_is_asked_for_whose_name_stands_in_another() -> None:
    """Sister Rhea may be Rhea or not; Otto Stone is nobody else."""
    story = Story(3)
    list(story.take(20))
    for name in ("Rhea", "Sister Rhea", "Otto Stone"):
        story.lines[0] |= {"speaker": name}
        story.claims[0] = replace(story.claims[0], names=story.claims[0].names | {name}, turn=1)
    unclear = _unclear_names(story, 20)
    assert {"Rhea", "Sister Rhea"} <= unclear
    assert "Otto Stone" not in unclear


def test_a_thing_has_a_name_of_its_own(story: Story) -> None:
    """However long the story, no two things that are hidden or promised share a name."""
    names = [story._fresh("things") for _ in range(300)]
    assert len(set(names)) == len(names)


def test_a_store_for_all_leaks() -> None:
    """The control shows that the leak figure can be other than zero."""
    (stage,) = run("everybody")
    assert stage.tally.share("leaked") > 0.5


def test_stories_are_merged_with_all_their_answers_and_costs() -> None:
    """Shares are those of all questions; costs are those of all lines."""
    stages = [Stage(turns=100, add_cpu=1.0, size=10), Stage(turns=100, add_cpu=3.0, size=30)]
    (merged,) = merge_stages([[stage] for stage in stages])
    assert (merged.lines, merged.add_cpu, merged.size) == (200, 4.0, 40)


KNOWN = Known(
    number=1,
    viewer="Zara",
    text="Where is Bodo now?",
    kind="changed",
    names=("Bodo",),
    values=("Coldmoor",),
    older=("Oakhurst",),
    hidden=("the Pale Crypt",),
)


@pytest.mark.parametrize(
    ("text", "refused", "figures"),
    [
        (
            "DM: Bodo went to Coldmoor.",
            False,
            {"found": True, "stale": False, "leaked": False, "refused": False},
        ),
        ("DM: Bodo is in Oakhurst.", False, {"found": False, "stale": True, "leaked": False}),
        ("DM: Bodo hides in the Pale Crypt.", False, {"found": False, "leaked": True}),
        ("DM: Bodo waves.\nDM: The Pale Crypt is cold.", False, {"leaked": False}),
        ("", True, {"found": False, "refused": True}),
        ("DM: Bodo went to Coldmoorish.", False, {"found": False}),
        ("DM: Bodo waves.\nDM: Coldmoor is cold.", False, {"found": False}),
        ("DM: Bodo left Oakhurst.\nDM: Bodo is in Coldmoor.", False, {"stale": False, "both": True}),
    ],
)
def test_an_answer_is_judged_by_what_stands_in_it(
    text: str,
    refused: bool,  # noqa: FBT001 - a case
    figures: dict[str, bool],
) -> None:
    """Found, stale, leaked and refused are told apart."""
    verdict = judge(KNOWN, text, refused=refused, tokens=5, cpu=0.0)
    assert {name: getattr(verdict, name) for name in figures} == figures


def test_nothing_to_answer_makes_every_answer_an_invention() -> None:
    """Where there is no record, silence is right and anything else is not."""
    nobody = Known(number=1, viewer="Zara", text="Who is Marchetto?", kind="never told", names=("Marchetto",))
    said = judge(nobody, "DM: It rains.", refused=False, tokens=5, cpu=0.0)
    assert (said.invented, said.found, said.refused) == (True, None, None)
    assert judge(nobody, "No record.", refused=True, tokens=2, cpu=0.0).invented is False


def test_six_words_of_a_passage_are_a_quotation() -> None:
    """A passage of real play is found by its own words; a short one proves nothing."""
    passage = "So we walk down to the mill, slowly, and knock."
    assert quotes("MATT: …walk down to the mill, slowly…", [passage])
    assert not quotes("MATT: We walk to the mill.", [passage])
    assert not quotes("MATT: Yeah.", ["Yeah."])


def test_our_answers_are_the_same_bytes_in_every_run(tmp_path: Path) -> None:
    """Two runs give the same answers, nothing leaks, no budget is passed, and the report is written."""
    stages, report = run_ours(tmp_path / "first")
    _, again = run_ours(tmp_path / "second")
    assert (report.parent / "dndbots.json").read_bytes() == (again.parent / "dndbots.json").read_bytes()
    assert not stages[-1].failure
    assert stages[-1].over_budget == 0
    assert stages[-1].tally.share("leaked") == 0.0
    assert "| dndbots |" in report.read_text()
    assert (report.parent / "recall-by-age.svg").read_text().startswith("<svg")
    answered = answer_all(_Quoting(), {"dndbots": stages})["dndbots"]
    assert answered.right == pytest.approx(stages[-1].tally.share("found"), abs=0.05)


class _Quoting:
    """A model that repeats its notes."""

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:  # noqa: ARG002 - the protocol
        return Answer(words=question.text.partition("Question from")[0])


def test_a_transcript_is_asked_with_a_file_of_questions(tmp_path: Path) -> None:
    """Lines keep their ids, evidence becomes passages, and everybody in a session perceives a line."""
    lines = tmp_path / "s01.jsonl"
    lines.write_text('{"id": "a", "speaker": "Zara", "text": "I hid the key under the altar stone."}\n')
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "Where is the key?", "viewer": "Zara", "evidence": ["a"]}\n')
    read, (known,) = read_stage([lines], questions, None)
    assert read[0]["witnesses"] == ["Zara", "dm"]
    assert (known.viewer, known.passages, known.age) == ("Zara", ("I hid the key under the altar stone.",), 1)


def test_every_system_says_what_it_needs_and_what_it_is() -> None:
    """Ours comes first; peers are read without being loaded."""
    systems = known_systems()
    assert systems[:4] == ["dndbots", "newest", "bm25", "everybody"]
    assert all(requirements_of(system) for system in systems[4:])
