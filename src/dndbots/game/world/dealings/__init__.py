"""Dealings with people of an adventure: remarks to them, purchases and sales."""
