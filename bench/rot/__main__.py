"""`python -m bench.rot`: tell a campaign, ask every system, write the report."""

import argparse
import sys
from pathlib import Path

from bench.rot.environments import Environment, environment_of, known_systems
from bench.rot.model_answers import Answered, answer_all, open_voice
from bench.rot.questions import Known, ask_questions
from bench.rot.report import write_report
from bench.rot.run import Stage, load_stages, measure, merge_stages, save_stages, started
from bench.rot.story import Story
from bench.rot.transcripts import read_stage


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench.rot", description=__doc__)
    parser.add_argument("--turns", default="100,1000,10000", help="lengths at which questions are asked")
    parser.add_argument("--systems", default="dndbots,newest,bm25,everybody", help="names, or all")
    parser.add_argument("--questions", type=int, default=120, help="questions at each length")
    parser.add_argument("--budget", type=int, default=500, help="tokens an answer may have")
    parser.add_argument("--seeds", default="1", help="the stories that are told, as 1,2,3")
    parser.add_argument("--out", type=Path, default=Path("rot-report"))
    parser.add_argument(
        "--lines", type=Path, nargs="+", help="transcripts to ask about, instead of a told story"
    )
    parser.add_argument("--questions-file", type=Path, help="the questions about them, as JSON lines")
    parser.add_argument("--dm", help="the speaker of the transcripts who is the DM")
    parser.add_argument("--model", help="also answer the last questions with this model, as provider:name")
    parser.add_argument("--base-url", help="the server of that model")
    parser.add_argument(
        "--keep", action="store_true", help="take what --out has from earlier runs of the same questions"
    )
    parser.add_argument("--environments", type=Path, default=Path(".rot"), help="where peers are installed")
    args = parser.parse_args()
    systems = known_systems() if args.systems == "all" else args.systems.split(",")
    unknown = [system for system in systems if system not in known_systems()]
    if unknown:
        parser.error(f"no system is called {unknown[0]!r}; choose from {', '.join(known_systems())}")
    if bool(args.lines) is not bool(args.questions_file):
        parser.error("--lines and --questions-file go together")
    if args.lines:
        seeds = ["transcripts"]
        stories = [[read_stage(args.lines, args.questions_file, args.dm)]]
        settings = {"transcripts": len(args.lines), "questions": len(stories[0][0][1]), "budget": args.budget}
    else:
        lengths = sorted(int(turns) for turns in args.turns.split(","))
        seeds = args.seeds.split(",")
        stories = [tell_stages(int(seed), lengths, args.questions) for seed in seeds]
        settings = {
            "seeds": args.seeds,
            "budget": args.budget,
            "questions at each length and seed, at most": args.questions,
        }
    results: dict[str, list[Stage]] = {}
    environments: dict[str, Environment] = {}
    for system in systems:
        environments[system] = environment_of(system, args.environments)
        if environments[system].missing:
            print(f"{system}: skipped, {environments[system].missing}", file=sys.stderr)
            continue
        told = []
        for seed, stages in zip(seeds, stories, strict=True):
            path = args.out / "runs" / f"{system}-{seed}.json"
            if not (args.keep and path.exists()):
                save_stages(path, run_system(system, environments[system], stages, args.budget))
            told.append(load_stages(path))
        results[system] = merge_stages(told)
    answered: dict[str, Answered] = {}
    if args.model:
        settings["model"] = args.model
        answered = answer_all(open_voice(args.model, args.base_url), results)
    print(write_report(args.out, results, environments, settings, answered))


def run_system(
    system: str,
    environment: Environment,
    stages: list[tuple[list[dict[str, object]], list[Known]]],
    budget: int,
) -> list[Stage]:
    """Run one system over one story, in a process of its own."""
    with started(system, environment) as worker:
        done = measure(worker, stages, budget, lambda text: _progress(system, text))
    _progress(system, f"{done[-1].failure or 'done'}\n")
    return done


def tell_stages(
    seed: int, lengths: list[int], questions: int
) -> list[tuple[list[dict[str, object]], list[Known]]]:
    """The lines between one length and the next, with the questions that are asked then."""
    story = Story(seed)
    return [(list(story.take(turns)), ask_questions(story, turns, questions, seed)) for turns in lengths]


def _progress(system: str, text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{system}: {text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
