"""The command line: parse, call, show. No logic of its own."""


def main() -> None:
    raise SystemExit("dndbots: no commands yet")
