"""Hearers of the lines of a chat. Clients send a line again and again, and do not say who was there."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.campaign import Campaign
from dndbots.events import CHAT, audience
from dndbots.ids import DM, SYSTEM
from dndbots.interop.history.alignment import loose_key
from dndbots.interop.history.messages import ChatMessage

_MOST_KNOWN: Final = 20_000
_LOADED: Final = 2_000


class GivenReply(NamedTuple):
    """A reply that no request has confirmed yet: who gave it, and in a group who was there to hear it."""

    speaker: str
    hearers: tuple[str, ...] = ()


class Replies:
    """The newest replies of all chats, by text."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, GivenReply] = OrderedDict()

    def keep(self, text: str, reply: GivenReply) -> None:
        """Keep a reply."""
        self._known[loose_key(text)] = reply
        self._known.move_to_end(loose_key(text))
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)

    def find(self, text: str) -> GivenReply | None:
        """Return the reply with this text, if there was one."""
        return self._known.get(loose_key(text))

    def speaker_of(self, text: str) -> str | None:
        """Return who gave the reply with this text, if there was one."""
        reply = self.find(text)
        return reply.speaker if reply is not None else None


class HeardLines:
    """The lines of one chat, and who heard each of them."""

    def __init__(self, heard: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        self._hearers: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._next: dict[str, str] = {}
        self._keep(list(heard))

    @classmethod
    def read(cls, campaign: Campaign, chat: str) -> "HeardLines":
        """Read the newest lines of a chat from the log."""
        events = [
            event
            for event in campaign.events(viewer=DM, last=_LOADED)
            if isinstance(mark := event.metadata.get(CHAT), dict) and mark.get("id") == chat
        ]
        uids = {who for event in events for who in audience(event)} - {DM, SYSTEM}
        with campaign.view(DM) as view:
            names = {uid: called.name for uid, called in view.called(sorted(uids)).items()}
        return cls(
            (event.content, tuple(sorted(names[who] for who in audience(event) if who in names)))
            for event in events
        )

    def hearers(self, text: str) -> tuple[str, ...] | None:
        """Return who heard a line, if it is known."""
        return self._hearers.get(loose_key(text))

    def hearers_before_edit(self, before: str, now: Collection[str]) -> tuple[str, ...] | None:
        """Return who heard the line that stood after another one, if it stands there no longer.

        `now` are the loose keys of the chat as it is. The line in its place is an edit of it.
        """
        replaced = self._next.get(loose_key(before))
        if replaced is None or replaced in now:
            return None
        return self._hearers.get(replaced)

    def keep(self, messages: Sequence[ChatMessage]) -> None:
        """Keep who heard these messages, which stand one after the other."""
        self._keep([(message.text, message.witnesses) for message in messages])

    def _keep(self, lines: Sequence[tuple[str, tuple[str, ...] | None]]) -> None:
        keys = [loose_key(text) for text, _ in lines]
        for key, (_, hearers) in zip(keys, lines, strict=True):
            if hearers is not None:
                self._hearers[key] = hearers
                self._hearers.move_to_end(key)
        self._next |= dict(pairwise(keys))
        while len(self._hearers) > _MOST_KNOWN:
            self._next.pop(self._hearers.popitem(last=False)[0], None)
