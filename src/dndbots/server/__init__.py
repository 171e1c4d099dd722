"""Servers: tables in a browser for people in seats and for the DM, and campaigns for other programs."""
