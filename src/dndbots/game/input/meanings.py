"""The meaning of a typed line: a frozen value that terminals, web pages and programs can show."""

from dataclasses import dataclass, replace
from typing import Any, Final

from dndbots.game.acts import LONGEST_WORDS, Act, Attempt

META: Final = "meta"
UNCLEAR: Final = "unclear"
REFUSED: Final = "refused"
NOT_DONE: Final = frozenset((UNCLEAR, REFUSED, META))
SAID: Final = frozenset(("tell", "ask", "say", "whisper", "parley", "accept", "refuse"))


@dataclass(frozen=True, slots=True)
class Reading:
    """A likely meaning of an unclear line: what to type instead, and the act it would be."""

    said: str
    act: Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """The meaning of a line: a deed, a question to the game, something unclear, or something impossible.

    `verb` is the deed, or `meta`, `unclear` or `refused`. `target` and `what` are names that the character
    uses. `words` is what is said, word for word. `check` is what is tested in an attempt. `readings` are
    likely meanings of an unclear line, `reason` says what is wrong with it. `then` is a second deed in the
    line, `left` the words of it that a turn has no room for. `act` is what would be played, None if nothing
    would. `question` is the topic of a `meta`.
    """

    verb: str
    target: str | None = None
    what: str | None = None
    words: str = ""
    check: Attempt | None = None
    readings: tuple[Reading, ...] = ()
    reason: str = ""
    then: "Understanding | None" = None
    act: Act | None = None
    question: str | None = None
    line: str = ""
    left: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the meaning as JSON data."""
        return {
            "verb": self.verb,
            "target": self.target,
            "what": self.what if self.question is None else self.question,
            "words": self.words,
            "check": None if self.check is None else self.check.model_dump(exclude_none=True),
            "readings": [reading.said for reading in self.readings],
            "reason": self.reason,
            "then": None if self.then is None else self.then.to_json(),
            "left": self.left,
        }


def refuse(line: str, reason: str) -> Understanding:
    """Return that a line is understood and cannot be done, and why."""
    return Understanding(verb=REFUSED, reason=reason, words=line)


def reword(found: Understanding, words: str) -> Understanding:
    """Return a meaning in other words: those that were typed."""
    act = None if found.act is None else found.act.model_copy(update={"words": words[:LONGEST_WORDS]})
    return replace(found, words=words, act=act)
