"""The clauses of the contract, each a function that finds one kind of breach.

`shape` is what calls take and return, `seeds` chance and determinism, `copies` snapshots and twins, `play` the reference
behaviour, `tasks` keys and splits, `processes` other processes. A clause that builds on others names them in `needs`: where one
of those is broken it is not judged, so that a fault is reported once, by the clause it breaks.
"""

from gem.testing.clauses import copies, play, processes, seeds, shape, tasks
from gem.testing.clauses.base import CLAUSES, Breach, Clause

__all__ = ["CLAUSES", "Breach", "Clause", "copies", "play", "processes", "seeds", "shape", "tasks"]
