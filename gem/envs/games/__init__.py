"""Text games. `base` is what they share, `moves` reads what a player writes, `specs` is the table; each game is a module."""
