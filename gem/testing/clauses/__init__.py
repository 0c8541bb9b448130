"""The clauses of the contract, each a function that finds one kind of breach.

`shape` is what calls return, `seeds` chance and determinism, `tasks` keys and splits, `copies` snapshots and twins, `play` the
reference behaviour. A clause that builds on others names them in `needs`: where one of those is broken it is not judged, so
that a fault is reported once, by the clause it breaks.
"""

from gem.testing.clauses import copies, play, seeds, shape, tasks
from gem.testing.clauses.base import CLAUSES, Breach, Clause

__all__ = ["CLAUSES", "Breach", "Clause", "copies", "play", "seeds", "shape", "tasks"]
