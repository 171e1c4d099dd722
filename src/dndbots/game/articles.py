"""Names of things as they stand in a sentence: with an article, unless they take none."""

import re
from typing import Final

_ARTICLE: Final = re.compile(r"(?:an?|the|some)\s+(?=\S)", re.IGNORECASE)
_OWNED: Final = re.compile(r"(?:my|your|his|her|its|our|their|this|that|these|those)\s", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|many|several)\s", re.IGNORECASE
)
_HEADING: Final = re.compile(
    r"(?:(?:north|south|east|west|up|down|in|out|on|back)(?:east|west|wards?)?|into|onto|off|ahead|left|right"
    r"|through|over|under|along|across|around|behind|beyond|past|to|towards?|between|below|beneath|above"
    r"|inside|outside|home)\b"
)


def with_a(value: str) -> str:
    if _stands_alone(value) or _ARTICLE.match(value) or _COUNTED.match(value):
        return value
    return f"{'an' if value[0] in 'aeiou' else 'a'} {value}"


def with_the(value: str) -> str:
    if article := _ARTICLE.match(value):
        return f"the {value[article.end() :]}"
    return value if _stands_alone(value) else f"the {value}"


def as_route(value: str) -> str:
    """A way out: "north" becomes "the way north"."""
    return f"the way {value}" if _HEADING.match(value) else with_the(value)


def _stands_alone(value: str) -> bool:
    """Names, what belongs to somebody, and what is no word at all take no article."""
    return not value[:1].islower() or _OWNED.match(value) is not None
