"""The setting of a scene: roof or sky, season, weather, and day or night. Phrases say what they need of it.

The tags of a place are stored with its sights; the hour follows from the clock of the table.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dndbots.game.state.table import Table

BEGINNING: Final = datetime(1312, 4, 2, 9, 0)  # noqa: DTZ001 - game time has no zone
A_NIGHT: Final = 8 * 60  # minutes of sleep
INDOORS, OUTDOORS, BELOW = "indoors", "outdoors", "below"
DAY, NIGHT = "day", "night"
SEASONS: Final = ("spring", "summer", "autumn", "winter")
SKIES: Final = ("snow", "rain", "wind", "fog", "sun")
# The hours in which day and night begin.
_LIGHT: Final = {"winter": (8, 17), "summer": (5, 22), "autumn": (7, 19), "spring": (6, 20)}
_ANY: Final = (6, 21)


def light_hours(tags: Iterable[str]) -> tuple[int, int]:
    """Return the hours in which it gets light and dark, by season."""
    return next((_LIGHT[tag] for tag in tags if tag in _LIGHT), _ANY)


def time_of_day(minutes: int, tags: Iterable[str]) -> str:
    """Return day or night, so many minutes after the beginning of a game."""
    dawn, dusk = light_hours(tags)
    return DAY if dawn <= (BEGINNING + timedelta(minutes=minutes)).hour < dusk else NIGHT


def setting_at(table: "Table", place: str | None) -> frozenset[str]:
    """Return the setting of a place as a viewer knows it; nothing for a place that was never seen."""
    sights = table.sights.get(place or "")
    if sights is None or not sights.setting:
        return frozenset()
    return frozenset((*sights.setting, time_of_day(table.minutes, sights.setting)))
