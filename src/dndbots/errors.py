"""Every error that dndbots raises on purpose, under one root. Errors carry their facts as fields.

DndbotsError
├── InvalidSetting        an option with an invalid value
├── InvalidSettings       a settings file that cannot be used, with the place in it
│   └── UntrustedSettings a settings file in the current folder that sets addresses or keys
├── BudgetTooSmall        fewer tokens than an answer needs
├── InvalidUid            an id that is not a uid, or of the wrong category
├── DuplicateUid          two different things with one uid
├── InvalidName           a name that is empty or unfit
├── UnknownCategory       a category that is none of the eight
├── UnknownEncoding       a tokenizer that is not included
├── EventRefused          an event that the campaign cannot accept, with field and reason
│   ├── DuplicateEvent    an event id that the log already has
│   └── StaleNote         a memory note that another one overtook
├── UnknownEvent          an event id that the log does not have
├── UnknownEntity         a uid or a name that the campaign does not have
│   └── UnknownViewer     a viewer that the campaign does not have
├── AmbiguousName         a name of several entities
├── InvalidTranscript     a line that cannot be imported, with its number
├── UnreadableFile        a file of another program that cannot be imported, with the reason
├── InvalidModule         an adventure that cannot be played, with every problem and its line
├── InvalidCondition      a condition of an adventure that cannot be read, with its column
├── UnknownModule         an adventure that is neither included nor a file
├── UpdateRefused         a proposal that its turn does not support, with reason and rule
├── UnknownProposal       a proposal that is not waiting
├── UnknownJob            a job that is not in the queue, or cannot be retried
├── ExtractionFailed      an extractor without a readable answer, with the reason
├── WorkerFailed          a compaction process that failed, with the reason
├── NoProjection          a worker without a Neo4j server to project to
├── SummaryFailed         no usable summary, with the agent and the reason
├── RulesError
│   ├── InvalidDice       dice that cannot be rolled, with the column and the reason
│   ├── CannotAct         a creature that cannot act, with the reason
│   └── NotInRules        a name that the rules do not have, with those that they have
│       ├── UnknownClass
│       ├── UnknownMonster
│       ├── UnknownSpell
│       └── UnknownThing  equipment, a condition, or a kind of treasure
├── ActRefused            an act that a character cannot do, with the reason
├── NoGame                a campaign without a game
├── GameExists            a campaign that already has a game
├── StoryExists           a campaign with a story that was not played here, where no game can start
├── NothingToUndo         no round that could be undone
├── NothingToRetell       no turn that could be told again, or no text to tell instead
├── NoSuchPlayer          a model that cannot be used, with the reason
├── ModelUnavailable      a model that does not answer now, with the reason
├── StorageError
│   ├── SequenceConflict  another program wrote first
│   ├── CampaignMissing   no campaign at that address
│   ├── BranchExists      a branch name that is taken
│   ├── UnknownBranch     a branch that the campaign does not have
│   ├── StoreUnavailable  a database that cannot be reached or opened, or went away
│   ├── StoreBusy         a campaign that another program locks for too long
│   ├── StoreFull         no space left
│   ├── StoreReadOnly     a campaign that cannot be written to
│   ├── StoreDamaged      a file that is no campaign, or a broken one
│   ├── StoreTooNew       a campaign written by a newer dndbots
│   ├── GraphUnavailable  Neo4j cannot be reached, or went away; play goes on without it
│   ├── NotProjected      a campaign that is not in Neo4j yet
│   └── GraphRefused      a query that Neo4j cannot run, or one that would write
└── DCMLError
    ├── DCMLSyntaxError   text that is not DCML, with line and column
    └── DCMLValueError    a value that DCML cannot express

Values from outside (characters, events, quests) check themselves with pydantic. Its ValidationError names
the field and carries the message of these errors.
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

_LONGEST_SHOWN = 80


class DndbotsError(Exception):
    """The root of all errors that dndbots raises on purpose."""

    _made_from: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        self = super().__new__(cls, *args)
        self._made_from = (args, fields)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Make errors with keyword fields picklable, since worker processes send them."""
        args, fields = self._made_from
        return _remake, (type(self), args, fields)


