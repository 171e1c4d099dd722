"""Loading modules: defaults, shipped modules, and hostile files."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dndbots.errors import InvalidModule, UnknownModule
from dndbots.game.adventures import Module, list_shipped, load, load_named, yaml_lines
from dndbots.game.adventures.library import render_module

FERRY = Path(__file__).parent / "ferry.yaml"
SMALL = """\
module: {title: A Door, start: yard}
places:
  yard: {name: the Yard, exits: {a door: cell}}
  cell: {name: the Cell}
"""


def problems_of(source: Path | str) -> list[tuple[int, str, str]]:
    with pytest.raises(InvalidModule) as caught:
        load(source)
    return [tuple(problem) for problem in caught.value.problems]


def test_a_module_of_four_lines_is_a_module() -> None:
    """Everything else has a sensible default."""
    module = load(SMALL)
    assert (module.key, module.title, module.start, module.level_range) == (
        "a_door",
        "A Door",
        "yard",
        (1, 3),
    )
    assert module.places["cell"].name == "the Cell"
    assert not module.places["cell"].safe


def test_values_know_their_keys() -> None:
    """Entries know their own key; list entries are numbered after their owner."""
    module = load(FERRY)
    for filed in (module.places, module.people, module.items, module.quests, module.things, module.foes):
        assert all(value.key == key for key, value in filed.items())
    assert [saying.key for saying in module.people["maren"].knows] == ["maren_1", "maren_2", "maren_3"]
    assert [happening.key for happening in module.happenings] == ["1", "flood"]
    assert module.places["far_bank"].exits["the shed door"].label == "the shed door"
    assert module.foes_at["reavers"] == "far_bank"
    assert module.person_at == {"maren": "landing", "snik": "far_bank"}


def test_ways_back_are_made_by_themselves() -> None:
    """Named after the place, or as `back` says; without the lock, the dark reeds or the stuck hinge."""
    ways = load(FERRY).ways
    assert ways["shed"]["outside"].to == "far_bank"
    assert ways["shed"]["outside"].locked is None
    assert ways["reeds"]["Hollin Landing"].to == "landing"
    assert not ways["reeds"]["Hollin Landing"].hidden
    assert set(ways["far_bank"]) == {"the shed door", "Hollin Landing"}


@pytest.mark.parametrize("spelling", ["no", "No", "false", "FALSE"])
def test_a_way_may_lead_one_way(spelling: str) -> None:
    """`back: no` is no way back, however it is spelt."""
    module = load(SMALL.replace("a door: cell", f"a chute: {{to: cell, back: {spelling}}}"))
    assert module.ways["cell"] == {}


def test_a_written_way_back_is_not_doubled() -> None:
    """No way back is made where the other place already leads here."""
    module = load(SMALL.replace("{name: the Cell}", "{name: the Cell, exits: {out: yard}}"))
    assert set(module.ways["cell"]) == {"out"}


def test_a_way_back_is_there_while_the_way_is() -> None:
    """A drawbridge that is up is up from both sides."""
    module = load(SMALL.replace("a door: cell", "a bridge: {to: cell, when: rounds 3}"))
    assert module.ways["cell"]["the Yard"].when == "rounds 3"


def test_a_quest_begins_with_its_giver_and_ends_with_its_steps() -> None:
    """`begins` and `endings` have defaults."""
    quest = load(
        SMALL.replace("exits:", "people: [ann], exits:")
        + "people: {ann: {name: Ann, seen_as: a girl}}\n"
        + "quests: {look: {name: A Look, giver: ann, steps: {in: {text: Go in., when: visited cell}}}}\n"
    ).quests["look"]
    assert quest.begins == "met ann"
    assert {key: (end.when, end.state) for key, end in quest.endings.items()} == {
        "done": ("step look.in done", "completed")
    }


def test_an_ending_has_a_reward_of_its_own_or_the_quests() -> None:
    """The quest's reward is for all endings that do not name another."""
    quest = load(FERRY).quests["takings"]
    assert quest.reward_of(quest.endings["truth"]).gold == 20
    assert quest.reward_of(quest.endings["paid"]).gold == 30


