"""The program that compacts in the background: `python -m dndbots.cli.maintain.reader`.

`compaction.background` starts it. It only joins the reader process with what opens a campaign.
"""

from dndbots.campaign import Campaign
from dndbots.compaction.reader_process import run_reader

if __name__ == "__main__":
    run_reader(Campaign.open)
