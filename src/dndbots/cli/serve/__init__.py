"""Commands that serve campaigns to browsers."""