def test_words_that_yaml_takes_for_something_else_stay_words() -> None:
    """A place called `no`, a name that is a number, a date, an hour: all are text."""
    module = load(
        "module: {title: 2024-01-01, start: 'no'}\nplaces:\n  no: {name: 12:30, looks: [yes, 010, 1e3, ~x]}\n"
    )
    assert module.title == "2024-01-01"
    assert module.places["no"].name == "12:30"
    assert module.places["no"].looks == ("yes", "010", "1e3", "~x")


def test_what_is_blank_is_not_said() -> None:
    """A field without anything behind it has its default; a person who deletes a list need not tidy up."""
    module = load(
        SMALL.replace("{name: the Cell}", "\n    name: the Cell\n    things:\n    dark:\n    looks:\n")
    )
    cell = module.places["cell"]
    assert (cell.things, cell.dark, cell.looks) == ({}, False, ())


def test_all_faults_are_told_at_once_in_the_order_of_the_text() -> None:
    """A misspelt field, a missing name, an unknown monster and an exit to nowhere, in one go."""
    text = """\
module: {title: A Door, start: yard}
places:
  yard: {name: the Yard, exits: {a door: cel}}
  cell:
    nam: the Cell
    foes: {rats: {monster: giant ratt, number: 1d}}
  crypt: {name: the Crypt, save: yes, foes: {bones: {monster: skeletn}}}
"""
    assert [(line, path) for line, path, _ in problems_of(text)] == [
        (3, "places.yard.exits.a door"),
        (4, "places.cell.name"),
        (5, "places.cell.nam"),
        (7, "places.crypt.foes.bones.monster"),
        (7, "places.crypt.save"),
    ]


def test_the_error_says_its_facts_as_fields_and_survives_a_pickle() -> None:
    """Programs read the fields; other processes get the same error."""
    with pytest.raises(InvalidModule) as caught:
        load(SMALL.replace("cell}", "cel}"))
    error = caught.value
    assert (
        str(error) == "module:3: places.yard.exits.a door: no place has the key 'cel'; did you mean 'cell'?"
    )
    assert pickle.loads(pickle.dumps(error)).problems == error.problems  # noqa: S301 - our own


def test_named_takes_a_path(tmp_path: Path) -> None:
    """A name that is not included may be a file."""
    file = tmp_path / "door.yaml"
    file.write_text(SMALL, "utf-8-sig")  # as some editors save it
    assert load_named(str(file)) == load(SMALL)


def test_a_name_that_is_nothing_is_told_what_there_is(tmp_path: Path) -> None:
    """The error names the input and the included modules."""
    for ask in (lambda: load_named("the_lost_mnie"), lambda: load(tmp_path / "the_lost_mnie")):
        with pytest.raises(UnknownModule, match="the_lost_mnie") as caught:
            ask()
        assert list(caught.value.known) == list(list_shipped())


@pytest.mark.parametrize("name", list_shipped())
def test_modules_on_board_are_sound(name: str) -> None:
    """Each loads, says under which licence it is, and goes by its title."""
    module = load_named(name)
    assert module.title == list_shipped()[name]
    assert module.licence


def test_a_folder_is_no_module(tmp_path: Path) -> None:
    """A folder is refused with a clear reason."""
    assert problems_of(tmp_path) == [(1, "file", "is not a file")]


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    """The error is ours, with the words of the system."""
    file = tmp_path / "door.yaml"
    file.write_text(SMALL, "utf-8")
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    assert problems_of(file) == [(1, "file", "Permission denied")]


