"""A tree in which places near each other share their walks."""

from collections.abc import Callable

import numpy as np

from modeshift.engines.cpu.fields.field import Asked
from modeshift.engines.cpu.fields.packs import answer_packs, make_desk
from modeshift.engines.cpu.fields.plan import Plan, plan_groups
from modeshift.engines.cpu.fields.shell import answer_groups, make_room
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.fields.tree_state import FEW, TreeState
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.rule import Flat

_WORTH_IT = 1 << 20  # pairs of a place and a point from which on a plan pays (measured)
_WORTH_IT_IN_FEW = 1 << 32  # the same up to ``FEW`` features, where boxes decide more
_LARGE = 1 << 12  # points from which it pays to ask stochastic steps together (measured)
_AHEAD = 384  # those steps: more cost more corrections, fewer share less
_PAYS = 4.0  # least gain of a plan with which it does (2 loses, 7 gains)
_ANY = Flat()
_SMALLEST, _LARGEST = 2.0**-30, 2.0**30  # radii with which offsets are float32


class GroupField(TreeField):
    """Field on a tree of boxes for the flat rule, with walks for groups of places.

    Single places walk as in :class:`TreeField`.
    """

    @property
    def ahead(self) -> int:
        """Number of stochastic steps that are best asked together.

        They are as many places all over the data. A plan for such places shows whether they are
        near enough to each other, so that groups save more than the corrections cost.
        """
        n, d = self.points.shape
        if d <= FEW:
            return super().ahead
        if n < _LARGE:
            return 1
        plan = self._plan(self.points[:: n // _AHEAD].copy(), self.radius)
        return _AHEAD if plan.gain >= _PAYS else super().ahead

    @property
    def asks_together(self) -> bool:
        """Whether the questions of stochastic steps are near enough to each other for groups."""
        return self.points.shape[1] > FEW

    def _ask(self, asked: Asked, then: Callable[[np.ndarray], bool]) -> float:
        radius = asked.radii.max(initial=0.0)
        least = _WORTH_IT_IN_FEW if self.points.shape[1] <= FEW else _WORTH_IT
        small = len(asked.places) * len(self.points) < least
        if small or not _SMALLEST <= radius <= _LARGEST:
            return super()._ask(asked, then)
        state, plan = self._still, self._plan(asked.places, radius)
        most = int(np.diff(plan.starts).max(initial=0))
        waste: list[float] = []

        def walk(start: int, stop: int) -> bool:
            if plan.packed:
                crowd = answer_packs(state, asked, plan, start, stop, make_desk(state))
            else:
                crowd = answer_groups(state, asked, plan, start, stop, make_room(state, most))
            waste.append(crowd)
            return then(plan.order[plan.starts[start] : plan.starts[stop]])

        if run_blocks(walk, len(plan.spreads), self.n_jobs):
            return 0.0
        return sum(waste) + self._ask_singly(asked, plan.alone, then)

    @property
    def _still(self) -> TreeState:
        """The state for walks of groups. They do not use the rule, so one is compiled for all."""
        return self.state._replace(rule=_ANY)

    def _plan(self, places: np.ndarray, radius: float) -> Plan:
        return plan_groups(self._still, places, radius, self.n_jobs)
