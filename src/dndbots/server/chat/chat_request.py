"""Requests of chat clients: the OpenAI body, checked and bounded, and the hints in its `dndbots` block."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from dndbots.errors import InvalidSetting
from dndbots.ids import short

HINTS: Final = "dndbots"
MOST_MESSAGES: Final = 20_000
LONGEST_TEXT: Final = 1_000_000
DEFAULT_BUDGET: Final = 1_500
LEAST_BUDGET: Final = 200
MOST_BUDGET: Final = 64_000
_LONGEST_NAME: Final = 120
_MOST_NAMES: Final = 60
_ROLES: Final = frozenset(("system", "developer", "user", "assistant", "tool", "function"))
# The generation types of SillyTavern.
KINDS: Final = ("normal", "swipe", "regenerate", "continue", "impersonate", "quiet")
_YES: Final = ("1", "true", "yes", "on")


class Hints(NamedTuple):
    """The words of a client about its request, beside the messages. They are evidence, never proof.

    `members` are the characters of the chat, `present` those that are not muted. `history` is the number of
    tokens of the client's own history to send on; `own` sends on only what the speaker perceived.
    """

    speaker: str | None = None
    user: str | None = None
    members: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    kind: str | None = None
    message: int | None = None
    chat: str | None = None
    budget: int = DEFAULT_BUDGET
    history: int | None = None
    own: bool = False
    narrator: bool = False

    @property
    def is_told(self) -> bool:
        """True if the client says anything about who speaks."""
        return self.speaker is not None or self.kind is not None


class ChatPart(NamedTuple):
    """A message of a request: its role, its text, and the name that the client gives its speaker."""

    role: str
    text: str
    name: str | None = None

    @property
    def is_system(self) -> bool:
        return self.role in ("system", "developer")

    @property
    def is_spoken(self) -> bool:
        return self.role in ("user", "assistant")


class ChatRequest(NamedTuple):
    """A checked request. `body` is what the client sent, without the hints."""

    body: dict[str, Any]
    parts: list[ChatPart]
    hints: Hints

    @property
    def is_stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def most_tokens(self) -> int | None:
        for key in ("max_tokens", "max_completion_tokens"):
            if isinstance(self.body.get(key), int):
                return int(self.body[key])
        return None


def read_request(body: object, *, chat: str | None = None) -> ChatRequest:
    """Check the body of a request. `chat` is the name of the chat, if a header gives it.

    Raises `InvalidSetting` that names the field.
    """
    if not isinstance(body, dict):
        raise InvalidSetting("body", type(body).__name__, reason="must be a JSON object")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidSetting("messages", short(repr(messages)), reason="must be a list of messages")
    if len(messages) > MOST_MESSAGES:
        raise InvalidSetting("messages", len(messages), reason=f"are more than {MOST_MESSAGES}")
    kept = {key: value for key, value in body.items() if key != HINTS}
    hints = read_hints(body.get(HINTS))
    parts = [_part(number, message) for number, message in enumerate(messages)]
    return ChatRequest(kept, parts, hints if chat is None else hints._replace(chat=_name(chat)))


def _part(number: int, message: object) -> ChatPart:
    where = f"messages[{number}]"
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        role = message.get("role") if isinstance(message, dict) else message
        raise InvalidSetting(where, short(repr(role)), reason=f"needs a role: {', '.join(sorted(_ROLES))}")
    text = text_of(message.get("content"))
    if len(text) > LONGEST_TEXT:
        raise InvalidSetting(where, len(text), reason=f"has more than {LONGEST_TEXT} characters")
    return ChatPart(str(message["role"]), text, _name(message.get("name")))


def text_of(content: object) -> str:
    """Return the text of a message's content: a text, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def read_hints(block: object) -> Hints:
    """Read the hints. A field that is missing, unexpanded or strange is as if it were not there."""
    given: Mapping[str, object] = block if isinstance(block, dict) else {}
    kind = _name(given.get("type"))
    return Hints(
        speaker=_name(given.get("speaker")),
        user=_name(given.get("user")),
        members=_names(given.get("group")),
        present=_names(given.get("present")),
        kind=kind if kind in KINDS else None,
        message=_count(given.get("message")),
        chat=_name(given.get("chat")),
        budget=min(max(_count(given.get("budget")) or DEFAULT_BUDGET, LEAST_BUDGET), MOST_BUDGET),
        history=_count(given.get("history")),
        own=_is_yes(given.get("own")),
        narrator=_is_yes(given.get("narrator")),
    )


def _name(value: object) -> str | None:
    """Return a name, or None for one that is empty, too long, or a macro that was not expanded."""
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        return None
    name = " ".join(str(value).split())
    if not name or len(name) > _LONGEST_NAME or "{{" in name or not name.isprintable():
        return None
    return name


def _names(value: object) -> tuple[str, ...]:
    listed: Sequence[object] = value if isinstance(value, list) else str(value or "").split(",")
    found = dict.fromkeys(name for one in listed[:_MOST_NAMES] if (name := _name(one)) is not None)
    return tuple(found)


def _count(value: object) -> int | None:
    try:
        number = int(str(value))
    except ValueError:
        return None
    return number if 0 <= number < 10**9 else None


def _is_yes(value: object) -> bool:
    return value is True or str(value).casefold() in _YES
