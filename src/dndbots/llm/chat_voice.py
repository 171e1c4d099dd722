"""A voice that is a chat model: finds the way the model can answer in, retries, and keeps time.

Any object with `invoke(messages)` will do. `bind_tools`, `bind` and `stream` are tried, and what works is
remembered.
"""

import time
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dndbots.errors import ModelUnavailable
from dndbots.llm.cache_marks import CacheMarks, wants_marks
from dndbots.llm.messages import count_in, messages_of
from dndbots.llm.protocol import Answer, Hear, Heard, Question, Usage
from dndbots.llm.responses.answers import LONGEST_ANSWER, AnswerReading, read
from dndbots.llm.responses.shapes import (
    End,
    Shape,
    broke_off,
    content_of,
    said_in,
    shape_in,
    shape_of,
    tokens_of,
    tokens_of_all,
)
from dndbots.llm.responses.stream import AnswerStream
from dndbots.llm.retry import NoAnswer, RetryPolicy
from dndbots.llm.settings import Way, is_small_model
from dndbots.llm.timeouts import Stopped, Unwanted, as_it_comes, within
from dndbots.llm.tool_schemas import MOST_CALLS, MOST_CALLS_OF_SMALL, answer_schema, as_function
from dndbots.llm.troubles import TroubleKind
from dndbots.tokens import counter_for

# Hears in which way a model answers, once that is known.
Remember = Callable[[str, Way], None]
# Providers write tools in fewer tokens than JSON, but not in a third of them.
_TOOLS_SHRINK: Final = 3
_ORDER: Final = (Way.TOOLS, Way.SCHEMA, Way.WORDS)
# A server that cannot parse one tool call reports much the same as one without tools.
_MOST_SLIPS: Final = 3


