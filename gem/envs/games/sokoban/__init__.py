"""Sokoban. `env` is the game, `levels` makes starts by playing backwards, `solver` plans from anywhere, `rooms` is common ground."""
