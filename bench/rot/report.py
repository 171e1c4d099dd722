"""Writes the report: figures as Markdown, plots as SVG, everything as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.rot.environments import Environment, constants_of
from bench.rot.model_answers import Answered
from bench.rot.plot import chart
from bench.rot.run import Stage

FIGURES = {
    "found": "evidence found",
    "stale": "stale served as current",
    "both": "stale beside current",
    "leaked": "leaked to those who cannot know",
    "invented": "answered though there is no record",
    "refused": "refused though there is one",
}
OURS = "dndbots"


def write_report(
    folder: Path,
    results: Mapping[str, Sequence[Stage]],
    environments: Mapping[str, Environment],
    settings: Mapping[str, object],
    answered: Mapping[str, Answered],
) -> Path:
    """Write the report of a run into a folder; return the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    titles = {system: str(constants_of(system)["TITLE"]) for system in environments}
    parts = ["# A memory that does not rot: results", "", _describe(settings), ""]
    lengths = sorted({stage.turns for stages in results.values() for stage in stages})
    for turns in lengths:
        parts += [f"## After {turns:,} lines", "", *_table(results, titles, turns), ""]
        for figure, title in (
            ("found", "Evidence found"),
            ("invented", "Answered though there is no record"),
        ):
            parts += [
                f"{title}, by kind of question, after {turns:,} lines:",
                "",
                *_kinds(results, titles, turns, figure),
                "",
            ]
    parts += _plots(folder, results, titles)
    parts += _answers(answered, titles)
    parts += [
        "## Cost",
        "",
        "CPU time of the system's process, stub models included; it depends on the machine.",
        "",
        *_costs(results, titles),
        "",
    ]
    parts += ["## Systems", "", *_systems(environments, titles, results), ""]
    path = folder / "report.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    for system, stages in results.items():
        _write_answers(folder / f"{system}.json", stages)
    return path


def _describe(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in settings.items()) + "."


def _table(results: Mapping[str, Sequence[Stage]], titles: Mapping[str, str], turns: int) -> list[str]:
    stages = _stages(results, turns)
    whole = next((stage for _, stage in stages if not stage.failure), None)
    counts = [whole.tally.count(figure) if whole else 0 for figure in FIGURES]
    heads = [f"{title} (of {count})" for title, count in zip(FIGURES.values(), counts, strict=True)]
    rows = ["| system | " + " | ".join(heads) + " | tokens an answer | over budget |"]
    rows.append("|---|" + "---:|" * (len(FIGURES) + 2))
    for system, stage in stages:
        if stage.failure:
            rows.append(f"| {titles[system]} | failed: {stage.failure[:120]} |" + " |" * (len(FIGURES) + 1))
            continue
        shares = [_number(stage.tally.share(figure)) for figure in FIGURES]
        tokens = [verdict.tokens for verdict in stage.tally.verdicts]
        mean_tokens = f"{sum(tokens) / len(tokens):.0f}" if tokens else "-"
        rows.append(
            f"| {titles[system]} | " + " | ".join(shares) + f" | {mean_tokens} | {stage.over_budget} |"
        )
    return rows


