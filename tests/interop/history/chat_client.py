"""A model of a chat client: people say, edit, delete, swipe and branch, and the client keeps one list."""

import random
from dataclasses import dataclass, field, replace

from dndbots.interop.history.messages import ChatMessage

NAMES = ("Zara", "Throk", "Mira Vale", "Old Hob")
NARRATOR = "Narrator"
SAYINGS = (
    "I open the gate.",
    "We follow the lantern into the mill.",
    "Grimfang owes me forty silver coins.",
    "I promise to come back for you, Hob.",
    "Yes.",
    "The bell rings twice over Marrowby.",
    "Who hired the wolves?",
    "A rider in grey waits under the oak.",
    "I swear I will find the silver key.",
    "Nothing stirs in the crypt.",
)


@dataclass
class ChatClient:
    """A chat as its client has it now. `rng` decides what happens next."""

    rng: random.Random
    messages: list[ChatMessage] = field(default_factory=list)
    branches: list[list[ChatMessage]] = field(default_factory=list)

    def act(self) -> str:
        """Do something that people do in chats, and return what it was."""
        deed = self.rng.choice(
            ("say",) * 6 + ("edit", "edit", "delete", "delete", "swipe", "insert", "cut", "branch")
        )
        getattr(self, deed)()
        return deed

    def say(self) -> None:
        for _ in range(self.rng.randint(1, 4)):
            is_user = not self.messages or not self.messages[-1].is_user
            self.messages.append(self._message(is_user=is_user))

    def edit(self) -> None:
        if self.messages:
            at = self.rng.randrange(len(self.messages))
            message = self.messages[at]
            self.messages[at] = (
                self._message(is_user=False)
                if self.rng.random() < 0.3
                else replace(message, text=self._text())
            )

    def insert(self) -> None:
        self.messages.insert(self.rng.randint(0, len(self.messages)), self._message(is_user=False))

    def delete(self) -> None:
        if self.messages:
            del self.messages[self.rng.randrange(len(self.messages))]

    def swipe(self) -> None:
        """Reroll the newest message: the old text stays as an alternative, the new one counts."""
        if self.messages:
            newest = self.messages[-1]
            text = f"{self._text()} (again {self.rng.randint(1, 9)})"
            swipes = (*(newest.alternatives or (newest.text,)), text)
            self.messages[-1] = replace(newest, text=text, alternatives=swipes)

    def cut(self) -> None:
        """Delete the newest messages: mostly a few, now and then all of them."""
        most = len(self.messages) if self.rng.random() < 0.2 else min(4, len(self.messages))
        del self.messages[len(self.messages) - self.rng.randint(0, most) :]

    def branch(self) -> None:
        """Copy the chat up to a message and go on in the copy; sometimes go back to an older one."""
        self.branches.append(list(self.messages))
        if len(self.branches) > 1 and self.rng.random() < 0.5:
            self.messages = list(self.rng.choice(self.branches))
        else:
            self.messages = self.messages[: self.rng.randint(len(self.messages) // 2, len(self.messages))]

    def _message(self, *, is_user: bool) -> ChatMessage:
        if is_user:
            return ChatMessage("Zara", self._text(), role="pc", is_user=True)
        speaker = self.rng.choice((NARRATOR, *NAMES[1:]))
        return ChatMessage(speaker, self._text(), role="dm" if speaker == NARRATOR else "npc")

    def _text(self) -> str:
        return " ".join(self.rng.sample(SAYINGS, self.rng.randint(1, 2)))
