"""A tree for more than a few features, in which places near each other share their walks."""

from collections.abc import Callable

import numpy as np

from modeshift.engines.cpu.fields.field import Asked
from modeshift.engines.cpu.fields.plan import plan_groups
from modeshift.engines.cpu.fields.shell import answer_groups, make_room
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.rule import Flat

_WORTH_IT = 1 << 22  # pairs of a place and a point from which on a plan pays
_SMALLEST, _LARGEST = 2.0**-30, 2.0**30  # radii with which offsets are float32


class GroupField(TreeField):
    """Field on a tree of boxes, with walks for groups of places under the flat rule.

    Single places walk as in :class:`TreeField`.
    """

    def _answer(self, asked: Asked, then: Callable[[np.ndarray], bool]) -> float:
        radius = asked.radii.max(initial=0.0)
        few = len(asked.places) * len(self.points) < _WORTH_IT
        if few or not isinstance(self.rule, Flat) or not _SMALLEST <= radius <= _LARGEST:
            return super()._answer(asked, then)
        plan = plan_groups(self.state, asked.places, radius, self.n_jobs)
        most = int(np.diff(plan.starts).max(initial=0))
        waste: list[float] = []

        def walk(start: int, stop: int) -> bool:
            room = make_room(self.state, most)
            waste.append(answer_groups(self.state, asked, plan, start, stop, room))
            return then(plan.order[plan.starts[start] : plan.starts[stop]])

        if run_blocks(walk, len(plan.spreads), self.n_jobs):
            return 0.0
        return sum(waste) + self._answer_singly(asked, plan.alone, then)
