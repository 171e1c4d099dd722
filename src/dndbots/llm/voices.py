"""Who is asked in which role, put together from settings: opened, with patience, fallback and a meter."""

import random
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from dndbots.llm.asking import Heard, Role, Usage, Voice
from dndbots.llm.chat import ChatVoice, Remember
from dndbots.llm.falling import FallbackVoice
from dndbots.llm.metering import Meter, Metered
from dndbots.llm.opening import open_model, secrets_in
from dndbots.llm.settings import ModelSettings, Settings, Way
from dndbots.llm.steady import Steady
from dndbots.llm.trying import Trying

Open = Callable[[ModelSettings], Any]


class Voices:
    """The models of a game. Each is opened when its role is first asked for, and once for all roles.

    `ways` are the ways that models are known to answer in; it is added to, and may be kept from one game to
    the next. `heard` is told of each answer beside the meter.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        ways: MutableMapping[str, Way] | None = None,
        remember: Remember | None = None,
        heard: Heard | None = None,
        opens: Open | None = None,
        environ: Mapping[str, str] | None = None,
        rng: random.Random | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self.ways: MutableMapping[str, Way] = {} if ways is None else ways
        self.meter = Meter(settings.prices)
        self._remember, self._also = remember, heard
        self._open = opens or (lambda one: open_model(one, environ=environ))
        self._environ = environ
        self._chance: dict[str, Any] = {"sleep": sleep} | ({} if rng is None else {"rng": rng})
        self._opened: dict[ModelSettings, Any] = {}
        self._voices: dict[Role, Voice | None] = {}

    def voice(self, role: Role) -> Voice | None:
        """Who is asked in a role; None where the house plays. `NoSuchPlayer` says what is missing."""
        if role not in self._voices:
            chats = [self._chat(one) for one in self.settings.models_of(role)]
            self._voices[role] = FallbackVoice(*chats) if len(chats) > 1 else next(iter(chats), None)
        return self._voices[role]

    def model(self, role: Role) -> Steady | None:
        """The chat model of a role as an object with `invoke`: for summarizers and extractors."""
        said = self.settings.models_of(role)
        if not said:
            return None
        metered = [Metered(self._model(one), role, self._heard, name=one.model) for one in said]
        return Steady(
            [(one.model, model, self._trying(one)) for one, model in zip(said, metered, strict=True)]
        )

    def _chat(self, settings: ModelSettings) -> Voice:
        return ChatVoice(
            self._model(settings),
            name=settings.model,
            key=settings.key,
            trying=self._trying(settings),
            structured=settings.structured,
            ways=self.ways,
            remember=self._remember,
            heard=self._heard,
        )

    def _model(self, settings: ModelSettings) -> Any:
        if settings not in self._opened:
            self._opened[settings] = self._open(settings)
        return self._opened[settings]

    def _trying(self, settings: ModelSettings) -> Trying:
        return Trying(
            timeout=settings.timeout,
            attempts=settings.attempts,
            hides=secrets_in(settings, self._environ),
            **self._chance,
        )

    def _heard(self, role: Role, model: str, usage: Usage) -> None:
        self.meter.heard(role, model, usage)
        if self._also:
            self._also(role, model, usage)
