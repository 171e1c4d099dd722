"""Every error dndbots raises on purpose, under one root. Errors carry their facts as fields.

DndbotsError
├── InvalidSetting        an option with a value it cannot have
├── InvalidSettings       a file of settings that cannot be used, with the place in it
│   └── UntrustedSettings a file of the current folder that says where questions and keys go
├── BudgetTooSmall        fewer tokens than an answer needs
├── InvalidUid            an id that is not a uid, or not of the category it must have
├── DuplicateUid          two different things with one uid
├── InvalidName           a name that is empty or unfit
├── UnknownCategory       a category that is none of the eight
├── UnknownEncoding       a tokenizer that is not on board
├── EventRefused          an event that the campaign cannot accept, with field and reason
│   ├── DuplicateEvent    an event id that the log already has
│   └── StaleNote         a memory that was made while somebody else made another
├── UnknownEvent          an event id that the log does not have
├── UnknownEntity         a uid or a name that nobody in the campaign has
│   └── UnknownViewer     a viewer whom the campaign does not know
├── AmbiguousName         a name that several have
├── InvalidTranscript     a line that cannot be imported, with its place
├── InvalidModule         an adventure that cannot be played, with every problem and its line
├── InvalidCondition      a condition of an adventure that cannot be read, with its column
├── UnknownModule         an adventure that is neither on board nor a file
├── UpdateRefused         a proposal that its turn does not support, with reason and rule
├── UnknownProposal       a proposal that is not waiting
├── UnknownJob            a job that the queue does not have, or that cannot be tried again
├── ExtractionFailed      nothing that an extractor answered could be read, and why
├── WorkerFailed          a compaction that another process could not do, and why
├── NoProjection          a worker that is to project campaigns, and has nowhere to project them to
├── SummaryFailed         no summary that could be used, with whose it was and why
├── RulesError
│   ├── InvalidDice       dice that cannot be rolled, with the column and the reason
│   ├── CannotAct         somebody who is in no state to do that, and why
│   └── NotInRules        a name that the rules do not have, with those that they have
│       ├── UnknownClass
│       ├── UnknownMonster
│       ├── UnknownSpell
│       └── UnknownThing  equipment, a condition, or a kind of treasure
├── ActRefused            something that a character cannot do, and why
├── NoGame                a campaign in which nobody ever began to play
├── GameExists            a campaign in which somebody plays already
├── StoryExists           a campaign with a story of its own, in which no game can be begun
├── NothingToUndo         no round that could be taken back
├── NoSuchPlayer          a model that cannot be had, and what to do about it
├── ModelUnavailable      a model that gives no answer now, and why
├── StorageError
│   ├── SequenceConflict  somebody else wrote first
│   ├── CampaignMissing   no campaign there, and none should be made
│   ├── BranchExists      a branch of that name is there already
│   ├── UnknownBranch     a branch that the campaign does not have
│   ├── StoreUnavailable  the database cannot be reached or opened, or went away
│   ├── StoreBusy         another program holds the campaign for too long
│   ├── StoreFull         no space left
│   ├── StoreReadOnly     the campaign cannot be written to
│   ├── StoreDamaged      the file is no campaign, or a broken one
│   ├── StoreTooNew       written by a newer dndbots
│   ├── GraphUnavailable  Neo4j cannot be reached, or went away; play goes on without it
│   ├── NotProjected      a campaign of which Neo4j has nothing yet
│   └── GraphRefused      Neo4j does not do what it is asked: a query that is none, or one that writes
└── DCMLError
    ├── DCMLSyntaxError   text that is not DCML, with line and column
    └── DCMLValueError    a value that DCML cannot say

Values that arrive from outside (characters, events, quests) check themselves with pydantic, whose
ValidationError names the field and carries these errors' words.
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

_LONGEST_SHOWN = 80


class DndbotsError(Exception):
    """The root of what dndbots itself raises on purpose."""

    _made_from: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        self = super().__new__(cls, *args)
        self._made_from = (args, fields)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors with keyword fields do not pickle by themselves, and worker processes pickle them."""
        args, fields = self._made_from
        return _remake, (type(self), args, fields)


def _remake(kind: type[DndbotsError], args: tuple[Any, ...], fields: dict[str, Any]) -> DndbotsError:
    return kind(*args, **fields)


class InvalidSetting(DndbotsError, ValueError):
    def __init__(self, name: str, value: object, *, reason: str) -> None:
        super().__init__(f"{name}: {value!r} {reason}")
        self.name, self.value, self.reason = name, value, reason


