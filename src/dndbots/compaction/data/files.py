"""Converts campaign data to readable files and back. Nothing here touches a disk.

The same data and state give the same bytes. The state file holds the checksums of the other files and its
own; a set of files is whole if all checksums match.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, JsonValue, ValidationError

from dndbots._jsontext import read_json
from dndbots.compaction.data.models import INFOS, CampaignData, NarrativeInfo, SceneInfo
from dndbots.errors import StoreDamaged
from dndbots.ids import slug
from dndbots.storage.ports import MAIN

STATE_FILE: Final = "compaction_state.json"
CAMPAIGN_FILE: Final = "campaign_data.json"


class DataShelf(NamedTuple):
    """A field of the campaign data that maps ids to values, with their model and their id field."""

    field: str
    model: type[BaseModel]
    id_field: str = "uid"


# The shelves of each file, in the order in which files are written.
SHELVES_IN: Final[Mapping[str, tuple[DataShelf, ...]]] = {
    "characters.json": (DataShelf("characters", INFOS["characters"]),),
    "npcs.json": (DataShelf("npcs", INFOS["npcs"]),),
    "environments.json": (DataShelf("environments", INFOS["environments"]),),
    "quests.json": (DataShelf("quests", INFOS["quests"]),),
    "scenes.json": (DataShelf("scenes", SceneInfo, "scene_id"),),
    "narratives.json": (DataShelf("narratives", NarrativeInfo, "narrative_id"),),
    CAMPAIGN_FILE: (DataShelf("items", INFOS["items"]), DataShelf("factions", INFOS["factions"])),
}
DATA_FILES: Final = tuple(SHELVES_IN)
FILES: Final = (*DATA_FILES, STATE_FILE)
_REMEDY: Final = "restore an older version, or rewrite the files from the log"


def data_path(campaign: Path, branch: str = MAIN) -> Path:
    """Return the data folder of a branch. A branch name may contain anything; a folder name may not."""
    if branch == MAIN:
        return campaign / "data"
    stem = slug(branch) if branch.strip() else "branch"
    # The digest keeps branches apart whose slugs are equal, also on disks that ignore case.
    return campaign / "data" / "branches" / f"{stem}-{_digest(branch.encode('utf-8', 'surrogatepass'))[:16]}"


def to_files(data: CampaignData, state: Mapping[str, JsonValue]) -> dict[str, bytes]:
    """Return the data and the state of compaction as files by name."""
    files = {
        name: _written(_shelf(data, SHELVES_IN[name][0])) for name in DATA_FILES if name != CAMPAIGN_FILE
    }
    files[CAMPAIGN_FILE] = _written(_campaign(data))
    record = {"state": _plain(state), "files": {name: _digest(files[name]) for name in DATA_FILES}}
    return files | {STATE_FILE: _sealed(record)}


def from_files(files: Mapping[str, bytes]) -> CampaignData:
    """Return the data of a set of files; raise StoreDamaged with the file and position that is wrong."""
    read: dict[str, Any] = {}
    for name in DATA_FILES:
        content = _read(name, files)
        try:
            read |= _filled(name, content)
        except ValueError as exc:
            raise StoreDamaged(name, reason=f"{exc}; {_REMEDY}") from exc
    return CampaignData(**read)


def state_from(files: Mapping[str, bytes]) -> Mapping[str, JsonValue]:
    """Return the state that was given to `to_files`."""
    found = _read(STATE_FILE, files).get("state")
    if not isinstance(found, dict):
        raise StoreDamaged(STATE_FILE, reason=f"it contains no state; {_REMEDY}")
    return found


def digests_in(state_file: bytes | None) -> Mapping[str, str] | None:
    """Return the checksums in a state file; None if the state file is not as it was written."""
    record = parse_file(state_file) if state_file is not None else None
    if not (isinstance(record, dict) and list(record) == ["state", "files", "sha256"]):
        return None
    del record["sha256"]
    digests = record["files"]
    if not isinstance(digests, dict):
        return None
    try:
        is_as_written = _sealed(record) == state_file
    except RecursionError:  # nothing we wrote nests so deeply
        return None
    return {name: str(digest) for name, digest in digests.items()} if is_as_written else None


def is_whole(files: Mapping[str, bytes]) -> bool:
    """Return whether these are all files of one save, unchanged."""
    digests = digests_in(files.get(STATE_FILE))
    return (
        digests is not None
        and set(files) == set(FILES)
        and all(is_of(files[name], digests.get(name)) for name in DATA_FILES)
    )


def is_of(content: bytes, digest: str | None) -> bool:
    """Return whether the content has this checksum."""
    return _digest(content) == digest


def parse_file(content: bytes) -> JsonValue | None:
    """Return the JSON of a file; None if it is not JSON, or nested too deeply."""
    try:
        value: JsonValue = read_json(content)
    except ValueError:
        return None
    return value


def problem_with(name: str, value: JsonValue) -> str:
    """Return why a file is not campaign data; "" if it is."""
    if not isinstance(value, dict):
        return "it is not a JSON object"
    try:
        _filled(name, value)
    except ValueError as exc:
        return str(exc)
    return ""


@cache
def defaults_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return the defaults of a model's optional fields."""
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


def _shelf(data: CampaignData, shelf: DataShelf) -> dict[str, Any]:
    """Return the values of a shelf by id, without repeating the id inside."""
    found: dict[str, Any] = {}
    values: Mapping[str, BaseModel] = getattr(data, shelf.field)
    for key in sorted(values):
        found[key] = _plain(values[key])
        if found[key][shelf.id_field] == key:
            del found[key][shelf.id_field]
    return found


def _plain(value: object) -> Any:
    """Return a value for JSON: fields in the order of the model, without defaults; keys sorted."""
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
        return [_plain(item) for item in value]
    return value


def _filled(name: str, content: dict[str, JsonValue]) -> dict[str, Any]:
    """Return the fields of the campaign data in a file; raise ValueError for content that does not fit."""
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


def _values(shelf: DataShelf, content: JsonValue) -> dict[str, BaseModel]:
    if not isinstance(content, dict):
        raise ValueError(f"{shelf.field}: it is not a JSON object")  # noqa: TRY004 a file's fault, not a caller's
    found: dict[str, BaseModel] = {}
    for key, fields in content.items():
        if not isinstance(fields, dict):
            raise ValueError(f"{key}: it is not a JSON object")  # noqa: TRY004 the same
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
    content = parse_file(files[name])
    if not isinstance(content, dict):
        raise StoreDamaged(name, reason=f"it is not a JSON object; {_REMEDY}")
    return content


def _sealed(record: Mapping[str, Any]) -> bytes:
    """Return the state file with a checksum of the rest of it."""
    return _written({**record, "sha256": _digest(_written(record))})


def _written(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    # A lone surrogate is not valid UTF-8; backslashreplace turns it into a JSON escape.
    return text.encode("utf-8", "backslashreplace")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
