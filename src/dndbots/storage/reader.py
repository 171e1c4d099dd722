"""What a viewer may read: every answer here is made from rows of events that the viewer perceived."""

from dndbots.storage.happened import Happenings
from dndbots.storage.knowledge import Knowledge


class View(Knowledge, Happenings):
    """The campaign as one viewer sees it, up to a place in the log. The DM sees everything."""
