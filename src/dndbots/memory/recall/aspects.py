"""Aspects: the words with which people ask for one thing about somebody, by the fact that answers them.

"What is Brenna's trade?" asks for the fact `role`, and the line in which she is met may say it in any word.
"""

from typing import Final

from dndbots.text.word_forms import forms_of

WORDS_OF_ASPECTS: Final = {
    "age": "old young years",
    "attitude": "feel mood like trust friendly hostile toward towards party",
    "faction": "group guild side belong member order allegiance",
    "fears": "afraid scared frighten",
    "holder": "has carries hands owns keeps owner become",
    "home": "live lives home hometown born come call place",
    "race": "kind folk people species race human",
    "role": "trade work job living profession occupation craft business",
    "status": "doing become alright well state condition happened",
    "wants": "goal desire aim after",
}


def _all_forms(words: str) -> frozenset[str]:
    return frozenset(form for word in words.split() for form in forms_of(word))


_ASPECTS: Final = _all_forms(" ".join((*WORDS_OF_ASPECTS, *WORDS_OF_ASPECTS.values())))
# Words that ask for nothing more in a question of where something is.
_PLACING: Final = _all_forms("put hide keep lie place find")


def is_aspect(forms: tuple[str, ...], *, asks_where: bool = False) -> bool:
    """Return True if a word of a question only names an aspect of somebody or something."""
    return not _ASPECTS.isdisjoint(forms) or (asks_where and not _PLACING.isdisjoint(forms))
