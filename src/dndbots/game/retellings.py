"""Other tellings of the last turn: ask a model again, edit by hand, or go through what was told before.

A telling that is replaced stays on a branch of its own. Nobody remembers it: memory is a view of the branch
that is played.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from dndbots.campaign import Campaign
from dndbots.errors import NothingToRetell
from dndbots.events import EventType, GameEvent, audience
from dndbots.game.acts import LONGEST_WORDS
from dndbots.game.state.game_notes import DM_STEP, KEY, played_of
from dndbots.game.undo import before_step, keep_usage, read_backwards
from dndbots.ids import DM
from dndbots.text.clean import one_line

LONGEST_WISH: Final = 300
_MOST_TELLINGS: Final = 20
_MOST_EVENTS: Final = 200  # of a step
_TOLD: Final = frozenset((EventType.DM_NARRATION, EventType.DIALOGUE, EventType.PLAYER_ACTION))


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    """The last turn that was told: its round, who told it, and the last event before it."""

    round: int
    who: str
    before: GameEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One telling of a turn. `branch` is the branch that keeps it; the current telling has none."""

    text: str
    branch: str | None = None
    events: tuple[GameEvent, ...] = ()

    @property
    def is_current(self) -> bool:
        return self.branch is None


class RetellableGame(Protocol):
    """A game as its retellings need it."""

    @property
    def campaign(self) -> Campaign: ...
    def tellers(self) -> list[str]:
        """Return who is played by a model: the DM, seats."""
        ...

    def refold(self) -> None: ...
    def replay_turn(self, number: int, who: str, wish: str) -> None: ...


class Retellings:
    """The tellings of a game's last turn."""

    def __init__(self, game: RetellableGame) -> None:
        self._game = game

    def list_all(self, seen_by: str) -> list[Telling]:
        """Return all tellings of the last turn, the oldest first."""
        return list_tellings(self._game.campaign, self._last_turn(seen_by), seen_by=seen_by)

    def retry(self, wish: str, who: str | None, seen_by: str) -> Telling:
        """Have the last turn of a model played again. Return its new telling."""
        campaign = self._game.campaign
        tellers = self._game.tellers() if who is None else [who]
        turn = find_last_turn(campaign, tellers, seen_by=seen_by)
        take_back_turn(campaign, turn)
        self._game.refold()
        self._game.replay_turn(turn.round, turn.who, clean_wish(wish))
        return current_of(self.list_all(seen_by))

    def swipe(self, by: int, seen_by: str) -> Telling:
        """Put another telling in the place of the current one. Return it."""
        turn = self._last_turn(seen_by)
        known = list_tellings(self._game.campaign, turn, seen_by=seen_by)
        chosen = known[(known.index(current_of(known)) + by) % len(known)]
        if chosen.is_current:
            raise NothingToRetell("this turn", reason="it was told only once; retry tells it again")
        put_telling(self._game.campaign, turn, chosen.events)
        self._game.refold()
        return current_of(self.list_all(seen_by))

    def edit(self, text: str, seen_by: str, *, names: Mapping[str, str]) -> Telling:
        """Replace the text of the current telling. `names` are those that a DM's new text teaches."""
        turn = self._last_turn(seen_by)
        current = current_of(list_tellings(self._game.campaign, turn, seen_by=seen_by))
        taught = dict(names) if turn.who == DM else {}
        events = edit_events(current, text, names=taught, seen_by=seen_by)
        put_telling(self._game.campaign, turn, events, goes_on=True)
        self._game.refold()
        return current_of(self.list_all(seen_by))

    def _last_turn(self, seen_by: str) -> LastTurn:
        return find_last_turn(self._game.campaign, self._game.tellers() or [DM], seen_by=seen_by)


def find_last_turn(campaign: Campaign, tellers: Iterable[str] | None, *, seen_by: str = DM) -> LastTurn:
    """Find the last turn that one of `tellers` told and `seen_by` perceived; None means anybody.

    Raises `NothingToRetell` if there is none.
    """
    wanted = None if tellers is None else frozenset(tellers)
    with campaign.view(DM) as view:
        for event in read_backwards(view):
            note = played_of(event)
            if note is None or event.turn is None or not event.content or event.event_type not in _TOLD:
                continue
            who = DM if note.step == DM_STEP else note.step if note.act is not None else None
            if who is None or not event.turn or seen_by not in audience(event):
                continue
            if wanted is None or who in wanted:
                before = before_step(view, event.turn, note.step)
                return LastTurn(round=event.turn, who=who, before=before)
    reason = "no model has told anything yet" if wanted is None or wanted else "no model plays here"
    raise NothingToRetell(campaign.address or "this campaign", reason=reason)


