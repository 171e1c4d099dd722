"""Read an answer out of a response: words, calls with valid forms, and faults.

Each fault is one line that may be shown to the model, so that it can do better. Nothing raises.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from dndbots.ids import short
from dndbots.llm.protocol import Answer, Call, Tool, Usage
from dndbots.llm.responses.lenient_json import JsonFound, found_in, objects_in
from dndbots.llm.responses.shapes import End, RawCall, Shape, without_thoughts
from dndbots.llm.responses.written_calls import find_written
from dndbots.llm.settings import Way
from dndbots.llm.tool_schemas import CALLS, TOOL, WORDS, has_words
from dndbots.text.clean import drop_hidden

LONGEST_WORDS: Final = 8000
LONGEST_ANSWER: Final = 200_000
MOST_CALLS: Final = 16
_MOST_FAULTS: Final = 8
_DEEPEST: Final = 12
EMPTY: Final = "the answer was empty"
CUT: Final = "the answer was cut off before its end; be shorter"
REFUSED: Final = "the answer was a refusal; stay in the game, and answer within what you may say"
_ENDED: Final[Mapping[End, str]] = {End.CUT: CUT, End.REFUSED: REFUSED}
NO_OBJECT: Final = "the answer is not the JSON object that was asked for"
_ARGUMENTS: Final = ("args", "arguments", "parameters", "input")
# Decoration around an object that a model writes into its text.
_WRAPPING = re.compile(
    r"```[a-z_]*|</?(?:tool_call|tool_calls|function_call|tools?|function)(?:=[\w-]*)?>|\[/?TOOL_CALLS?\]"
    r"|<\|[a-z_]{1,30}\|>",
    re.IGNORECASE,
)
# The start of an object: the rest is no prose, whether it ends or not.
_BEGUN_OBJECT = re.compile(r'(?:\[\s*+|(?<!\s)\s++)?\{\s*+(?:$|"\w*+(?:$|"\s*+(?:$|:)))')
_BEGUN_WORDS = re.compile(r'"words"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
# Unmarked refusals, by their whole wording: characters are sorry, too.
_LOOKS_REFUSED = re.compile(
    r"(?:(?:i[' a]*m )?(?:very |so )?sorry|i apologi[sz]e|unfortunately)?[,.;]? ?(?:but )?"
    r"(?:as an ai\b.*|i (?:can(?:no|')t|can not|won't|am unable to|am not able to)"
    r" (?:assist|help|comply|fulfil\w*|continue|engage|provide|create|generate|participate)"
    r" (?:with|in|this|that|such|content)\b.{0,200})",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReading:
    """Words, calls and faults of a response.

    `fits` says whether the model used the way it was asked to; None if unknown.
    """

    words: str = ""
    calls: tuple[Call, ...] = ()
    faults: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    fits: bool | None = None

    def answer(self, *, model: str, usage: Usage) -> Answer:
        """Return the reading as the answer of a model."""
        return Answer(
            words=self.words,
            calls=self.calls,
            faults=self.faults,
            failed=self.failed,
            model=model,
            usage=usage,
        )


def read(shape: Shape, tools: Sequence[Tool], way: Way) -> AnswerReading:
    """Read a response. `way` is how the answer was asked for; AUTO if the question had no tools."""
    text = without_thoughts(shape.text[:LONGEST_ANSWER]).strip()
    faults = [_ENDED[shape.end]] if shape.end in _ENDED else []
    if shape.end is End.REFUSED and not shape.calls:
        return AnswerReading(faults=tuple(faults))
    said, raw, fits = _parted(text, shape.calls, tools, way)
    if fits is False and way in (Way.SCHEMA, Way.WORDS) and text:
        faults.append(NO_OBJECT)
    if shape.end is not End.SAID or not (text or raw):
        fits = fits or None  # a cut or empty answer says nothing about what a model can do
    calls: list[Call] = []
    failed: list[str] = []
    for one in raw[:MOST_CALLS]:
        call = _checked(one, tools)
        if isinstance(call, Call):
            calls.append(call)
        else:
            failed.append(call)
    faults += failed
    if len(raw) > MOST_CALLS:
        faults.append(f"there were {len(raw)} calls; at most {MOST_CALLS} are read")
    words = clean(said)
    faults += _faults_of(words, said, calls, faults)
    return AnswerReading(
        words=words,
        calls=tuple(calls),
        faults=_told_once(faults),
        failed=_told_once(failed),
        fits=fits,
    )


def _told_once(faults: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(short(fault, 300) for fault in faults))[:_MOST_FAULTS]


def clean(text: str) -> str:
    """Return words as they may be shown: nothing invisible, cut to length."""
    return drop_hidden(text[: 2 * LONGEST_WORDS]).strip()[:LONGEST_WORDS].rstrip()


def _faults_of(words: str, said: str, calls: Sequence[Call], before: Sequence[str]) -> Iterator[str]:
    if len(said) > LONGEST_WORDS:
        yield f"the answer had {len(said):,} characters; at most {LONGEST_WORDS:,} are kept"
    if not words and not calls and not before:
        yield EMPTY
    if not calls and len(words) < 600 and _LOOKS_REFUSED.fullmatch(words.replace("\u2019", "'")):
        yield REFUSED


# Calls


def _parted(
    text: str, given: Sequence[RawCall], tools: Sequence[Tool], way: Way
) -> tuple[str, list[RawCall], bool | None]:
    """Return the words, the calls, and whether they came in the way that was asked for."""
    if given:
        known = {tool.name for tool in tools}
        return text, list(given), way is Way.TOOLS and any(call.name in known for call in given)
    if not tools:
        return text, [], None
    asked = way in (Way.SCHEMA, Way.WORDS)
    text = _closed(text) if asked else text
    found = [
        (one, calls) for one in found_in(text) if (calls := _calls_in(one.value, tools, asked)) is not None
    ]
    if found:
        raw = [call for _, calls in found for call in calls]
        return _words_beside([one for one, _ in found], text, tools), raw, asked
    if written := find_written(text, tools):
        around = _around(text, [(one.start, one.end) for one in written])
        return around, [one.call for one in written], False
    if not asked:
        return text, [], None
    return begun_words(text) if text.lstrip("`json \n").startswith("{") else _prose(text), [], False


def _calls_in(value: Mapping[str, Any], tools: Sequence[Tool], asked: bool) -> list[RawCall] | None:  # noqa: FBT001
    """Return the calls that an object is or holds; None if it is something else."""
    if isinstance(listed := value.get(CALLS, value.get("tool_calls")), list):
        return [call for item in listed if (call := _call_in(item, tools)) is not None]
    if (call := _call_in(value, tools)) is not None:
        return [call]
    if len(tools) == 1:
        fields = _names_of(tools[0])
        if fields & value.keys() or (asked and not fields and WORDS in value):
            own = has_words(tools[0])
            args = {name: one for name, one in value.items() if own or name != WORDS}
            return [RawCall(name=tools[0].name, args=args)]
    return [] if asked and WORDS in value else None


def _names_of(tool: Tool) -> set[str]:
    fields = tool.form.model_fields
    return set(fields) | {field.alias for field in fields.values() if field.alias}


def _call_in(item: object, tools: Sequence[Tool]) -> RawCall | None:
    """Read a call that a model wrote in its own way: in our form, in the form of its training, by the tool's
    name.
    """
    if not isinstance(item, Mapping):
        return None
    known = {tool.name for tool in tools}
    inner = item.get("function")
    if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
        return RawCall(name=inner["name"], args=_arguments(inner, "name"))
    for key in (TOOL, "tool_name", "function", "name"):
        name = item.get(key)
        if isinstance(name, str) and (name in known or key != "name"):
            return RawCall(name=name, args=_arguments(item, key))
    for name in known & item.keys():
        if isinstance(item[name], Mapping):
            return RawCall(name=name, args=item[name])
    return None


def _arguments(item: Mapping[str, Any], key: str) -> object:
    for name in _ARGUMENTS:
        if isinstance(item.get(name), Mapping | str):
            return item[name]
    return {name: value for name, value in item.items() if name not in (key, WORDS)}


def _words_beside(found: Sequence[JsonFound], text: str, tools: Sequence[Tool]) -> str:
    """Return the words in the objects; if they have none, the text around them."""
    own = len(tools) == 1 and has_words(tools[0])
    told = [one.value[WORDS] for one in found if isinstance(one.value.get(WORDS), str) and not own]
    if told or any(WORDS in one.value for one in found):
        return "\n".join(told)
    return _around(text, [(one.start, one.end) for one in found])


def _around(text: str, calls: Sequence[tuple[int, int]]) -> str:
    """Return the text around calls, each with its begin and end."""
    at, around = 0, []
    for start, end in calls:
        around.append(text[at:start])
        at = end
    around.append(text[at:])
    return _prose("".join(around)).strip(" \n,[]")


def _prose(text: str) -> str:
    """Return the text before an unfinished object; nothing after that is meant to be read."""
    text = _WRAPPING.sub("", text)
    begun = _BEGUN_OBJECT.search(text)
    return text[: begun.start()] if begun else text


def _closed(text: str) -> str:
    """Close an object that breaks off in its last words, so that the fields before them can be read."""
    found = _BEGUN_WORDS.search(text)
    if not found or found.end() < len(text) or "{" not in text[: found.start()]:
        return text
    return f"{text[: found.start()]}{json.dumps({WORDS: begun_words(text)})[1:]}"


def begun_words(text: str) -> str:
    """Return the words of an unfinished object, as far as they go."""
    found = _BEGUN_WORDS.search(text)
    if not found:
        return ""
    raw = re.sub(r"\\(?:u[0-9a-fA-F]{0,3})?$", "", found.group(1))
    try:
        said: str = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return ""
    return said


# Forms


def _checked(raw: RawCall, tools: Sequence[Tool]) -> Call | str:
    """Return the call, or the fault in it."""
    tool = next((tool for tool in tools if tool.name == raw.name), None)
    if tool is None:
        names = ", ".join(tool.name for tool in tools) or "none at all"
        return f"there is no tool {short(raw.name, 40)!r}; there are {names}"
    args = raw.args if isinstance(raw.args, Mapping) else _object_in(raw.args)
    if args is None:
        return f"{tool.name}: what was given is no JSON object"
    try:
        form = tool.form.model_validate(_cleaned(args))
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_input=False, include_context=False)
        told = [f"{'.'.join(map(str, one['loc'])) or 'form'}: {one['msg']}" for one in errors[:4]]
        return f"{tool.name}: {'; '.join(short(one, 120) for one in told)}"
    except RecursionError:
        return f"{tool.name}: what was given goes too deep"
    return Call(tool=tool.name, form=form, id=raw.id)


def _object_in(text: object) -> Mapping[str, Any] | None:
    if not isinstance(text, str):
        return None
    return {} if not text.strip() else next(objects_in(text[:LONGEST_ANSWER]), None)


def _cleaned(value: Any, depth: int = 0) -> Any:
    """Clean the values of a filled form: nothing invisible, bounded in size and depth."""
    if isinstance(value, str):
        return clean(without_thoughts(value))
    if depth >= _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {clean(str(name)): _cleaned(one, depth + 1) for name, one in list(value.items())[:200]}
    if isinstance(value, list | tuple):
        return [_cleaned(one, depth + 1) for one in value[:200]]
    return value