class ChatVoice:
    """Asks one chat model. Raises only `ModelUnavailable`; a bad answer carries its faults.

    `ways` maps a model's `key` to the way it is known to answer in, and grows; `remember` hears of each new
    one.
    """

    def __init__(
        self,
        model: Any,
        *,
        name: str,
        key: str | None = None,
        retry: RetryPolicy | None = None,
        structured: Way = Way.AUTO,
        ways: MutableMapping[str, Way] | None = None,
        remember: Remember | None = None,
        heard: Heard | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model, self.name, self._key = model, name, key or name
        self._retry = retry or RetryPolicy()
        self._structured = Way(structured)
        self.ways: MutableMapping[str, Way] = {} if ways is None else ways
        self._remember, self._heard, self._clock = remember, heard, clock
        self._encoding = counter_for(name).encoding
        # The way to try first while none is known to work. Small models copy the tools they are shown, and
        # call none; a schema holds them to the form, and costs fewer tokens.
        is_small = is_small_model(name)
        self._begin = Way.SCHEMA if is_small else Way.TOOLS
        self._most_calls = MOST_CALLS_OF_SMALL if is_small else MOST_CALLS
        self._marks = CacheMarks(wanted=wants_marks(name))
        # Failures in a row of a way that is known to work.
        self._slips = 0

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        """Return the answer to a question, and hand its words to `hear` as they come.

        The answer is what counts.

        After a failed attempt the next one is heard when it is whole, unless words of the first were heard
        already.
        """
        began = self._clock()
        hearing = AnswerStream(hear)
        *others, last = self._ways_for(question)
        for way in (*others, last):
            try:
                shape, counted, bare = self._asked(question, way, hearing)
            except NoAnswer as exc:
                if exc.trouble.kind is TroubleKind.UNSUPPORTED and way is not last:
                    self._slips += way is self.ways.get(self._key)
                    continue
                raise ModelUnavailable(self.name, reason=self._told(exc, way)) from exc
            reading = read(shape, question.tools, way)
            self._learn(question, way, reading, unseen=0 < shape.tokens.get("input", 0) < bare)
            usage = Usage(**shape.tokens, counted=counted, seconds=max(0.0, self._clock() - began))
            if self._heard:
                self._heard(question.role, self.name, usage)
            hearing.finish(reading.words)
            answer = reading.answer(model=self.name, usage=usage)
            return replace(answer, stopped=True) if _is_stopped(question) else answer
        raise AssertionError  # the last way answers or raises

    def _told(self, failed: NoAnswer, way: Way) -> str:
        """Say why there is no answer, and which setting may help."""
        kind, reason = failed.trouble.kind, failed.trouble.reason
        if kind is TroubleKind.UNSUPPORTED and self._structured is way is not Way.AUTO:
            return f'{reason}; structured = "auto" finds another way'
        if kind is TroubleKind.TOO_LONG:
            return f"{reason}; it takes a longer context, or a game that is begun with a smaller budget"
        return reason

    # Ways

    def _ways_for(self, question: Question) -> tuple[Way, ...]:
        if not question.tools:
            return (Way.AUTO,)
        if self._structured is not Way.AUTO:
            return (self._structured,)
        return _ORDER[_ORDER.index(self.ways.get(self._key, self._begin)) :]

    def _learn(self, question: Question, way: Way, reading: AnswerReading, *, unseen: bool) -> None:
        if way is Way.AUTO:
            return
        if reading.fits:
            if self.ways.get(self._key) is way:
                self._slips = 0
            elif self._key not in self.ways or self._slips >= _MOST_SLIPS:
                self.ways[self._key], self._slips = way, 0
                if self._remember:
                    self._remember(self._key, way)
        elif self._key not in self.ways:
            # Calls written as text, no call though asked again, or tools that the server never showed to
            # the model (it counted too few tokens): try another way next.
            gave_up = reading.fits is False or ((question.so_far or unseen) and not reading.calls)
            at = _ORDER.index(way)
            self._begin = _ORDER[min(at + 1, len(_ORDER) - 1)] if gave_up else way

    # Asking

    def _asked(self, question: Question, way: Way, hearing: AnswerStream) -> tuple[Shape, int, int]:
        """Return the response, our count of the input, and the least count that shows the model saw all of
        it.
        """
        messages = self._marks.mark(messages_of(question, way))
        functions = [as_function(tool) for tool in question.tools] if way is Way.TOOLS else []
        schema = answer_schema(question.tools, most=self._most_calls) if way is Way.SCHEMA else None
        counted = count_in(messages, self._encoding, beside=functions)
        without = count_in(messages, self._encoding)
        bare = without + (counted - without) // _TOOLS_SHRINK if functions else 0

        stopped = None if question.stop is None else question.stop.is_set

        def once() -> Shape:
            model = _bound(self._model, functions, schema)
            try:
                if hearing.deaf or not hasattr(model, "stream"):
                    invoke = partial(model.invoke, messages)
                    return shape_of(within(self._retry.timeout, invoke, stopped=stopped))
                on = hearing.begin(in_object=way in (Way.SCHEMA, Way.WORDS))
                return self._streamed(model, messages, on, stopped)
            except Unwanted:
                return Shape(end=End.CUT)
            except Exception as exc:  # libraries raise whatever they like, also for an answer that was cut
                hearing.stop()
                if (shape := shape_in(exc)) is None:
                    raise
                return shape

        return self._retry.run(once), counted, bare

    def _streamed(
        self, model: Any, messages: list[Any], on: Callable[[str], None], stopped: Stopped | None
    ) -> Shape:
        """Return a whole stream added up, or what came of it until it was stopped.

        The time-out is kept here, so that words are heard in the caller's thread.
        """

        def begin() -> Iterator[Any]:
            return iter(model.stream(messages))

        whole: Any = None
        length = 0
        counting: list[object] = []
        try:
            for chunk in as_it_comes(self._retry.timeout, begin, stopped=stopped):
                whole = chunk if whole is None else whole + chunk
                if tokens_of(chunk):
                    counting.append(chunk)
                said = said_in(content_of(chunk)) or ""
                length += len(said)
                on(said)
                if length > LONGEST_ANSWER:
                    break
            else:
                if whole is None or broke_off(whole):
                    raise ConnectionError("the stream broke off")
        except Unwanted:
            if whole is None:
                raise
        shape = shape_of(whole)
        tokens = tokens_of_all(counting)
        return shape if tokens is None else replace(shape, tokens=tokens)


def _is_stopped(question: Question) -> bool:
    return question.stop is not None and question.stop.is_set()


def _bound(model: Any, functions: list[dict[str, Any]], schema: dict[str, Any] | None) -> Any:
    if functions:
        if not hasattr(model, "bind_tools"):
            raise NotImplementedError("bind_tools")
        return model.bind_tools(functions)
    if schema:
        if not hasattr(model, "bind"):
            raise NotImplementedError("response_format")
        held = {"name": "answer", "schema": schema, "strict": False}
        return model.bind(response_format={"type": "json_schema", "json_schema": held})
    return model
