"""Vectors: many environments at once.

`factory` builds them, `env` is what callers use, `engine` what keeps the slots going, `feed` and `mixture` decide what is
played, `executors` are where it runs.
"""

from gem.vector.batch import Batch, Row
from gem.vector.env import NothingInFlight, VectorEnv
from gem.vector.factory import make_vec
from gem.vector.mixture import Mixture
from gem.vector.stats import VectorStats

__all__ = ["Batch", "Mixture", "NothingInFlight", "Row", "VectorEnv", "VectorStats", "make_vec"]
