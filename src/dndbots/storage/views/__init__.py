"""Views: the campaign as one viewer may read it. Every answer comes from events that the viewer perceived."""
