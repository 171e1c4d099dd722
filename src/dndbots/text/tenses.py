"""Instructions and present-tense statements about the reader, retold as deeds of the party.

"Reach the old mill." becomes "reached the old mill", "You have found a way in." becomes "found a way in". A
text that has neither form is left alone: a wrong guess reads worse than a quotation.
"""

import re
from typing import Final

from dndbots.text.word_forms import past_of, past_of_participle

# Verbs that begin the goals and steps of adventures. Only these are taken for an instruction.
_INSTRUCTIONS = """
    accept accuse ask avenge beat become break bring build burn buy carry catch choose clear climb close
    collect come cross deal defeat deliver destroy discover drive end enter escape escort explore face
    fetch fight find finish follow free gather get give go guard hand hear help hide hold hunt investigate
    join keep kill lay lead learn leave let lift light look make meet open pay persuade prove protect put
    raise reach recover rescue retrieve return ride rid ring save search see seek sell send settle show
    slay solve speak steal stop survive sweep take talk tell track travel uncover unlock visit wait wake
    warn watch win
"""
_VERBS: Final = frozenset(_INSTRUCTIONS.split())
_FIRST: Final = re.compile(r"([A-Z][a-z]+)(?= |[.!]?$)")
# "You have found", "you know": the auxiliary of the perfect goes, a verb in the present becomes past.
_YOU: Final = re.compile(r"You (?:have |had |now )?([a-z]+)(?= |[.!]?$)")
_PAST: Final = {
    "know": "learned", "are": "were", "can": "could", "do": "did", "see": "saw", "hear": "heard",
    "find": "found", "have": "had", "will": "would", "must": "had to",
    "learn": "learned", "understand": "understood",
}  # fmt: skip
_READER: Final = re.compile(r"\b(yourselves|yourself|yours|your|you)\b", re.IGNORECASE)
_PARTY: Final = {
    "you": "them", "your": "their", "yours": "theirs", "yourself": "themselves", "yourselves": "themselves",
}  # fmt: skip
_ENDS: Final = " .!?;,"


def infinitive_of(instruction: str) -> str | None:
    """Return an instruction as it stands after "to": "find the mill"; None if it is no instruction."""
    first = _FIRST.match(instruction)
    if first is None or first[1].lower() not in _VERBS:
        return None
    return f"{first[1].lower()}{instruction[first.end() :]}".rstrip(_ENDS)


def deed_of(text: str) -> str | None:
    """Return an instruction or a statement about the reader as a deed in the past; None if it is neither."""
    instruction = infinitive_of(text)
    if instruction is not None:
        verb, _, rest = instruction.partition(" ")
        return f"{past_of(verb)} {_about_party(rest)}".strip()
    about = _YOU.match(text)
    if about is None:
        return None
    perfect = about.group().startswith(("You have ", "You had "))
    past = past_of_participle(about[1]) if perfect else _PAST.get(about[1])
    return None if past is None else f"{past}{_about_party(text[about.end() :])}".rstrip(_ENDS)


def _about_party(text: str) -> str:
    """Return a text with the party in the place of the reader."""
    return _READER.sub(lambda word: _PARTY[word[1].lower()], text).rstrip(_ENDS)