def list_tellings(campaign: Campaign, turn: LastTurn, *, seen_by: str = DM) -> list[Telling]:
    """Return all tellings of a turn, the oldest first. Equal ones are listed once; one is the current one."""
    current = _telling(campaign, turn, seen_by, branch=None)
    found: dict[str, Telling] = {}
    for name in _undone_branches(campaign, turn):
        with campaign.another_branch(name) as other:
            telling = _telling(other, turn, seen_by, branch=name)
        if telling is not None and telling.text:
            found.setdefault(telling.text, telling)
    if current is not None:
        found[current.text] = current  # where it was told first
    return list(found.values())


def current_of(tellings: Sequence[Telling]) -> Telling:
    """Return the telling that counts."""
    return next(telling for telling in tellings if telling.is_current)


def take_back_turn(campaign: Campaign, turn: LastTurn) -> str:
    """Take back a turn and all that came after it, except usage. Return the branch that keeps it."""
    kept = campaign.undo(to=turn.before.event_id)
    keep_usage(campaign, kept, after=turn.before)
    return kept


def put_telling(
    campaign: Campaign, turn: LastTurn, events: Sequence[GameEvent], *, goes_on: bool = False
) -> str:
    """Replace a turn by other events of the same turn. Return the branch that keeps the old one.

    With `goes_on`, what was played after the turn still happens.
    """
    later = _played_after(campaign, turn) if goes_on else []
    kept = take_back_turn(campaign, turn)
    campaign.record_many([event.model_copy(update={"seq": None}) for event in (*events, *later)])
    return kept


def _played_after(campaign: Campaign, turn: LastTurn) -> list[GameEvent]:
    with campaign.view(DM) as view:
        events = view.at(range((turn.before.seq or 0) + 1, view.head + 1))
    return [event for event in events if not event.is_note and not _belongs(event, turn)]


def edit_events(
    telling: Telling, text: str, *, names: "dict[str, str]", seen_by: str = DM
) -> list[GameEvent]:
    """Return the events of a telling with the last text that `seen_by` read replaced.

    `names` are the names that the new text teaches its hearers.
    """
    said = text.strip()
    if not said or len(said) > LONGEST_WORDS:
        reason = f"the text has {len(said)} characters; write 1 to {LONGEST_WORDS}"
        raise NothingToRetell("this turn", reason=reason)
    events = list(telling.events)
    numbers = [n for n, event in enumerate(events) if _is_told(event, seen_by)]
    if not numbers:
        raise NothingToRetell("this turn", reason="it has no text that you read")
    last = numbers[-1]
    for number in numbers:
        same = events[number].event_type is events[last].event_type
        if number != last and same and events[number].source == events[last].source:
            events[number] = _with_text(events[number], "", {})
    events[last] = _with_text(events[last], said, names)
    return events


def clean_wish(wish: str) -> str:
    """Return a wish on one line, cut to a length."""
    return one_line(wish).strip(" \"'“”")[:LONGEST_WISH]


def _with_text(event: GameEvent, text: str, names: "dict[str, str]") -> GameEvent:
    metadata = dict(event.metadata)
    note = metadata.get(KEY)
    if isinstance(note, dict) and isinstance(act := note.get("act"), dict):
        metadata[KEY] = {**note, "act": {**act, "words": text}}
    known = metadata.get("names")
    if names:
        metadata["names"] = {**(known if isinstance(known, dict) else {}), **names}
    return GameEvent(**{**event.model_dump(), "content": text, "metadata": metadata, "seq": None})


def _telling(campaign: Campaign, turn: LastTurn, seen_by: str, *, branch: str | None) -> Telling | None:
    """Return a branch's telling of a turn; None if it has another past, or never played it."""
    seq = turn.before.seq or 0
    with campaign.view(DM) as view:
        last = min(view.head, seq + _MOST_EVENTS)
        shared = view.at([seq]) if view.head >= seq else []
        if not shared or shared[0].event_id != turn.before.event_id:
            return None
        events = [event for event in view.at(range(seq + 1, last + 1)) if _belongs(event, turn)]
    if not events:
        return None
    text = "\n\n".join(event.content for event in events if _is_told(event, seen_by))
    return Telling(text=text, branch=branch, events=tuple(events))


def _belongs(event: GameEvent, turn: LastTurn) -> bool:
    note = played_of(event)
    step = DM_STEP if turn.who == DM else turn.who
    return note is not None and event.turn == turn.round and note.step == step


def _is_told(event: GameEvent, seen_by: str) -> bool:
    return bool(event.content) and event.event_type in _TOLD and seen_by in audience(event)


def _undone_branches(campaign: Campaign, turn: LastTurn) -> Iterator[str]:
    """Yield the branches that may keep another telling of a turn, the oldest first."""
    start = f"{campaign.branch}.undone-"
    kept = [
        branch
        for branch in campaign.branches()
        if branch.name.startswith(start) and branch.head > (turn.before.seq or 0)
    ]
    kept.sort(key=lambda branch: int(number) if (number := branch.name.removeprefix(start)).isdigit() else 0)
    yield from (branch.name for branch in kept[-_MOST_TELLINGS:])
