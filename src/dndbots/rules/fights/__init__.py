"""Fights: attacks, monsters, spells, wounds and healing."""
