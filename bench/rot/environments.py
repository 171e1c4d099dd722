"""Environments of the systems: one virtual environment each, outside of the project, made once."""

import ast
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# Peers count tokens with the same library as we do.
COMMON = ("toktok-rs>=0.3,<0.4",)
_SECONDS = 900


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The Python that runs a system, with the versions it has; or the reason why there is none."""

    python: Path
    versions: tuple[str, ...] = ()
    missing: str = ""


def environment_of(system: str, folder: Path) -> Environment:
    """Return the environment of a system. Make it if the system needs packages that are not in this one."""
    requires = requirements_of(system)
    if not requires:
        return Environment(python=Path(sys.executable))
    home = folder / system
    python = home / "bin" / "python"
    try:
        if not (home / ".ready").exists():
            _run(sys.executable, "-m", "venv", "--clear", str(home))
            _run(
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                *COMMON,
                *requires,
            )
            (home / ".ready").touch()
        listed = _run(str(python), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check")
    except (OSError, subprocess.SubprocessError) as exc:
        output = getattr(exc, "stderr", None) or str(exc)
        last = [line for line in output.strip().splitlines() if line.strip()] or ["no reason given"]
        return Environment(python=python, missing=f"cannot be installed: {last[-1][:200]}")
    names = {requirement.split("[")[0].split("=")[0].split(">")[0].split("<")[0] for requirement in requires}
    return Environment(
        python=python, versions=tuple(v for v in listed.splitlines() if v.split("==")[0] in names)
    )


def constants_of(system: str) -> dict[str, object]:
    """The constants of a system's module. It is only read: importing it would need its packages."""
    tree = ast.parse((Path(__file__).parent / "systems" / f"{system}.py").read_text(encoding="utf-8"))
    found: dict[str, object] = {}
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if name in ("TITLE", "REQUIRES", "ABOUT"):
                found[name] = ast.literal_eval(value)
    return found


def requirements_of(system: str) -> tuple[str, ...]:
    """The packages that a system needs."""
    return tuple(constants_of(system)["REQUIRES"])  # type: ignore[arg-type]


def _run(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_SECONDS)
    return done.stdout


def known_systems() -> list[str]:
    """The systems that there are, ours first, then the floors, then the peers."""
    folder = Path(__file__).parent / "systems"
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    first = ["dndbots", "newest", "bm25", "everybody"]
    return [*first, *(name for name in names if name not in first)]