class InvalidSettings(DndbotsError, ValueError):
    """The value is not told: it may be a key."""

    def __init__(self, file: str, *, place: str, reason: str) -> None:
        super().__init__(f"{file}: {place}: {reason}" if place else f"{file}: {reason}")
        self.file, self.place, self.reason = file, place, reason


class UntrustedSettings(InvalidSettings):
    """`said` is what the user has to agree to: each place in the file, with its value."""

    def __init__(self, file: str, *, said: Mapping[str, str]) -> None:
        reason = (
            "a file found in the current folder may name models; addresses and keys count only once you "
            f"trust it: look at it, then run `dndbots trust {shlex.quote(file)}`, or name it with --settings"
        )
        super().__init__(file, place=", ".join(said), reason=reason)
        self.said = dict(said)


class BudgetTooSmall(DndbotsError, ValueError):
    def __init__(self, *, budget: object, least: int) -> None:
        super().__init__(f"a budget of {budget!r} tokens is too small; give at least {least}")
        self.budget, self.least = budget, least


class InvalidUid(DndbotsError, ValueError):
    def __init__(self, uid: object, *, where: str = "uid", category: str | None = None) -> None:
        kind = f"a uid of the category {category}" if category else "a uid"
        super().__init__(
            f"{where}: {uid!r} is not {kind}; a uid is lower-case ASCII words joined by underscores, "
            f"such as {category.lower() if category else 'pc'}_throk_001"
        )
        self.uid, self.where, self.category = uid, where, category


class DuplicateUid(DndbotsError, ValueError):
    def __init__(self, uid: str, *, names: Iterable[str]) -> None:
        self.uid, self.names = uid, tuple(names)
        super().__init__(
            f"{uid} stands for {' and '.join(map(repr, self.names))}; give each a uid of its own"
        )


class InvalidName(DndbotsError, ValueError):
    def __init__(self, name: object, *, where: str = "name", reason: str = "it is blank") -> None:
        super().__init__(f"{where}: {name!r} is not a name: {reason}")
        self.name, self.where, self.reason = name, where, reason


class UnknownCategory(DndbotsError, ValueError):
    def __init__(self, category: object, *, known: Iterable[str]) -> None:
        self.category, self.known = category, tuple(known)
        super().__init__(f"unknown category {category!r}; the categories are {' '.join(self.known)}")


class UnknownEncoding(DndbotsError, ValueError):
    def __init__(self, encoding: object, *, known: Iterable[str]) -> None:
        self.encoding, self.known = encoding, tuple(known)
        super().__init__(f"unknown encoding {encoding!r}; exact counts exist for {', '.join(self.known)}")


class DCMLError(DndbotsError):
    """Something about the memory language."""


class DCMLSyntaxError(DCMLError, ValueError):
    """Text that is not DCML. `line` and `column` count from 1."""

    def __init__(self, *, line: int, column: int, found: str, expected: Iterable[str]) -> None:
        self.line, self.column, self.found, self.expected = line, column, found, tuple(expected)
        *others, last = self.expected or ("something else",)
        wanted = f"{', '.join(others)} or {last}" if others else last
        super().__init__(f"line {line}, column {column}: found {found}, expected {wanted}")


class DCMLValueError(DCMLError, ValueError):
    def __init__(self, value: object, *, where: str, reason: str) -> None:
        super().__init__(f"{where}: {value!r} {reason}")
        self.value, self.where, self.reason = value, where, reason


class EventRefused(DndbotsError, ValueError):
    """Nothing of a refused event is kept."""

    def __init__(self, event_id: str, *, field: str, reason: str) -> None:
        super().__init__(f"event {event_id!r} is refused: {field}: {reason}")
        self.event_id, self.field, self.reason = event_id, field, reason


class DuplicateEvent(EventRefused):
    def __init__(self, event_id: str) -> None:
        super().__init__(event_id, field="event_id", reason="the log already has an event of this id")


class StaleNote(EventRefused):
    """Two summaries of the same events: the second one is not needed."""

    def __init__(self, event_id: str, *, follows: str | None, actual: str | None) -> None:
        reason = f"{follows!r} is no longer the newest there, {actual!r} is"
        super().__init__(event_id, field="memory.follows", reason=reason)
        self.follows, self.actual = follows, actual


class UnknownEvent(DndbotsError, LookupError):
    def __init__(self, event_id: str) -> None:
        super().__init__(f"there is no event {event_id!r} in this branch of the log")
        self.event_id = event_id