def _remake(kind: type[DndbotsError], args: tuple[Any, ...], fields: dict[str, Any]) -> DndbotsError:
    return kind(*args, **fields)


class InvalidSetting(DndbotsError, ValueError):
    def __init__(self, name: str, value: object, *, reason: str) -> None:
        super().__init__(f"{name}: {value!r} {reason}")
        self.name, self.value, self.reason = name, value, reason


class InvalidSettings(DndbotsError, ValueError):
    """The message leaves out the value, since it may be a key."""

    def __init__(self, file: str, *, place: str, reason: str) -> None:
        super().__init__(f"{file}: {place}: {reason}" if place else f"{file}: {reason}")
        self.file, self.place, self.reason = file, place, reason


class UntrustedSettings(InvalidSettings):
    """`said` maps each place in the file to its value, for the user to agree to."""

    def __init__(self, file: str, *, said: Mapping[str, str]) -> None:
        reason = (
            "a settings file in the current folder may name models, but addresses and keys need your trust: "
            f"look at the file, then run `dndbots trust {shlex.quote(file)}`, or name it with --settings"
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
        super().__init__(f"{uid} is used for {' and '.join(map(repr, self.names))}; give each its own uid")


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
        super().__init__(f"unknown encoding {encoding!r}; choose {' or '.join(self.known)}")


class DCMLError(DndbotsError):
    """An error in the memory language."""


class DCMLSyntaxError(DCMLError, ValueError):
    """Text that is not DCML. `line` and `column` count from 1."""

    def __init__(self, *, line: int, column: int, found: str, expected: Iterable[str]) -> None:
        self.line, self.column, self.found, self.expected = line, column, found, tuple(expected)
        *others, last = self.expected or ("something else",)
        listed = f"{', '.join(others)} or {last}" if others else last
        super().__init__(f"line {line}, column {column}: found {found}, expected {listed}")


class DCMLValueError(DCMLError, ValueError):
    def __init__(self, value: object, *, where: str, reason: str) -> None:
        super().__init__(f"{where}: {value!r} {reason}")
        self.value, self.where, self.reason = value, where, reason


class EventRefused(DndbotsError, ValueError):
    """An event that breaks a rule. Nothing of it is recorded."""

    def __init__(self, event_id: str, *, field: str, reason: str) -> None:
        super().__init__(f"event {event_id!r} is refused: {field}: {reason}")
        self.event_id, self.field, self.reason = event_id, field, reason


class DuplicateEvent(EventRefused):
    def __init__(self, event_id: str) -> None:
        super().__init__(event_id, field="event_id", reason="the log already has an event with this id")


class StaleNote(EventRefused):
    """A second summary of the same events, which is not needed."""

    def __init__(self, event_id: str, *, follows: str | None, actual: str | None) -> None:
        reason = f"{follows!r} is no longer the newest note there; {actual!r} is"
        super().__init__(event_id, field="memory.follows", reason=reason)
        self.follows, self.actual = follows, actual


class UnknownEvent(DndbotsError, LookupError):
    def __init__(self, event_id: str) -> None:
        super().__init__(f"there is no event {event_id!r} in this branch of the log")
        self.event_id = event_id


class UnknownEntity(DndbotsError, LookupError):
    def __init__(self, who: str, *, known: Iterable[str] = ()) -> None:
        self.who, self.known = who, tuple(known)
        listed = f"; it has {', '.join(self.known)}" if self.known else ""
        super().__init__(f"the campaign has no {who!r}{listed}")


class UnknownViewer(UnknownEntity):
    """A viewer that the campaign does not have. It is never taken for the DM."""


class AmbiguousName(DndbotsError, LookupError):
    def __init__(self, name: str, *, candidates: Iterable[str]) -> None:
        self.name, self.candidates = name, tuple(candidates)
        super().__init__(f"{name!r} may be {' or '.join(self.candidates)}; use the uid")


class InvalidTranscript(DndbotsError, ValueError):
    def __init__(self, *, line: int, field: str, reason: str) -> None:
        super().__init__(f"line {line}: {field}: {reason}")
        self.line, self.field, self.reason = line, field, reason


class _PlacedError(DndbotsError):
    def __init__(self, where: str, *, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where, self.reason = where, reason


class UnreadableFile(_PlacedError, ValueError):
    """A file of another program that cannot be imported."""


class ModuleProblem(NamedTuple):
    """A problem of a module. `path` is the place in it, `line` counts from 1."""

    line: int
    path: str
    reason: str


class InvalidModule(DndbotsError, ValueError):
    """All problems of a module at once, one to a line; of very many the first hundred."""

    def __init__(self, file: str, *, problems: Iterable[ModuleProblem]) -> None:
        self.file, self.problems = file, tuple(problems)
        lines = [f"{file}:{line}: {path}: {why}" for line, path, why in self.problems[:100]]
        more = len(self.problems) - len(lines)
        super().__init__("\n".join([*lines, f"{file}: and {more} more"] if more else lines))


class InvalidCondition(DndbotsError, ValueError):
    """A condition that cannot be read. `column` counts from 1."""

    def __init__(self, text: str, *, column: int, reason: str) -> None:
        super().__init__(f"{text!r} cannot be read at column {column}: {reason}")
        self.text, self.column, self.reason = text, column, reason


class UnknownModule(DndbotsError, LookupError):
    def __init__(self, name: str, *, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        listed = ", ".join(self.known) or "none"
        super().__init__(f"no module and no file is named {name!r}; included modules: {listed}")


class SummaryFailed(DndbotsError):
    def __init__(self, *, agent: str, reason: str) -> None:
        super().__init__(f"no summary for {agent}: {reason}")
        self.agent, self.reason = agent, reason


class UpdateRefused(DndbotsError, ValueError):
    """An update that is not recorded. `rule` is the word under which it is counted."""

    def __init__(self, *, reason: str, rule: str) -> None:
        super().__init__(f"the update is refused: {reason}")
        self.reason, self.rule = reason, rule


class UnknownProposal(DndbotsError):
    def __init__(self, name: str, *, waiting: Iterable[str]) -> None:
        self.name, self.waiting = name, list(waiting)
        shown = ", ".join(self.waiting[:10]) or "none"
        super().__init__(f"no proposal {name!r} is waiting; waiting: {shown}")


class UnknownJob(DndbotsError):
    def __init__(self, job: int, *, state: str | None) -> None:
        retry = "only failed or waiting jobs can be retried"
        problem = "does not exist" if state is None else f"is {state}; {retry}"
        super().__init__(f"job {job} {problem}; `dndbots jobs` lists all jobs")
        self.job, self.state = job, state


class ExtractionFailed(DndbotsError):
    """An extraction without a result. The turns can be read later."""

    def __init__(self, *, turns: int, reason: str) -> None:
        super().__init__(f"could not extract facts from {turns} turns: {reason}")
        self.turns, self.reason = turns, reason


class WorkerFailed(DndbotsError):
    """A compaction process that failed. The campaign has all runs that it completed, and no partial one."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the compaction process failed: {reason}")
        self.reason = reason


class NoProjection(DndbotsError):
    def __init__(self) -> None:
        remedy = "give the worker --neo4j bolt://host:7687, or set NEO4J_URI, or leave such jobs to another"
        super().__init__(f"no Neo4j server is configured: {remedy}")


class RulesError(DndbotsError):
    """An error in the use of the game's rules."""


class InvalidDice(RulesError, ValueError):
    """Dice that cannot be rolled. `column` counts from 1."""

    def __init__(self, expression: object, *, column: int, reason: str, remedy: str) -> None:
        shown = repr(expression)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
        super().__init__(f"{shown} cannot be rolled: column {column}: {reason}; {remedy}")
        self.expression, self.column, self.reason, self.remedy = expression, column, reason, remedy


class CannotAct(RulesError):
    """A creature that cannot act, such as a dead or sleeping one. Nothing was rolled."""

    def __init__(self, who: str, *, deed: str, reason: str) -> None:
        super().__init__(f"{who} cannot {deed}: {reason}; let somebody else act")
        self.who, self.deed, self.reason = who, deed, reason


class NotInRules(RulesError, LookupError):
    """A name that the rules do not have. `kind` is what it was looked up as: a class, a monster."""

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
        super().__init__(f"{where}: {reason}, so there is no round to undo")
        self.where, self.reason = where, reason


class NothingToRetell(DndbotsError):
    def __init__(self, where: str, *, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where, self.reason = where, reason


class NoGame(DndbotsError):
    def __init__(self, where: str) -> None:
        super().__init__(f"{where}: this campaign has no game yet; `dndbots play --campaign` starts one")
        self.where = where


class GameExists(DndbotsError):
    def __init__(self, where: str, *, module: str) -> None:
        super().__init__(
            f"{where}: this campaign already has a game of {module!r}; resume it, or choose another campaign"
        )
        self.where, self.module = where, module


class StoryExists(DndbotsError):
    """A campaign with a story that was not played with dndbots, such as an imported one."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where}: this campaign has a story that was not played here, so no other one can start in it; "
            "play it on with a DM (--dm MODEL or --human dm), or play with another --campaign"
        )
        self.where = where


class NoSuchPlayer(DndbotsError):
    def __init__(self, model: str, *, reason: str) -> None:
        super().__init__(f"{model!r} cannot play: {reason}")
        self.model, self.reason = model, reason


class ModelUnavailable(DndbotsError):
    """A chat model that does not answer now: it is down, slow, over its limit, or refuses the key."""

    def __init__(self, model: str, *, reason: str) -> None:
        super().__init__(f"{model} does not answer: {reason}")
        self.model, self.reason = model, reason


class StorageError(DndbotsError):
    """An error of the store that keeps a campaign."""


class SequenceConflict(StorageError):
    def __init__(self, *, expected: int, actual: int) -> None:
        super().__init__(f"expected sequence {expected}, but the log is at {actual}; read it and try again")
        self.expected, self.actual = expected, actual


class CampaignMissing(StorageError, LookupError):
    def __init__(self, where: str) -> None:
        super().__init__(f"no campaign at {where}; `dndbots list` shows all, `dndbots new` makes one")
        self.where = where


class BranchExists(StorageError, ValueError):
    def __init__(self, name: str) -> None:
        super().__init__(f"branch {name!r} already exists; choose another name")
        self.name = name


class UnknownBranch(StorageError, LookupError):
    def __init__(self, name: str, *, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"there is no branch {name!r}; the branches are {', '.join(self.known)}")


class StoreUnavailable(_PlacedError, StorageError):
    """A store that cannot be used now."""


class StoreBusy(StoreUnavailable):
    """A locked store. Nothing was written; the same call may succeed later."""


class StoreFull(StoreUnavailable):
    """A full disk. Nothing was written."""


class StoreReadOnly(StoreUnavailable):
    """A store that can only be read. Nothing was written."""


class StoreDamaged(StoreUnavailable):
    """A file that cannot be read as a campaign."""


class StoreTooNew(StoreUnavailable):
    """A store of a newer dndbots, which this one would not understand."""


class GraphUnavailable(StoreUnavailable):
    """A graph server that is gone. The graph is a copy, and catches up when the server is back."""


class NotProjected(StorageError, LookupError):
    def __init__(self, where: str, *, campaign: str, branch: str) -> None:
        super().__init__(
            f"{where}: the graph has no {campaign}, branch {branch}; `dndbots graph sync` projects it"
        )
        self.where, self.campaign, self.branch = where, campaign, branch


class GraphRefused(_PlacedError, StorageError):
    """A query that the graph does not run. Nothing was written."""
