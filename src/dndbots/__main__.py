"""Run `python -m dndbots`: the same as the `dndbots` program."""

from dndbots.cli import main

if __name__ == "__main__":
    main()
