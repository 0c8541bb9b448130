"""WikiGame: from page to page by links. `env` is the game, `source` what an encyclopedia is, `almanac` the embedded one."""
