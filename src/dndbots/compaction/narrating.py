"""A piece of the story that somebody tells anew: of a known kind, and from words of the turns it cites."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from dndbots.compaction.checking import refuse_unfit_text
from dndbots.compaction.data import CampaignData, NarrativeInfo
from dndbots.compaction.grounds import share_said
from dndbots.compaction.values import Turn
from dndbots.errors import UpdateRefused
from dndbots.ids import short
from dndbots.memory.wording import Vocabulary

NarrativeKind = Literal["combat", "dialogue", "exploration", "discovery", "quest", "travel", "rest", "other"]
NARRATIVE_KINDS: Final[tuple[NarrativeKind, ...]] = get_args(NarrativeKind)
LONGEST_NARRATIVE: Final = 400
MOST_SOURCES: Final = 20
_LEAST_SAID: Final = 0.5


def narrative(kind: str, text: str, cited: Sequence[Turn]) -> NarrativeInfo:
    """The piece without an id of its own, or UpdateRefused."""
    if kind not in NARRATIVE_KINDS:
        raise _refused("field", f"{short(kind, 40)!r} is no kind of narrative: {', '.join(NARRATIVE_KINDS)}")
    if len(text) > LONGEST_NARRATIVE:
        raise _refused("text", f"the text has more than {LONGEST_NARRATIVE} characters")
    if not 0 < len(cited) <= MOST_SOURCES:
        raise _refused("unknown_turn", f"it cites no turn, or more than {MOST_SOURCES}")
    refuse_unfit_text("text", text)
    said = [part for turn in cited for part in (turn.speaker, turn.text)]
    strangers = list(Vocabulary(said).strangers(text))
    if strangers:
        raise _refused("name", f"{short(strangers[0], 40)!r} does not stand in the turns")
    if share_said(text, said) < _LEAST_SAID:
        raise _refused("unsupported", "most of it does not stand in the turns")
    sources = tuple(dict.fromkeys(turn.id for turn in cited))
    return NarrativeInfo(narrative_id="", kind=kind, text=" ".join(text.split()), sources=sources)


def with_id(told: NarrativeInfo, data: CampaignData) -> NarrativeInfo:
    """The same under an id that is not taken; or the one that is there, where it says the same."""
    for known in data.narratives.values():
        if (known.kind, known.text, known.sources) == (told.kind, told.text, told.sources):
            return known
    number = len(data.narratives) + 1
    while f"narrative_{number:04d}" in data.narratives:
        number += 1
    return told.model_copy(update={"narrative_id": f"narrative_{number:04d}"})


def _refused(rule: str, reason: str) -> UpdateRefused:
    return UpdateRefused(reason=reason, rule=rule)
