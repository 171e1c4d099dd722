"""Campaigns that released versions recorded, and the texts that their viewers read today.

`golden/<version>/<campaign>/` has the database and the log of each branch as that version wrote them, and
`views/`, a text for each branch and viewer. A change that alters these texts on purpose writes them anew
with `python -m tests.attacks.golden_views`; the difference in git is then what the change means to a table.
"""

import gzip
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dndbots.campaign import Campaign

GOLDEN = Path(__file__).parent / "golden"
BUDGET = 1000
QUESTION = "What was promised, and who asked for it?"


def golden_folders() -> list[Path]:
    return sorted(path.parent for path in GOLDEN.glob("*/*/campaign.db.gz"))


def unpack(golden: Path, to: Path) -> Path:
    """Write a golden database into a campaign folder of its own."""
    to.mkdir(parents=True)
    with gzip.open(golden / "campaign.db.gz") as packed, (to / "campaign.db").open("wb") as file:
        shutil.copyfileobj(packed, file)
    return to


def golden_log(golden: Path, branch: str) -> list[str]:
    with gzip.open(golden / f"{branch}.jsonl.gz", "rt", encoding="utf-8") as packed:
        return packed.read().splitlines()


def branches_of(golden: Path) -> list[str]:
    return sorted(path.name.removesuffix(".jsonl.gz") for path in golden.glob("*.jsonl.gz"))


def viewer_texts(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """Yield a viewer's uid and everything that viewer reads, for the DM and each player character."""
    for viewer in ("dm", *(pc.uid for pc in campaign.entities(viewer="dm", category="PC"))):
        parts = {
            "CONTEXT": campaign.context(viewer, budget=BUDGET).text,
            "RECAP": str(campaign.recap(viewer, length="medium").text),
            "RECALL": campaign.recall(viewer, QUESTION, budget=BUDGET).text,
            "ENTITIES": "\n".join(
                entity.model_dump_json(exclude_defaults=True) for entity in campaign.entities(viewer=viewer)
            ),
        }
        yield viewer, "".join(f"==== {title}\n{text}\n" for title, text in parts.items())


def texts_of(folder: Path, branches: list[str]) -> dict[str, str]:
    texts = {}
    for branch in branches:
        with Campaign.open(folder, create=False, branch=branch) as campaign:
            texts |= {f"{branch}.{viewer}.txt": text for viewer, text in viewer_texts(campaign)}
    return texts


def write_views() -> None:
    for golden in golden_folders():
        views = golden / "views"
        shutil.rmtree(views, ignore_errors=True)
        views.mkdir()
        with tempfile.TemporaryDirectory() as scratch:
            folder = unpack(golden, Path(scratch) / "campaign")
            for name, text in texts_of(folder, branches_of(golden)).items():
                (views / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{golden.relative_to(GOLDEN)}\n")


if __name__ == "__main__":
    write_views()
