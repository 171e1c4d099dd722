"""Numbers in plain English: "80", "seventy-five", "a hundred and fifty", "two dozen"."""

import re
from typing import Final

_ONES_TEXT: Final = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
"""
_TENS_TEXT: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES: Final = {
    **{word: number for number, word in enumerate(_ONES_TEXT.split())},
    **{word: 10 * number for number, word in enumerate(_TENS_TEXT.split(), start=2)},
}
_TIMES: Final = {"dozen": 12, "hundred": 100, "thousand": 1_000}
_WORD: Final = re.compile(r"\d+(?:,\d{3})*|[a-z]+", re.IGNORECASE)
_LONGEST: Final = 9  # digits


def spell_number(number: int) -> str:
    """Return a number below a thousand in words, as people say it; larger ones in digits."""
    if not 0 <= number < _TIMES["thousand"]:
        return f"{number:,}"
    ones, tens = _ONES_TEXT.split(), _TENS_TEXT.split()
    hundreds, rest = divmod(number, _TIMES["hundred"])
    small = (
        ones[rest]
        if rest < len(ones)
        else "-".join((tens[rest // 10 - 2], *([ones[rest % 10]] if rest % 10 else ())))
    )
    if not hundreds:
        return small
    return f"{ones[hundreds]} hundred{f' and {small}' if rest else ''}"


def numbers_in(text: str) -> list[int]:
    """Return the numbers that a text names, in order; "one" alone is a word for somebody, not a number."""
    found: list[int] = []
    total: int | None = None
    before = ""
    for match in _WORD.finditer(text):
        word = match.group().casefold().replace(",", "")
        if word.isdecimal():
            found += [total] if total is not None else []
            total = int(word[:_LONGEST])
        elif word in _VALUES and not (word == "one" and total is None):
            value = _VALUES[word]
            joins = total is not None and (total % 100 == 0 or (total % 10 == 0 and 0 < value < 10))
            found += [total] if total is not None and not joins else []
            total = total + value if total is not None and joins else value
        elif word in _TIMES and (total is not None or before in ("a", "an", "one")):
            total = (1 if total is None else total) * _TIMES[word]
        elif word != "and" or total is None or total % 100:
            found += [total] if total is not None else []
            total = None
        before = word
    return found + ([total] if total is not None else [])
