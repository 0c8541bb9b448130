"""Evaluation: an agent's numbers on environments, and the episodes behind them.

`runner` plays and writes, `metrics` summarises.
"""

from gem.evaluation.metrics import Summary, summarise
from gem.evaluation.runner import Result, evaluate

__all__ = ["Result", "Summary", "evaluate", "summarise"]
