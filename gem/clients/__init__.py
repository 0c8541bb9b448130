"""Clients of services: `http` is the one that all others stand on."""
