"""A model of SillyTavern as a client: a chat that people edit, and the requests that it sends for it.

Written from the facts about its requests: the order of prompts, the four ways of names, what each kind of
generation leaves out or adds, and the post-processing that merges roles.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

NAMES = ("none", "default", "field", "content")
PROCESSING = ("none", "merge", "semi", "strict", "single")
KINDS = ("normal", "swipe", "regenerate", "continue", "impersonate", "quiet")
Names = Literal["none", "default", "field", "content"]
Processing = Literal["none", "merge", "semi", "strict", "single"]
IMPERSONATION = "[Write your next reply from the point of view of {user}, using the chat history so far.]"
NUDGE = "[Continue your last message without repeating its original content.]"


@dataclass
class Mes:
    """A message of the chat, as it stands on the screen."""

    name: str
    text: str
    is_user: bool
    swipes: list[str] = field(default_factory=list)
    is_hidden: bool = False
    is_narrated: bool = False


@dataclass
class Tavern:
    """A chat on the screen, and the settings of its client."""

    members: tuple[str, ...] = ("Seraphina",)
    user: str = "Ann"
    names: Names = "default"
    processing: Processing = "none"
    hints: bool = True
    window: int = 1_000
    note: str | None = None  # an author's note, injected at depth 2
    note_role: str = "system"
    muted: set[str] = field(default_factory=set)
    extra: dict[str, Any] = field(default_factory=dict)
    chat: list[Mes] = field(default_factory=list)

    @property
    def is_group(self) -> bool:
        return len(self.members) > 1

    def visible(self) -> list[Mes]:
        return [mes for mes in self.chat if not mes.is_hidden]

    def request(self, kind: str = "normal", speaker: str | None = None) -> dict[str, Any]:
        """Return the body that the client sends to let somebody speak next."""
        speaker = speaker or self.members[0]
        history = self.visible()
        is_swiped = kind in ("swipe", "regenerate") and bool(history) and not history[-1].is_user
        if is_swiped:
            history = history[:-1]
        messages = [*self._prompts(speaker), *self._history(history[-self.window :])]
        messages += self._ending(kind, speaker)
        body: dict[str, Any] = {"model": "fake-1", "temperature": 0.8, "max_tokens": 300, "stream": False}
        if self.hints:
            body["dndbots"] = {
                "speaker": speaker,
                "user": self.user,
                "group": ", ".join(self.members),
                "present": ", ".join(name for name in self.members if name not in self.muted),
                "type": kind,
                "message": str(len(self.chat) - 1 - int(is_swiped)),
                **self.extra,
            }
        return {**body, "messages": process(messages, self, speaker)}

    def _prompts(self, speaker: str) -> list[dict[str, Any]]:
        start = (
            f"[Start a new group chat. Group members: {', '.join(self.members)}]"
            if self.is_group
            else "[Start a new Chat]"
        )
        told = [
            f"Write {speaker}'s next reply in a fictional chat.",
            f"{self.user} is a traveller.",
            f"{speaker} lives in the glade.",
            start,
        ]
        return [{"role": "system", "content": text} for text in told]

    def _history(self, history: Sequence[Mes]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for mes in history:
            content = mes.text
            is_stranger = not mes.is_user and mes.name not in self.members
            is_named = self.names == "content" or (
                self.names == "default" and not mes.is_user and (self.is_group or is_stranger)
            )
            is_named = is_named and not (mes.is_narrated and not self.is_group)
            message = {
                "role": "system" if mes.is_narrated else "user" if mes.is_user else "assistant",
                "content": f"{mes.name}: {content}" if is_named else content,
            }
            if self.names == "field":
                message["name"] = mes.name.replace(" ", "_")
            found.append(message)
        if self.note is not None and len(found) > 2:
            found.insert(len(found) - 2, {"role": self.note_role, "content": self.note})
        return found

    def _ending(self, kind: str, speaker: str) -> list[dict[str, Any]]:
        told = []
        if kind == "continue":
            told.append(NUDGE)
        elif kind == "impersonate":
            told.append(IMPERSONATION.format(user=self.user))
        elif kind == "quiet":
            told.append("[Pause the roleplay. Summarize the story so far in 100 words.]")
        elif self.is_group:
            told.append(f"[Write the next reply only as {speaker}.]")
        return [{"role": "system", "content": text} for text in told]

    # What people do on the screen.

    def say(self, text: str) -> None:
        self.chat.append(Mes(self.user, text, is_user=True))

    def hear(self, speaker: str, text: str) -> None:
        self.chat.append(Mes(speaker, text, is_user=False, swipes=[text]))

    def narrate(self, text: str) -> None:
        """Do what `/sys` does: a line of nobody in the chat, sent as a system message."""
        self.chat.append(Mes("System", text, is_user=False, is_narrated=True))

    def swipe(self, text: str) -> None:
        newest = self.chat[-1]
        newest.swipes.append(text)
        newest.text = text


def process(messages: list[dict[str, Any]], tavern: Tavern, speaker: str) -> list[dict[str, Any]]:
    """Merge roles as the client does after building its prompt."""
    if tavern.processing == "none":
        return messages
    single, strict = tavern.processing == "single", tavern.processing in ("semi", "strict", "single")
    flat: list[dict[str, Any]] = []
    for message in messages:
        role, content = message["role"], message["content"]
        if message.get("name"):
            content = f"{message['name']}: {content}"
        if single and role != "system":
            own = speaker if role == "assistant" else tavern.user
            known = (*tavern.members, tavern.user)
            if not any(content.startswith(f"{name}: ") for name in known):
                content = f"{own}: {content}"
        flat.append({"role": "user" if single else role, "content": content})
    if strict:
        first = next((n for n, message in enumerate(flat) if message["role"] != "system"), len(flat))
        flat = flat[:first] + [
            {**message, "role": "user" if message["role"] == "system" else message["role"]}
            for message in flat[first:]
        ]
        if tavern.processing == "strict" and first < len(flat) and flat[first]["role"] == "assistant":
            flat.insert(first, {"role": "user", "content": "[Start a new chat]"})
    merged: list[dict[str, Any]] = []
    for message in flat:
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1] = {**merged[-1], "content": f"{merged[-1]['content']}\n\n{message['content']}"}
        else:
            merged.append(message)
    return merged


class Player:
    """Somebody who uses a client at random. `ask` sends a request and returns the reply."""

    def __init__(self, tavern: Tavern, ask: Any, rng: random.Random) -> None:
        self.tavern, self._ask, self._rng = tavern, ask, rng
        self._count = 0
        self.branches: list[list[Mes]] = []

    def act(self) -> None:
        deed = self._rng.choice(
            ("turn",) * 8
            + ("swipe",) * 4
            + ("edit", "edit", "delete", "resume", "impersonate", "quiet", "branch")
        )
        getattr(self, deed)()

    def turn(self) -> None:
        self.tavern.say(self._text())
        for speaker in self._speakers():
            self.tavern.hear(speaker, self._ask(self.tavern.request("normal", speaker)))

    def swipe(self) -> None:
        if self.tavern.chat and not self.tavern.chat[-1].is_user:
            kind = self._rng.choice(("swipe", "regenerate"))
            speaker = self.tavern.chat[-1].name
            self.tavern.swipe(self._ask(self.tavern.request(kind, speaker)))

    def edit(self) -> None:
        if self.tavern.chat:
            newest = self.tavern.chat[-min(len(self.tavern.chat), 6) :]
            self._rng.choice(newest).text = self._text()

    def delete(self) -> None:
        for _ in range(self._rng.randint(1, 3)):
            if len(self.tavern.chat) > 3:
                self.tavern.chat.pop()

    def resume(self) -> None:
        if self.tavern.chat and not self.tavern.chat[-1].is_user:
            newest = self.tavern.chat[-1]
            newest.text = f"{newest.text} {self._ask(self.tavern.request('continue', newest.name))}"

    def impersonate(self) -> None:
        self._ask(self.tavern.request("impersonate"))

    def quiet(self) -> None:
        self._ask(self.tavern.request("quiet"))

    def branch(self) -> None:
        chat = self.tavern.chat
        self.branches.append([Mes(mes.name, mes.text, mes.is_user) for mes in chat])
        if self._rng.random() < 0.3:
            back = self._rng.choice(self.branches)
            self.tavern.chat = [Mes(mes.name, mes.text, mes.is_user) for mes in back]
        elif len(chat) > 4:
            del chat[self._rng.randint(len(chat) // 2 + 1, len(chat)) :]

    def _speakers(self) -> list[str]:
        known = self.tavern.members
        return self._rng.sample(known, self._rng.randint(1, len(known)))

    def _text(self) -> str:
        self._count += 1
        words = ("mill", "river", "lantern", "key", "altar", "wolf", "bell", "oak", "rider", "crypt")
        return f"Line {self._count}: the {' and the '.join(self._rng.sample(words, 3))}."
