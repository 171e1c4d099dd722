"""Build the voice of each role from settings: model, retries, fallback and meter."""

import random
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from dndbots.llm.chat_voice import ChatVoice, Remember
from dndbots.llm.fallback import FallbackModel, FallbackVoice
from dndbots.llm.meter import Meter, Metered
from dndbots.llm.protocol import Heard, Role, Usage, Voice
from dndbots.llm.providers import open_model, secrets_in
from dndbots.llm.retry import RetryPolicy
from dndbots.llm.settings import ModelSettings, Settings, Way

Open = Callable[[ModelSettings], Any]


class Voices:
    """The models of a game. Each is opened when first needed, and once for all roles.

    `ways` holds the ways that models are known to answer in; it grows, and may be kept for the next game.
    `heard` hears of each answer, beside the meter.
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
        """Return the voice of a role; None if the house plays it. `NoSuchPlayer` says what is missing."""
        if role not in self._voices:
            chats = [self._chat(one) for one in self.settings.models_of(role)]
            self._voices[role] = FallbackVoice(*chats) if len(chats) > 1 else next(iter(chats), None)
        return self._voices[role]

    def model(self, role: Role) -> FallbackModel | None:
        """Return the chat model of a role as an object with `invoke`, for summarizers and extractors."""
        said = self.settings.models_of(role)
        if not said:
            return None
        metered = [Metered(self._model(one), role, self._heard, name=one.model) for one in said]
        return FallbackModel(
            [(one.model, model, self._retry_policy(one)) for one, model in zip(said, metered, strict=True)]
        )

    def _chat(self, settings: ModelSettings) -> Voice:
        return ChatVoice(
            self._model(settings),
            name=settings.model,
            key=settings.key,
            retry=self._retry_policy(settings),
            structured=settings.structured,
            ways=self.ways,
            remember=self._remember,
            heard=self._heard,
        )

    def _model(self, settings: ModelSettings) -> Any:
        if settings not in self._opened:
            self._opened[settings] = self._open(settings)
        return self._opened[settings]

    def _retry_policy(self, settings: ModelSettings) -> RetryPolicy:
        return RetryPolicy(
            timeout=settings.timeout,
            attempts=settings.attempts,
            hides=secrets_in(settings, self._environ),
            **self._chance,
        )

    def _heard(self, role: Role, model: str, usage: Usage) -> None:
        self.meter.heard(role, model, usage)
        if self._also:
            self._also(role, model, usage)
