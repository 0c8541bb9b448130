"""Bridges to other libraries, one module each; a library is imported only by its own module."""
