"""Crosswords: `clues` is the words, `layout` crosses them, `env` is the game."""
