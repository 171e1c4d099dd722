"""A module as the text of a file: what `load` reads back as the same module."""

from typing import Any

from dndbots.game.adventures.values import HEADER, Module


def text_of(module: Module) -> str:
    """YAML without what goes without saying, for people to read and change."""
    import yaml

    data = module.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    header = {field: data.pop(field) for field in HEADER if field in data}
    return str(
        yaml.dump(
            _without_labels({"module": header, **data}),
            Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
            sort_keys=False,
            allow_unicode=True,
            width=110,
        )
    )


def _without_labels(data: Any) -> Any:
    """Entries need not say what they are filed under."""
    if isinstance(data, list):
        return [_without_labels(entry) for entry in data]
    if not isinstance(data, dict):
        return data
    return {
        key: _without_labels(
            {field: held for field, held in entry.items() if field not in ("key", "label") or held != key}
            if isinstance(entry, dict)
            else entry
        )
        for key, entry in data.items()
    }