def _kinds(
    results: Mapping[str, Sequence[Stage]], titles: Mapping[str, str], turns: int, figure: str
) -> list[str]:
    tallies = [(system, stage.tally) for system, stage in _stages(results, turns) if not stage.failure]
    if not tallies:
        return []
    _, first = tallies[0]
    kinds = first.kinds(figure)
    heads = [f"{kind} (of {first.count(figure, [kind])})" for kind in kinds]
    rows = ["| system | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(kinds)]
    for system, tally in tallies:
        shares = [_number(tally.share(figure, [kind])) for kind in kinds]
        rows.append(f"| {titles[system]} | " + " | ".join(shares) + " |")
    return rows


def _plots(folder: Path, results: Mapping[str, Sequence[Stage]], titles: Mapping[str, str]) -> list[str]:
    whole = {system: [stage for stage in stages if not stage.failure] for system, stages in results.items()}
    ages = {titles[s]: [*stages[-1].tally.found_by_age().items()] for s, stages in whole.items() if stages}
    adds = {
        titles[s]: [(stage.turns, stage.add_cpu / stage.lines * 1000) for stage in stages]
        for s, stages in whole.items()
    }
    asks = {
        titles[s]: [
            (stage.turns, stage.ask_cpu / max(len(stage.tally.verdicts), 1) * 1000) for stage in stages
        ]
        for s, stages in whole.items()
    }
    parts = ["## Plots", ""]
    for name, title, across, up, series, share in (
        (
            "recall-by-age",
            "Evidence found, by age",
            "lines since it was told, at most",
            "share found",
            ages,
            True,
        ),
        ("cost-of-adding", "Cost of adding a line", "lines so far", "CPU ms a line", adds, False),
        ("cost-of-asking", "Cost of a question", "lines so far", "CPU ms a question", asks, False),
    ):
        drawn = chart(title, across, up, {key: line for key, line in series.items() if line}, share=share)
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
        parts += [f"![{title}]({name}.svg)", ""]
    return parts


def _answers(answered: Mapping[str, Answered], titles: Mapping[str, str]) -> list[str]:
    if not answered:
        return []
    rows = ["## Answered by a model from each text", ""]
    rows.append("| system | right | stale | leaked | said unknown where nothing is known |")
    rows.append("|---|---:|---:|---:|---:|")
    for system, shares in answered.items():
        figures = (shares.right, shares.stale, shares.leaked, shares.honest)
        rows.append(f"| {titles[system]} | " + " | ".join(map(_number, figures)) + " |")
    return [*rows, ""]


def _costs(results: Mapping[str, Sequence[Stage]], titles: Mapping[str, str]) -> list[str]:
    heads = (
        "lines",
        "CPU ms a line added",
        "CPU ms a question",
        "CPU ms a context",
        "model calls a line",
        "bytes on disk a line",
    )
    rows = ["| system | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for system, stages in results.items():
        rows += [
            f"| {titles[system]} | {stage.turns:,} | {stage.add_cpu / stage.lines * 1000:.2f} | "
            f"{stage.ask_cpu / max(len(stage.tally.verdicts), 1) * 1000:.1f} | "
            f"{stage.context_cpu / max(len(stage.contexts), 1) * 1000:.1f} | "
            f"{stage.model_calls / stage.lines:,.1f} | {stage.size / stage.lines:,.0f} |"
            for stage in stages
            if not stage.failure
        ]
    return rows


def _systems(
    environments: Mapping[str, Environment], titles: Mapping[str, str], results: Mapping[str, Sequence[Stage]]
) -> list[str]:
    lines = []
    for system, environment in environments.items():
        state = ", ".join(environment.versions) or "in this environment"
        if environment.missing:
            state = f"skipped: {environment.missing}"
        elif any(stage.failure for stage in results.get(system, ())):
            failure = next(stage for stage in results[system] if stage.failure)
            state += f"; failed before {failure.turns:,} lines: {failure.failure}"
        lines.append(f"- **{titles[system]}** ({state}): {constants_of(system)['ABOUT']}.")
    return lines


def _write_answers(path: Path, stages: Sequence[Stage]) -> None:
    """Write what a system answered and the verdicts, without times: the same bytes for the same answers."""
    kept = [
        {
            "turns": stage.turns,
            "failure": stage.failure,
            "answers": [
                reply | {"verdict": {key: v for key, v in asdict(verdict).items() if key != "cpu"}}
                for reply, verdict in zip(stage.replies, stage.tally.verdicts, strict=True)
            ],
        }
        for stage in stages
    ]
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def _stages(results: Mapping[str, Sequence[Stage]], turns: int) -> list[tuple[str, Stage]]:
    return [(system, stage) for system, stages in results.items() for stage in stages if stage.turns == turns]


def _number(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"
