"""Executors, one a module; each runs the commands of a vector's slots in another place."""
