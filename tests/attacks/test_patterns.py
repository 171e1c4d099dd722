"""No pattern takes more than a fixed time for each character, whatever the text."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterator

import pytest
from tests.attacks import growth
from tests.attacks.growth import LONGEST, find_growth
from tests.attacks.patterns import (
    SEARCHES,
    Found,
    attack_units,
    fill,
    held_patterns,
    keeps_patterns,
    methods_used,
    written_patterns,
)

from dndbots.game.dm.tools import Pay

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
# Values for the names of functions that make a pattern of what they are given.
SAMPLES: dict[str, dict[str, object]] = {
    "_any": {"words": "a few|of them"},
    "_compiled": {"expression": "(?<!@)named"},
    "_whole": {"before": r"(?<!\w)", "spaced": r"Zara\s+the\s+Bold", "after": r"(?!\w)", "exactly": True},
    "_verb_found": {"name": "Zara the Bold"},
    "_pattern": {"longest_first": ["the old mill", "mill"]},
    "_stands_in": {"name": "Zara the Bold"},
    "check_names": {"spoken": ["Zara", "the Bold"]},
    "name_pattern": {"parts": ["Zara the Bold", "Zara"]},
    "is_third_person": {"name": "Zara the Bold"},
    "is_named_by": {"forms": "Zara|ZARA"},
    "_turn_sentence": {"pattern": "Zara the Bold|Zara"},
    "_read_patterns": {"whole": r"\bwhose KIN\b"},  # the walk finds all that it makes
    "_add_named_lines": {"names": ["Zara the Bold", "Zara"]},
    "_words": {"value": "#a, #b"},
    "_named": {"pattern": "Zara the Bold|Zara"},
    "_in_tags": {"name": "give"},
    "_in_parentheses": {"known": {"give": ["item"]}, "name": "give", "names": "give|pay"},
    "_is_told": {"form": Pay(gold=5, payer="Zara", to="Elena")},
    "__init__": {"longest_first": ["Zara the Bold", "Zara"]},  # the titles of a vault
}
# Patterns that are handed to a function, which asks them only so.
HANDED_ON = {
    "dndbots.dcml.parser._engine": {"match"},
    "dndbots.game.adventures.conditions._grammar": {"match"},
    "dndbots.rules.dice_tree._engine": {"match"},
    "dndbots.game.input.grammar.clauses.frame_patterns": {"match"},
    "dndbots.game.input.game_questions.game_patterns": {"match", "search"},
    "dndbots.game.input.talk.asides._FORMS": {"fullmatch"},
    "dndbots.game.input.grammar.other_wordings._PLACE_FIRST": {"fullmatch"},
    "dndbots.game.input.grammar.other_wordings._PLACE_LAST": {"fullmatch"},
    "dndbots.game.input.grammar.other_wordings._PLACE_TIME": {"fullmatch"},
    "dndbots.dcml.fragments._REFERENCE": {"fullmatch"},
    "dndbots.dcml.fragments._REFERENCES": {"fullmatch"},
    "dndbots.memory.summaries.checks._HEADING": {"match"},
    "dndbots.memory.summaries.checks._ROLE": {"match"},
    "dndbots.memory.summaries.checks._RECORD": {"match"},
    "dndbots.memory.summaries.checks._SECTION": {"match"},
    "dndbots.tokens._MODELS": {"fullmatch"},
}


def every_pattern() -> Found:
    """All patterns by where they stand: what modules hold, and what only calls in functions make."""
    found = held_patterns()
    for call in written_patterns():
        try:
            made = call.compiled(SAMPLES.get(call.inside, {}))
        except NameError:
            is_held = not call.inside or keeps_patterns(getattr(call.module, call.inside, None))
            assert is_held, f"{call.place}: say in SAMPLES what {call.inside} makes its pattern of"
            continue  # in a comprehension, and the walk finds what it made
        is_kept = not call.inside and call.function == "compile"
        key = made.pattern, made.flags
        assert not is_kept or key in found, f"{call.place}: the walk does not find this pattern"
        if key not in found and call.function != "compile":
            HANDED_ON[call.place] = {call.function}
        found.setdefault(key, call.place)
    return found


def ways_asked(pattern: re.Pattern[str], name: str) -> Iterator[tuple[str, Callable[[str], object]]]:
    """The pattern as its users ask it; one that nobody asks by its name is searched for."""
    asked = methods_used().get(name) or HANDED_ON.get(name) or {"finditer"}
    if asked & SEARCHES:
        yield "search", lambda text: deque(pattern.finditer(text), maxlen=0)
    elif "match" in asked:
        yield "match", pattern.match
    if "fullmatch" in asked:
        yield "fullmatch", pattern.fullmatch


def superlinear(pattern: re.Pattern[str], name: str) -> str | None:
    """Which text makes a pattern slow, if one does."""
    for way, run in ways_asked(pattern, name):
        for head, body in attack_units(pattern.pattern, pattern.flags, thorough=LONG):
            for tail in ("", "\x01") if LONG else ("\x01",):
                grows = find_growth(
                    run,
                    lambda size, head=head, body=body, tail=tail: fill(head, body, tail, size),
                    start=4096 if LONG else 256,
                    most=LONGEST if LONG else 8192,
                )
                if grows:
                    return f"{name}, {way} of {(head, body, tail)!r}: {grows}"
    return None


def test_every_pattern_is_linear() -> None:
    """Twice the text takes twice the time: no text of anybody's stops the game."""
    found = every_pattern()
    assert len(found) > 800, "the walk finds fewer patterns than there are"
    slow = [superlinear(re.compile(pattern, flags), name) for (pattern, flags), name in found.items()]
    assert "\n".join(filter(None, slow)) == ""


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"\s*--", id="blanks before"),
        pytest.param(r"\w+:", id="a word before"),
        pytest.param(r"(?:okay so |okay |so )*x", id="two ways to read it"),
        pytest.param(r"#\s*(.*?)\s*#*\s*$", id="blanks at the end"),
        pytest.param(r"a\s*b?\s*c", id="blanks twice"),
    ],
)
def test_a_slow_pattern_is_noticed(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack finds what it is made to find. A busy moment may hide it from one look, not from ten."""
    monkeypatch.setattr(growth, "HOPELESS", 1.0)
    assert any(superlinear(re.compile(pattern), "anybody's") for _ in range(10))
