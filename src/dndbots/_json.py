"""JSON in one spelling, so that the same value is the same text everywhere."""

import json
from collections.abc import Callable

as_json: Callable[[object], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
