"""Conditions: every form is parsed, answered and rendered back."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots.errors import InvalidCondition
from dndbots.game.adventures import conditions
from dndbots.game.adventures.conditions import (
    Asks,
    Both,
    Condition,
    Either,
    Not,
    holds,
    list_questions,
    parse_condition,
    render_condition,
)


@dataclass
class Told:
    """The state of play as a set of short sentences."""

    so: set[str] = field(default_factory=set)
    quests: dict[str, str] = field(default_factory=dict)
    clock: int = 0

    def found(self, key: str) -> bool:
        return f"found {key}" in self.so

    def has(self, key: str) -> bool:
        return f"has {key}" in self.so

    def visited(self, key: str) -> bool:
        return f"visited {key}" in self.so

    def at(self, key: str) -> bool:
        return f"at {key}" in self.so

    def killed(self, key: str) -> bool:
        return f"killed {key}" in self.so

    def spared(self, key: str) -> bool:
        return f"spared {key}" in self.so

    def met(self, key: str) -> bool:
        return f"met {key}" in self.so

    def heard(self, topic: str) -> bool:
        return f"heard {topic}" in self.so

    def quest(self, key: str) -> str | None:
        return self.quests.get(key)

    def step(self, quest: str | None, key: str) -> bool:
        return f"step {quest or 'any'}.{key}" in self.so

    def rounds(self) -> int:
        return self.clock

    def happened(self, key: str) -> bool:
        return f"happened {key}" in self.so


PLAIN = ["found", "has", "visited", "at", "killed", "spared", "met", "heard", "happened"]


@pytest.mark.parametrize("question", PLAIN)
def test_a_question_is_answered_by_what_happened(question: str) -> None:
    """Each kind of question asks its own kind of answer, and no other's."""
    others = {f"{other} mill" for other in PLAIN if other != question}
    assert holds(f"{question} mill", Told({f"{question} mill"}))
    assert not holds(f"{question} mill", Told(others))


@pytest.mark.parametrize(
    ("condition", "so_far", "expected"),
    [
        ("quest box accepted", Told(quests={"box": "accepted"}), True),
        ("quest box accepted", Told(quests={"box": "completed"}), False),
        ("quest box betrayed", Told(quests={"box": "betrayed"}), True),
        ("quest box refused", Told(), False),
        ("step cross done", Told({"step any.cross"}), True),
        ("step box.cross done", Told({"step box.cross"}), True),
        ("step box.cross done", Told({"step any.cross"}), False),
        ("rounds 12", Told(clock=11), False),
        ("rounds 12", Told(clock=12), True),
        ("happened 2", Told({"happened 2"}), True),
        ("heard the old mill", Told({"heard the old mill"}), True),
        ('heard "The  Old Mill"', Told({"heard the old mill"}), True),
        ("heard old order and met maren", Told({"heard old order", "met maren"}), True),
        ("not found key", Told(), True),
        ("not not found key", Told(), False),
        ("found a or found b and found c", Told({"found a"}), True),
        ("(found a or found b) and found c", Told({"found a"}), False),
        ("not (found a or found b)", Told({"found b"}), False),
        ("not found a or found b", Told({"found a", "found b"}), True),
        ("MET maren AND NOT met snik", Told({"met maren"}), True),
        ("found order or found android", Told({"found android"}), True),
        ("met a\n  or met b", Told({"met b"}), True),
    ],
)
def test_forms(condition: str, so_far: Told, expected: bool) -> None:  # noqa: FBT001 - a table
    """`and` binds closer than `or`, `not` closest; words that begin like a joining word are words."""
    assert holds(condition, so_far) is expected


def test_no_condition_always_holds() -> None:
    """No condition at all always holds."""
    assert holds(None, Told())


def test_keys_names_what_is_asked() -> None:
    """The questions come in the order of the text, each with its kind."""
    asked = list_questions(
        "met maren and (not killed reavers or quest box.x done)".replace("quest box.x", "step box.x")
    )
    assert [(one.question, one.quest, one.key) for one in asked] == [
        ("met", None, "maren"),
        ("killed", None, "reavers"),
        ("step", "box", "x"),
    ]


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        ("", 1, "the end"),
        ("found", 6, "the end"),
        ("found a and", 12, "the end"),
        ("(found a", 9, "the end"),
        ("found a)", 8, "')'"),
        ("seen a", 1, "'seen'"),
        ("found a found b", 9, "'found'"),
        ("found a & found b", 9, "'&'"),
        ("quest box", 10, "the end"),
        ("step cross", 11, "the end"),
        ("rounds many", 8, "'many'"),
        ("rounds -1", 8, "'-1'"),
        ("rounds 12345678901", 8, "'12345678901'"),
        ("not", 4, "the end"),
        ("and found a", 1, "'and'"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_column(text: str, column: int, found: str) -> None:
    """The error says where the text stops making sense and what is expected there."""
    with pytest.raises(InvalidCondition) as caught:
        parse_condition(text)
    assert (caught.value.text, caught.value.column) == (text, column)
    assert caught.value.reason.startswith(f"{found} is not expected here; use found, has,")


def test_a_very_long_condition_is_refused() -> None:
    """The length limit also limits nesting."""
    deep = "(" * 490 + "found a" + ")" * 490
    assert parse_condition(deep) == Asks(question="found", key="a")
    with pytest.raises(InvalidCondition, match="longer than"):
        parse_condition("not " * 300 + "found a")


KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda key: key not in conditions.JOINING)
TOPICS = st.lists(KEYS | st.just("and"), min_size=1, max_size=3).map(" ".join)
LEAVES = st.one_of(
    st.builds(Asks, question=st.sampled_from([word for word in PLAIN if word != "heard"]), key=KEYS),
    st.builds(Asks, question=st.just("heard"), key=TOPICS),
    st.builds(Asks, question=st.just("quest"), key=KEYS, state=KEYS),
    st.builds(Asks, question=st.just("step"), key=KEYS, quest=st.none() | KEYS),
    st.builds(Asks, question=st.just("rounds"), key=st.integers(0, 10**9 - 1).map(str)),
)


def _joined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return inner.map(Not) | several.map(Both) | several.map(Either)


@given(st.recursive(LEAVES, _joined, max_leaves=8).filter(lambda tree: len(render_condition(tree)) < 900))
def test_what_is_spelled_is_read_as_the_same(tree: Condition) -> None:
    """A rendered tree parses into the same tree."""
    assert parse_condition(render_condition(tree)) == tree


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*PLAIN, "and", "or", "not", "(", ")", "a", "3"])).map(" ".join)
)
def test_no_text_breaks_the_reader(text: str) -> None:
    """Any text is a condition or raises our error."""
    try:
        tree = parse_condition(text)
    except InvalidCondition as exc:
        column = exc.column
    else:
        column = 1
        assert parse_condition(render_condition(tree)) == tree
    assert 1 <= column <= len(text) + 1
