"""Describe tools to models: as JSON schemas, as one object for an answer, and in words."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel

from dndbots.llm.protocol import Tool

WORDS: Final = "words"
CALLS: Final = "calls"
TOOL: Final = "tool"
_DEEPEST: Final = 8
# Longest lists in an answer: a small model that begins one goes on until it is cut off, and tells nothing.
MOST_CALLS: Final = 4
MOST_CALLS_OF_SMALL: Final = 2
_TYPES: Final[Mapping[object, str]] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_SAID: Final[Mapping[str, Any]] = {"type": "string", "description": "what is said, in plain words"}


@lru_cache(maxsize=256)
def _schema_text(form: type[BaseModel]) -> str:
    made = form.model_json_schema()
    return json.dumps(_inlined(made, made.get("$defs", {})))


def schema_of(form: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a form with references resolved: not every server follows them."""
    schema: dict[str, Any] = json.loads(_schema_text(form))
    return schema


def _inlined(node: Any, definitions: Mapping[str, Any], depth: int = 0) -> Any:
    if isinstance(node, list):
        return [_inlined(one, definitions, depth) for one in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        if depth >= _DEEPEST:
            return {}
        target = definitions.get(str(node["$ref"]).rpartition("/")[2], {})
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _inlined({**target, **rest}, definitions, depth + 1)
    made = {
        key: _fields(value, definitions, depth)
        if key == "properties"
        else _inlined(value, definitions, depth)
        for key, value in node.items()
        if key != "$defs" and not (key == "title" and isinstance(value, str))
    }
    if made.get("type") == "object" and "properties" in made:
        made.setdefault("additionalProperties", False)
    return made


def _fields(fields: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """Return the fields by name; a field may be called `title`."""
    return {name: _inlined(value, definitions, depth) for name, value in fields.items()}


def as_function(tool: Tool) -> dict[str, Any]:
    """Return a tool in the form that every LangChain library takes."""
    about = {"name": tool.name, "description": tool.purpose, "parameters": schema_of(tool.form)}
    return {"type": "function", "function": about}


def has_words(tool: Tool) -> bool:
    """Return whether a form has a field for words, so that no words stand beside it."""
    return WORDS in tool.form.model_fields


def answer_schema(tools: Sequence[Tool], *, most: int = MOST_CALLS) -> dict[str, Any]:
    """Return the schema of an answer: a single tool's form with words, or a list of `most` calls with words.

    The words stand last: a small model that talks until it is cut off has then decided what to do.
    """
    if len(tools) == 1:
        form = schema_of(tools[0].form)
        said = {} if has_words(tools[0]) else {WORDS: dict(_SAID)}
        fields, required = form.get("properties", {}), form.get("required", [])
        return {
            **form,
            "type": "object",
            "properties": fields | said,
            "required": [*required, *said],
            "additionalProperties": False,
        }
    calls = {
        "type": "array",
        "items": {"anyOf": [_call_schema(tool) for tool in tools]},
        "maxItems": most,
    }
    return {
        "type": "object",
        "properties": {CALLS: calls, WORDS: dict(_SAID)},
        "required": [CALLS, WORDS],
        "additionalProperties": False,
    }


def _call_schema(tool: Tool) -> dict[str, Any]:
    form = schema_of(tool.form)
    return {
        **form,
        "type": "object",
        "properties": {TOOL: {"type": "string", "enum": [tool.name]}, **form.get("properties", {})},
        "required": [TOOL, *form.get("required", [])],
        "additionalProperties": False,
    }


# In words


def instruction(tools: Sequence[Tool]) -> str:
    """Tell a model in words how to answer. The text never changes, and stands first."""
    if len(tools) == 1:
        [tool] = tools
        said = () if has_words(tool) else (f'- "{WORDS}" (text): what you say',)
        return "\n".join(
            (
                f"Answer with one JSON object and nothing else. It is for this: {_line(tool.purpose)}",
                "Its fields:",
                *_fields_in_words(schema_of(tool.form)),
                *said,
            )
        )
    return "\n".join(
        (
            "Answer with one JSON object and nothing else, in this form:",
            f'{{"{CALLS}": [{{"{TOOL}": "its name", ...and its fields}}], "{WORDS}": "what you say"}}',
            f'Leave the list "{CALLS}" empty if you need none.',
            "The tools, with their fields (text, if nothing else is said; what has a ? may be left out):",
            *map(_tool_in_a_line, tools),
        )
    )


def _tool_in_a_line(tool: Tool) -> str:
    """Describe a tool in one line for a small model: its fields, its purpose, and hints."""
    schema = schema_of(tool.form)
    needed = set(schema.get("required", ()))
    fields, about = [], []
    for name, field in schema.get("properties", {}).items():
        kind = _kind_in_words(field)
        mark = "" if name in needed else "?"
        fields.append(f"{name}{mark}" if kind == _TYPES["string"] else f"{name}{mark}: {kind}")
        if field.get("description"):
            about.append(f"{name}: {_line(field['description'])}")
    told = f" ({'; '.join(about)})" if about else ""
    return f"- {tool.name}({', '.join(fields)}): {_line(tool.purpose)}{told}"


def _fields_in_words(schema: Mapping[str, Any]) -> list[str]:
    needed = set(schema.get("required", ()))
    told = []
    for name, about in schema.get("properties", {}).items():
        kind = _kind_in_words(about) + ("" if name in needed else ", may be left out")
        purpose = about.get("description")
        told.append(f'- "{name}" ({kind})' + (f": {_line(purpose)}" if purpose else ""))
    return told


def _kind_in_words(about: Mapping[str, Any]) -> str:
    if "enum" in about or "const" in about:
        options = about.get("enum", [about.get("const")])
        return "one of " + ", ".join(json.dumps(one, ensure_ascii=False) for one in options)
    if "anyOf" in about:
        kinds = [_kind_in_words(one) for one in about["anyOf"] if one.get("type") != "null"]
        return " or ".join(kinds)
    if about.get("type") == "array":
        items = about.get("items")
        return f"a list, each {_kind_in_words(items)}" if items else "a list"
    return _TYPES.get(about.get("type"), "anything")


def _line(text: str) -> str:
    return " ".join(text.split())
