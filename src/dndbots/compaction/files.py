"""Campaign data as files that a person can read, and back. Nothing here touches a disk.

The same data and state are the same bytes. The last file says what each of the others must be, and
itself too: a set of files is whole if all of it is so.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, JsonValue, ValidationError

from dndbots._jsontext import read_json
from dndbots.compaction.data import INFOS, CampaignData, NarrativeInfo, SceneInfo
from dndbots.errors import StoreDamaged
from dndbots.ids import slug
from dndbots.storage.ports import MAIN

STATE_FILE: Final = "compaction_state.json"
CAMPAIGN_FILE: Final = "campaign_data.json"


class Shelf(NamedTuple):
    """A field of the campaign data that maps ids to values: which values, and where their own id is."""

    field: str
    model: type[BaseModel]
    id_field: str = "uid"


# What each file holds, in the order in which files are written.
SHELVES_IN: Final[Mapping[str, tuple[Shelf, ...]]] = {
    "characters.json": (Shelf("characters", INFOS["characters"]),),
    "npcs.json": (Shelf("npcs", INFOS["npcs"]),),
    "environments.json": (Shelf("environments", INFOS["environments"]),),
    "quests.json": (Shelf("quests", INFOS["quests"]),),
    "scenes.json": (Shelf("scenes", SceneInfo, "scene_id"),),
    "narratives.json": (Shelf("narratives", NarrativeInfo, "narrative_id"),),
    CAMPAIGN_FILE: (Shelf("items", INFOS["items"]), Shelf("factions", INFOS["factions"])),
}
DATA_FILES: Final = tuple(SHELVES_IN)
FILES: Final = (*DATA_FILES, STATE_FILE)
_REMEDY: Final = "restore a version, or write the files anew from the log"


def data_path(campaign: Path, branch: str = MAIN) -> Path:
    """Where the data of a branch are kept. A branch may be called anything; a folder may not."""
    if branch == MAIN:
        return campaign / "data"
    stem = slug(branch) if branch.strip() else "branch"
    # The digest tells names apart that look alike, also where a disk takes no notice of case.
    return campaign / "data" / "branches" / f"{stem}-{_digest(branch.encode('utf-8', 'surrogatepass'))[:16]}"


def to_files(data: CampaignData, state: Mapping[str, JsonValue]) -> dict[str, bytes]:
    """The data and the state of their compaction as files by name."""
    files = {
        name: _written(_shelf(data, SHELVES_IN[name][0])) for name in DATA_FILES if name != CAMPAIGN_FILE
    }
    files[CAMPAIGN_FILE] = _written(_campaign(data))
    record = {"state": _plain(state), "files": {name: _digest(files[name]) for name in DATA_FILES}}
    return files | {STATE_FILE: _sealed(record)}


def from_files(files: Mapping[str, bytes]) -> CampaignData:
    """The data that were written. Where no data can be read, an error names the file and the place."""
    read: dict[str, Any] = {}
    for name in DATA_FILES:
        content = _read(name, files)
        try:
            read |= _filled(name, content)
        except ValueError as exc:
            raise StoreDamaged(name, reason=f"{exc}; {_REMEDY}") from exc
    return CampaignData(**read)


def state_from(files: Mapping[str, bytes]) -> Mapping[str, JsonValue]:
    """The state that was given to `to_files`."""
    found = _read(STATE_FILE, files).get("state")
    if not isinstance(found, dict):
        raise StoreDamaged(STATE_FILE, reason=f"it has no state; {_REMEDY}")
    return found


def digests_in(state_file: bytes | None) -> Mapping[str, str] | None:
    """What each file must be, by the word of a state file; None where that is not as it was written."""
    record = parsed(state_file) if state_file is not None else None
    if not (isinstance(record, dict) and list(record) == ["state", "files", "sha256"]):
        return None
    del record["sha256"]
    digests = record["files"]
    if not isinstance(digests, dict):
        return None
    try:
        is_as_written = _sealed(record) == state_file
    except RecursionError:  # it was not we who wrote that
        return None
    return {name: str(digest) for name, digest in digests.items()} if is_as_written else None


def is_whole(files: Mapping[str, bytes]) -> bool:
    """Whether these are all the files, as they were written together."""
    digests = digests_in(files.get(STATE_FILE))
    return (
        digests is not None
        and set(files) == set(FILES)
        and all(is_of(files[name], digests.get(name)) for name in DATA_FILES)
    )


def is_of(content: bytes, digest: str | None) -> bool:
    return _digest(content) == digest


def parsed(content: bytes) -> JsonValue | None:
    """What a file says; None where that is no JSON, or more than we can read."""
    try:
        value: JsonValue = read_json(content)
    except ValueError:
        return None
    return value


def problem_with(name: str, value: JsonValue) -> str:
    """Why a file cannot be read as campaign data; empty where it can."""
    if not isinstance(value, dict):
        return "it holds no object"
    try:
        _filled(name, value)
    except ValueError as exc:
        return str(exc)
    return ""


@cache
def defaults_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """What the fields of a model are if they are left out."""
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
        if not field.is_required()
    }


def _campaign(data: CampaignData) -> dict[str, Any]:
    shelves = [shelf for own in SHELVES_IN.values() for shelf in own]
    return {
        "cursor": data.cursor,
        "sessions": list(data.sessions),
        "counts": {shelf.field: len(getattr(data, shelf.field)) for shelf in shelves},
        **{shelf.field: _shelf(data, shelf) for shelf in SHELVES_IN[CAMPAIGN_FILE]},
    }


def _shelf(data: CampaignData, shelf: Shelf) -> dict[str, Any]:
    """The values by id, which they need not say again."""
    found: dict[str, Any] = {}
    values: Mapping[str, BaseModel] = getattr(data, shelf.field)
    for key in sorted(values):
        found[key] = _plain(values[key])
        if found[key][shelf.id_field] == key:
            del found[key][shelf.id_field]
    return found


def _plain(value: object) -> Any:
    """A value as JSON has it: fields in the order of their model, without defaults; keys in order."""
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        defaults = defaults_of(type(value))
        return {
            name: _plain(own)
            for name, own in fields.items()
            if not (name in defaults and own == defaults[name])
        }
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _filled(name: str, content: dict[str, JsonValue]) -> dict[str, Any]:
    """The fields of the campaign data that a file holds. What cannot be read is a ValueError."""
    if name == STATE_FILE:
        return {}
    if name != CAMPAIGN_FILE:
        (shelf,) = SHELVES_IN[name]
        return {shelf.field: _values(shelf, content)}
    whole = {field: content[field] for field in ("cursor", "sessions") if field in content}
    try:
        CampaignData.model_validate(whole)
    except ValidationError as exc:
        raise ValueError(_first_of(exc)) from exc
    return whole | {shelf.field: _values(shelf, content.get(shelf.field, {})) for shelf in SHELVES_IN[name]}


def _values(shelf: Shelf, content: JsonValue) -> dict[str, BaseModel]:
    if not isinstance(content, dict):
        raise ValueError(f"{shelf.field}: it holds no object")  # noqa: TRY004 a file's fault, not a caller's
    found: dict[str, BaseModel] = {}
    for key, fields in content.items():
        if not isinstance(fields, dict):
            raise ValueError(f"{key}: it holds no object")  # noqa: TRY004 the same
        try:
            found[key] = shelf.model.model_validate({shelf.id_field: key, **fields})
        except ValidationError as exc:
            raise ValueError(f"{key}.{_first_of(exc)}") from exc
    return found


def _first_of(exc: ValidationError) -> str:
    first = exc.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _read(name: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    if name not in files:
        raise StoreDamaged(name, reason=f"it is missing; {_REMEDY}")
    content = parsed(files[name])
    if not isinstance(content, dict):
        raise StoreDamaged(name, reason=f"it holds no JSON object; {_REMEDY}")
    return content


def _sealed(record: Mapping[str, Any]) -> bytes:
    """The state file, with its own checksum over all the rest of it."""
    return _written({**record, "sha256": _digest(_written(record))})


def _written(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    # A lone surrogate is no UTF-8; the backslash makes it the escape that JSON has for it.
    return text.encode("utf-8", "backslashreplace")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
