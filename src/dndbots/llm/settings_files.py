"""Settings files: the one the user names, else the current folder's, else the user's own.

A folder may come from anywhere, so its file may only name models. Addresses and key variables count once the
user trusts that file: its path and its content, to the byte.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from dndbots.errors import InvalidSettings, UntrustedSettings
from dndbots.llm.settings import FILE, ROLE_TABLES, RoleSettings, Settings, Way, names_server, read_settings

_TRUSTED: Final = "trusted"
_WAYS: Final = "ways.json"
_MOST_WAYS: Final = 200
_PRIVATE: Final = ("base_url", "fallback_base_url", "key_env")
_NAMES: Final = ("model", "fallback")

# Asks the user whether to trust a file.
Confirm = Callable[[UntrustedSettings], bool]


def load_settings(
    given: Path | None = None,
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    confirm: Confirm | None = None,
) -> Settings:
    """Load the settings that count; without a file, nothing is set.

    `UntrustedSettings` refuses a file of the current folder that has addresses or keys, unless the user
    trusts it already or `confirm` says yes now. `InvalidSettings` names the place of any other fault.
    """
    if given is not None:
        return _read(given)[1]
    config = find_config_folder(environ)
    here = (folder or Path.cwd()) / FILE
    if here.is_file():
        content, settings = _read(here)
        said = find_private(settings)
        if said and not _is_own(here, config) and not _is_trusted(here, content, config):
            refusal = UntrustedSettings(FILE if folder is None else str(here), said=said)
            if confirm is None or not confirm(refusal):
                raise refusal
            _remember(here, content, config)
        return settings
    own = config / FILE if config else None
    return _read(own)[1] if own is not None and own.is_file() else Settings()


def trust_settings(file: Path, *, environ: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Remember that the user trusts a file as it is now. Return its addresses and keys, by place."""
    content, settings = _read(file)
    said = find_private(settings)
    if said:
        _remember(file, content, find_config_folder(environ))
    return said


def load_ways(environ: Mapping[str, str] | None = None) -> dict[str, Way]:
    """Return the way that each model was found to answer in, as remembered in the user's own folder."""
    config = find_config_folder(environ)
    file = None if config is None else config / _WAYS
    try:
        known = {} if file is None else json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {str(key): Way(way) for key, way in known.items() if way in (Way.TOOLS, Way.SCHEMA, Way.WORDS)}


def remember_way(key: str, way: Way, *, environ: Mapping[str, str] | None = None) -> None:
    """Remember the way that a model answers in. A folder that cannot be written to changes nothing."""
    config = find_config_folder(environ)
    if config is None:
        return
    known = {**load_ways(environ), key: way}
    kept = dict(list(known.items())[-_MOST_WAYS:])
    part = config / f"{_WAYS}.{os.getpid()}"
    with suppress(OSError):
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        part.replace(config / _WAYS)


def find_private(settings: Settings) -> dict[str, str]:
    """Find what only the user may decide: each place that says an address or a key, with its value."""
    parts: dict[str, RoleSettings] = {"": settings}
    parts |= {f"[{name}] ": getattr(settings, name) for name in ROLE_TABLES}
    found: dict[str, str] = {}
    for part, said in parts.items():
        for name in _PRIVATE:
            if value := getattr(said, name):
                found[f"{part}{name}"] = value
        for name in _NAMES:
            if names_server(value := getattr(said, name) or ""):
                found[f"{part}{name}"] = value
    return found


def _read(file: Path) -> tuple[bytes, Settings]:
    """Read a file once, so that what is trusted is what is used."""
    try:
        content = file.read_bytes()
        return content, read_settings(content.decode("utf-8"), file=str(file))
    except (OSError, UnicodeDecodeError) as exc:
        reason = "is not UTF-8 text" if isinstance(exc, UnicodeDecodeError) else exc.strerror or str(exc)
        raise InvalidSettings(str(file), place="", reason=reason) from exc


def find_config_folder(environ: Mapping[str, str] | None = None) -> Path | None:
    """Find the user's own folder. A relative one would be inside the current folder, and is no such."""
    env = os.environ if environ is None else environ
    if sys.platform == "win32":
        homes = [env.get("APPDATA", "")]
    else:
        homes = [env.get("XDG_CONFIG_HOME", ""), f"{env['HOME']}/.config" if env.get("HOME") else ""]
    return next((Path(home) / "dndbots" for home in homes if Path(home).is_absolute()), None)


def _is_own(file: Path, config: Path | None) -> bool:
    return config is not None and file.resolve() == (config / FILE).resolve()


def _is_trusted(file: Path, content: bytes, config: Path | None) -> bool:
    return config is not None and _mark(file, content, config).is_file()


def _remember(file: Path, content: bytes, config: Path | None) -> None:
    if config is None:
        reason = "it cannot be remembered that you trust it: there is no HOME; name it with --settings"
        raise InvalidSettings(str(file), place="", reason=reason)
    mark = _mark(file, content, config)
    mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark.write_text(f"{file.resolve()}\n", encoding="utf-8", errors="surrogateescape")


def _mark(file: Path, content: bytes, config: Path) -> Path:
    """Name the file whose presence says that the user trusts this content at this path."""
    path = os.fsencode(file.resolve())
    return config / _TRUSTED / hashlib.sha256(path + b"\0" + content).hexdigest()
