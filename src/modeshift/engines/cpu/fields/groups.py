"""A tree for more than a few features, in which places near each other share their walks."""

import numpy as np

from modeshift.engines.cpu.fields.field import Means
from modeshift.engines.cpu.fields.plan import plan_groups
from modeshift.engines.cpu.fields.shell import answer_groups, make_room
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.rule import Flat

_WORTH_IT = 1 << 22  # pairs of a place and a point from which on a plan pays
_SMALLEST, _LARGEST = 2.0**-30, 2.0**30  # radii with which offsets are float32


class GroupField(TreeField):
    """Field on a tree of boxes, with walks for groups of places.

    Single places walk as in :class:`TreeField`, and so do all under the Gaussian or nearest rule.
    """

    def means_near(
        self, places: np.ndarray, radius: float | None = None, tol: float = np.inf
    ) -> Means:
        """Return the means near many places, in groups where that costs less."""
        radius = self.radius if radius is None else radius
        few = len(places) * len(self.points) < _WORTH_IT
        if few or not isinstance(self.rule, Flat) or not _SMALLEST <= radius <= _LARGEST:
            return super().means_near(places, radius, tol)
        answer = Means(np.empty_like(places), np.empty(len(places)), np.zeros(len(places)))
        crowds: list[int] = []
        plan = plan_groups(self.state, places, radius, self.n_jobs)
        most = int((plan.stops - plan.starts).max(initial=0))

        def walk(start: int, stop: int) -> bool:
            room = make_room(self.state, most)
            largest, crowd = answer_groups(
                self.state, places, plan, start, stop, radius, room, answer
            )
            crowds.append(crowd)
            return largest > tol * tol

        if run_blocks(walk, len(plan.starts), self.n_jobs):
            return answer
        self.state.waste[0] += sum(crowds)  # not after a stop, whose time depends on threads
        if len(plan.alone) > 0:
            others = super().means_near(places[plan.alone], radius, tol)
            for part, values in zip(answer, others, strict=True):
                part[plan.alone] = values
        return answer
