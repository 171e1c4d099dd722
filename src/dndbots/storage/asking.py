"""A fact that somebody asks about: who and what is meant by it, as the views have it."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dndbots._jsontext import as_json
from dndbots.canon.claims import AT, IN, PART_OF, claim_of
from dndbots.canon.values import Fact
from dndbots.errors import InvalidSetting
from dndbots.events import StatedFact
from dndbots.storage.knowledge import Asked
from dndbots.storage.reader import View


def asked_of(fact: StatedFact | Fact | Mapping[str, Any], view: View) -> Asked:
    given = dict(fact) if isinstance(fact, Mapping) else fact.model_dump(exclude_none=True)
    said = {key: given[key] for key in ("op", "object", "key", "value") if given.get(key) is not None}
    subject = view.find(str(given.get("subject", "")))[0]
    for word in ("op", "key"):
        if set(said) == {word} and (word == "key" or said["op"] in (AT, IN, PART_OF)):
            return Asked(subject, (str(said[word]),))
    others = view.persons(str(said["object"])) if "object" in said else [None]
    try:
        meant = [said if other is None else {**said, "object": other} for other in others]
        claims = [claim_of(StatedFact(subject=subject, **one)) for one in meant]
    except ValidationError as exc:
        reason = f"is not a fact to ask about: {exc.errors()[0]['msg']}"
        raise InvalidSetting("fact", given, reason=reason) from exc
    slots = tuple(dict.fromkeys(claim.slot for claim in claims))
    return Asked(claims[0].subject, slots, tuple(dict.fromkeys(as_json(claim.value) for claim in claims)))
