"""WordSearch: `level` is what easy and hard are made of, `grid` hides words in letters, `env` is the game."""