class UnknownEntity(DndbotsError, LookupError):
    def __init__(self, who: str, *, known: Iterable[str] = ()) -> None:
        self.who, self.known = who, tuple(known)
        listed = f"; it knows {', '.join(self.known)}" if self.known else ""
        super().__init__(f"the campaign knows no {who!r}{listed}")


class UnknownViewer(UnknownEntity):
    """A viewer is never the DM by default."""


class AmbiguousName(DndbotsError, LookupError):
    def __init__(self, name: str, *, candidates: Iterable[str]) -> None:
        self.name, self.candidates = name, tuple(candidates)
        super().__init__(f"{name!r} may be {' or '.join(self.candidates)}; say which by its uid")


class InvalidTranscript(DndbotsError, ValueError):
    def __init__(self, *, line: int, field: str, reason: str) -> None:
        super().__init__(f"line {line}: {field}: {reason}")
        self.line, self.field, self.reason = line, field, reason


class ModuleProblem(NamedTuple):
    """One thing that is wrong with a module. `path` says where in it, `line` counts from 1."""

    line: int
    path: str
    reason: str


class InvalidModule(DndbotsError, ValueError):
    """All that is wrong is told at once, one problem to a line; of very many the first hundred."""

    def __init__(self, file: str, *, problems: Iterable[ModuleProblem]) -> None:
        self.file, self.problems = file, tuple(problems)
        told = [f"{file}:{line}: {path}: {why}" for line, path, why in self.problems[:100]]
        more = len(self.problems) - len(told)
        super().__init__("\n".join([*told, f"{file}: and {more} more"] if more else told))


class InvalidCondition(DndbotsError, ValueError):
    """`column` counts from 1."""

    def __init__(self, text: str, *, column: int, reason: str) -> None:
        super().__init__(f"{text!r} cannot be read at column {column}: {reason}")
        self.text, self.column, self.reason = text, column, reason


class UnknownModule(DndbotsError, LookupError):
    def __init__(self, name: str, *, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        listed = ", ".join(self.known) or "none"
        super().__init__(f"there is no module {name!r}, nor a file of that name; on board: {listed}")


class SummaryFailed(DndbotsError):
    """Nothing was kept of what came back. What was to be summarised is still where it was."""

    def __init__(self, *, agent: str, reason: str) -> None:
        super().__init__(f"no summary for {agent}: {reason}")
        self.agent, self.reason = agent, reason


class UpdateRefused(DndbotsError, ValueError):
    """Nothing of a refused update is kept. `rule` is a word for counting."""

    def __init__(self, *, reason: str, rule: str) -> None:
        super().__init__(f"the update is refused: {reason}")
        self.reason, self.rule = reason, rule


class UnknownProposal(DndbotsError):
    def __init__(self, name: str, *, waiting: Iterable[str]) -> None:
        self.name, self.waiting = name, list(waiting)
        shown = ", ".join(self.waiting[:10]) or "none"
        super().__init__(f"no proposal {name!r} is waiting; those that wait: {shown}")


class UnknownJob(DndbotsError):
    def __init__(self, job: int, *, state: str | None) -> None:
        words = "is not there" if state is None else f"is {state}; only what failed or waits is tried again"
        super().__init__(f"job {job} {words}; `dndbots jobs` lists them")
        self.job, self.state = job, state


class ExtractionFailed(DndbotsError):
    """The turns are still where they were, and can be read later."""

    def __init__(self, *, turns: int, reason: str) -> None:
        super().__init__(f"nothing could be read out of {turns} turns: {reason}")
        self.turns, self.reason = turns, reason


class WorkerFailed(DndbotsError):
    """The campaign is as it was, or as after whole runs."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the process that compacts failed: {reason}")
        self.reason = reason


class NoProjection(DndbotsError):
    def __init__(self) -> None:
        super().__init__(
            "no projection is configured here: give the worker --neo4j bolt://host:7687, or set NEO4J_URI; "
            "or leave this kind to a worker that has one"
        )


class RulesError(DndbotsError):
    """Something about the rules of the game."""


class InvalidDice(RulesError, ValueError):
    """Nothing was rolled. `column` counts from 1."""

    def __init__(self, expression: object, *, column: int, reason: str, remedy: str) -> None:
        shown = repr(expression)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
        super().__init__(f"{shown} cannot be rolled: column {column}: {reason}; {remedy}")
        self.expression, self.column, self.reason, self.remedy = expression, column, reason, remedy


class CannotAct(RulesError):
    """Nothing was rolled: the dead do not act, nor do those who sleep."""

    def __init__(self, who: str, *, deed: str, reason: str) -> None:
        super().__init__(f"{who} cannot {deed}: {reason}; let somebody else act")
        self.who, self.deed, self.reason = who, deed, reason


class NotInRules(RulesError, LookupError):
    """`kind` is what was looked for: a class, a monster."""

    kind = "name"

    def __init__(self, name: object, *, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        shown = repr(name)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
        super().__init__(f"the rules have no {self.kind} {shown}; they have {', '.join(self.known)}")


class UnknownClass(NotInRules):
    kind = "class"


class UnknownMonster(NotInRules):
    kind = "monster"


class UnknownSpell(NotInRules):
    kind = "spell"


class UnknownThing(NotInRules):
    kind = "thing"


class ActRefused(DndbotsError):
    def __init__(self, who: str, *, verb: str, reason: str) -> None:
        super().__init__(f"{who} cannot {verb}: {reason}")
        self.who, self.verb, self.reason = who, verb, reason


class NothingToUndo(DndbotsError):
    def __init__(self, where: str, *, reason: str) -> None:
        super().__init__(f"{where}: {reason}, so there is no round to take back")
        self.where, self.reason = where, reason


class NoGame(DndbotsError):
    def __init__(self, where: str) -> None:
        super().__init__(f"{where}: nobody plays here yet; `dndbots play --campaign` begins a game")
        self.where = where


class GameExists(DndbotsError):
    def __init__(self, where: str, *, module: str) -> None:
        super().__init__(
            f"{where}: a game of {module!r} is played here already; resume it, or choose another place"
        )
        self.where, self.module = where, module


class StoryExists(DndbotsError):
    """`where` tells a story that no game of dndbots played, such as an imported one."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where}: there is a story here that was not played here, and no other is begun in it; "
            "play with another --campaign, or read this one with `dndbots recap` or `dndbots context`"
        )
        self.where = where


