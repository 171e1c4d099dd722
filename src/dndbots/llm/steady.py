"""A chat model that is asked again, and another in its place: for those who ask models by `invoke` alone."""

from collections.abc import Callable, Sequence
from typing import Any

from dndbots.errors import ModelUnavailable
from dndbots.llm.trying import Failed, Trying

Derive = Callable[[Any], Any]


class Steady:
    """Chat models as one: the first that answers, each with patience; `ModelUnavailable`, if none does."""

    def __init__(
        self, models: Sequence[tuple[str, Any, Trying]], *, derive: Derive = lambda model: model
    ) -> None:
        self._models, self._derive = tuple(models), derive

    def invoke(self, messages: Any, *args: Any, **fields: Any) -> Any:
        *others, last = self._models
        for each in (*others, last):
            name, model, trying = each

            def once(model: Any = model, trying: Trying = trying) -> Any:
                derived = self._derive(model)
                return trying.within(lambda: derived.invoke(messages, *args, **fields))

            try:
                return trying.run(once)
            except Failed as exc:
                if each is last:
                    raise ModelUnavailable(name, reason=exc.trouble.reason) from exc
        raise AssertionError  # the last one answers or raises

    def with_structured_output(self, *args: Any, **fields: Any) -> "Steady":
        def derive(model: Any) -> Any:
            if not hasattr(model, "with_structured_output"):
                raise NotImplementedError("with_structured_output")
            return model.with_structured_output(*args, **fields)

        return Steady(self._models, derive=derive)