def test_what_is_not_utf8_is_refused_on_its_line(tmp_path: Path) -> None:
    """A file saved in an old encoding is told how to be saved."""
    file = tmp_path / "door.yaml"
    file.write_bytes(SMALL.replace("Cell", "Zelle für").encode("latin-1"))
    assert problems_of(file) == [(4, "file", "is not UTF-8 text; save the file as UTF-8")]


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (BOMB, 2, "*a: aliases are not allowed"),
        ("a: &a\n  b: *a\n", 2, "aliases are not allowed"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "tags are not allowed"),
        ("a: !secret x\n", 1, "tags are not allowed"),
        ("\n" + "[" * 5_000, 2, "nested deeper"),
        ("\n" + "{a: " * 5_000, 2, "nested deeper"),
        ("\n" + "- " * 5_000, 2, "nested deeper"),
        ("? [a, b]\n: c\n", 1, "a key must be a word"),
        ("? {a: b}\n: c\n", 1, "a key must be a word"),
        (f"module: {{title: {'x' * yaml_lines.LARGEST_FILE}}}\n", 1, "more than 1,000,000 bytes"),
        ("module: {}\n---\nmodule: {}\n", 2, "a second document"),
        ("- a\n- b\n", 1, "a module needs `module:`"),
        ("just words\n", 1, "a module needs `module:`"),
        ("\n", 1, "a module needs `module:`"),
        ("# nothing\n", 1, "a module needs `module:`"),
        ("module:\n  title: a\x00b\n", 2, "a character that YAML forbids"),
        ("module:\n  title: \ud800\n", 2, "an invalid character"),
        ("module: 'open\n", 2, "end of stream"),
        ("module: {title: A}}\n", 1, "yaml"),
        ("a: b: c\n", 1, "mapping values are not allowed"),
    ],
)
def test_hostile_texts_are_refused(text: str, line: int, words: str) -> None:
    """No bombs, no objects, no depth, no size: a problem with its line, and nothing else."""
    (problem,) = problems_of(text)[-1:]
    assert problem[0] == line
    assert words in f"{problem[1]}: {problem[2]}"


def test_a_module_of_endless_length_is_refused() -> None:
    """A module too large to check is refused."""
    places = "".join(f"  p{n}: {{name: n{n}, exits: {{on: p{n - 1}}}}}\n" for n in range(1, 9_000))
    text = f"module: {{title: A, start: p0}}\nplaces:\n  p0: {{name: n0}}\n{places}"
    assert problems_of(text) == [
        (1, "module", "a module has at most 5,000 places, people, things and so on; split it in two")
    ]


def test_a_long_chain_of_places_is_followed_to_its_end() -> None:
    """Places are found in whatever order they are written."""
    places = "".join(f"  p{n}: {{name: n{n}, exits: {{on: p{n - 1}}}}}\n" for n in range(1, 1_000))
    text = f"module: {{title: A, start: p999}}\nplaces:\n  p0: {{name: n0}}\n{places}"
    assert len(load(text).places) == 1_000


def test_of_very_many_problems_the_first_are_told() -> None:
    """The message stays readable; the fields have all."""
    text = SMALL + "".join(f"  p{n}: {{nam: x}}\n" for n in range(300))
    with pytest.raises(InvalidModule, match="and 500 more") as caught:
        load(text)
    assert len(caught.value.problems) == 600


@pytest.mark.parametrize("part", ["module", "places", "people", "items", "quests", "happenings"])
@pytest.mark.parametrize("value", ["x", "[x]", "[[x]]", "{x: y}", "{x: [y]}", "{x: {y: {z: w}}}", "{1: 2}"])
def test_parts_of_the_wrong_shape_are_refused(part: str, value: str) -> None:
    """Any wrong shape in any part raises our error."""
    lines = [line for line in SMALL.splitlines() if line.startswith(("module", "places"))]
    kept = [line for line in lines if not line.startswith(part)]
    assert problems_of("\n".join([*kept, f"{part}: {value}", ""]).replace("places:\n", "places: {}\n"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*Module.model_fields, "looks", "exits", "knows", "when", "things", "foes", "steps"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["places", "people", "items", "quests", "happenings", "module"]))
def test_no_data_breaks_the_loader(data: Any, part: str) -> None:
    """Any tree in any part is a module or an InvalidModule, never another error."""
    whole = {"module": {"title": "A", "start": "yard"}, "places": {"yard": {"name": "the Yard"}}, part: data}
    try:
        load(yaml.safe_dump(whole, allow_unicode=True) + "\n")
    except InvalidModule as exc:
        assert exc.problems  # noqa: PT017 - either may be


@given(st.text(max_size=80))
def test_no_text_breaks_the_loader(text: str) -> None:
    """Any text is a module or an InvalidModule."""
    with pytest.raises(InvalidModule):
        load(text + "\n")


def test_a_module_is_written_as_it_is_read() -> None:
    """Text, module, text: what is written loads as the same module, defaults left out."""
    module = load(FERRY)
    text = render_module(module)
    assert load(text) == module
    assert render_module(load(text)) == text
    assert "hidden: false" not in text
    assert "key: maren\n" not in text
