"""Environments: the registry, and one package per family."""
