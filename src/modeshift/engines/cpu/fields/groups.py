"""A tree for more than a few features, in which places near each other share their walks."""

from collections.abc import Callable

import numpy as np

from modeshift.engines.cpu.fields.field import Asked
from modeshift.engines.cpu.fields.plan import plan_groups
from modeshift.engines.cpu.fields.shell import answer_groups, make_room
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.rule import Flat

_WORTH_IT = 1 << 20  # pairs of a place and a point from which on a plan pays (measured)
_LARGE = 1 << 12  # points from which it pays to ask stochastic steps together (measured)
_AHEAD = 512  # those steps: more cost more corrections, fewer share less
_ANY = Flat()  # the walk does not use the rule, so it is compiled for one
_SMALLEST, _LARGEST = 2.0**-30, 2.0**30  # radii with which offsets are float32


class GroupField(TreeField):
    """Field on a tree of boxes for the flat rule, with walks for groups of places.

    Single places walk as in :class:`TreeField`.
    """

    @property
    def ahead(self) -> int:
        """Number of stochastic steps that are best asked together."""
        return _AHEAD if len(self.points) >= _LARGE else 1

    def _ask(self, asked: Asked, then: Callable[[np.ndarray], bool]) -> float:
        radius = asked.radii.max(initial=0.0)
        few = len(asked.places) * len(self.points) < _WORTH_IT
        if few or not _SMALLEST <= radius <= _LARGEST:
            return super()._ask(asked, then)
        state = self.state._replace(rule=_ANY)
        plan = plan_groups(state, asked.places, radius, self.n_jobs)
        most = int(np.diff(plan.starts).max(initial=0))
        waste: list[float] = []

        def walk(start: int, stop: int) -> bool:
            room = make_room(state, most)
            waste.append(answer_groups(state, asked, plan, start, stop, room))
            return then(plan.order[plan.starts[start] : plan.starts[stop]])

        if run_blocks(walk, len(plan.spreads), self.n_jobs):
            return 0.0
        return sum(waste) + self._ask_singly(asked, plan.alone, then)
