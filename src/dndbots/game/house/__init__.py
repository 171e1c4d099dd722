"""The house's own players: bots that play without a model."""