class NoSuchPlayer(DndbotsError):
    def __init__(self, model: str, *, reason: str) -> None:
        super().__init__(f"{model!r} cannot play: {reason}")
        self.model, self.reason = model, reason


class ModelUnavailable(DndbotsError):
    """A chat model that gives no answer now: it is down, slow, over its limit, or refuses the key."""

    def __init__(self, model: str, *, reason: str) -> None:
        super().__init__(f"{model} gives no answer: {reason}")
        self.model, self.reason = model, reason


class StorageError(DndbotsError):
    """Something about where a campaign is kept."""


class SequenceConflict(StorageError):
    def __init__(self, *, expected: int, actual: int) -> None:
        super().__init__(f"expected sequence {expected}, the log is at {actual}")
        self.expected, self.actual = expected, actual


class CampaignMissing(StorageError, LookupError):
    def __init__(self, where: str) -> None:
        super().__init__(f"there is no campaign at {where}; `dndbots new` makes one")
        self.where = where


class BranchExists(StorageError, ValueError):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is a branch {name!r} already; choose another name")
        self.name = name


class UnknownBranch(StorageError, LookupError):
    def __init__(self, name: str, *, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"there is no branch {name!r}; the branches are {', '.join(self.known)}")


class StoreUnavailable(StorageError):
    def __init__(self, where: str, *, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where, self.reason = where, reason


class StoreBusy(StoreUnavailable):
    """Nothing was written; the same call may succeed later."""


class StoreFull(StoreUnavailable):
    """Nothing was written."""


class StoreReadOnly(StoreUnavailable):
    """Nothing was written."""


class StoreDamaged(StoreUnavailable):
    """What is there cannot be read as a campaign."""


class StoreTooNew(StoreUnavailable):
    """A newer dndbots made it, and an older one would not understand it."""


class GraphUnavailable(StoreUnavailable):
    """Nothing is lost: the graph is a copy, and catches up when it is there again."""


class NotProjected(StorageError, LookupError):
    def __init__(self, where: str, *, campaign: str, branch: str) -> None:
        super().__init__(
            f"{where}: there is nothing of {campaign}, branch {branch}; `dndbots graph sync` projects it"
        )
        self.where, self.campaign, self.branch = where, campaign, branch


class GraphRefused(StorageError):
    """Nothing was written."""

    def __init__(self, where: str, *, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where, self.reason = where, reason
