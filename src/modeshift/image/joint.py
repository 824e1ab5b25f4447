"""The stochastic and the blurring schedule: pixels move over the current places of the others.

The schedules are those of the estimators, over a field of its own kind: a point is near if it is
within the radius in space and within the range in colour. Both are 1 in the units of the field.
"""

from typing import Any

import numpy as np

from modeshift.engines.cpu.steps import CompiledSteps
from modeshift.engines.schedules.blur import blur
from modeshift.engines.schedules.stopping import LargestShift
from modeshift.engines.schedules.wander import negligible_shift, wander
from modeshift.image.block import Block
from modeshift.image.climb import Ends, no_ends
from modeshift.image.joint_field import JointField
from modeshift.image.plan import Plan


def joint_field(plan: Plan, block: Block, n_threads: int) -> JointField:
    """Return the field of all pixels of a block that count."""
    settings, n_bands = plan.settings, plan.layout.n_bands
    inside = slice(block.pad, block.pad + block.shape[2])
    colours = block.planes[:n_bands, ..., inside][:, block.valid].T
    places = np.argwhere(block.valid) * settings.unit
    units = np.array([*settings.radius, *[plan.colours.range_units] * n_bands], dtype=np.float64)
    points = np.concatenate([places, colours], axis=1) / units
    z, y, x = points[:, :3].max(axis=0).astype(int).tolist()
    return JointField(
        points, np.ones(len(points)), 1.0, n_threads, units=units, shape=(z + 1, y + 1, x + 1)
    )


def seek(plan: Plan, block: Block, random_state: Any, n_threads: int) -> tuple[Ends, bool]:
    """Run the stochastic or the blurring schedule; return the ends, and whether it converged."""
    settings, n_bands = plan.settings, plan.layout.n_bands
    field = joint_field(plan, block, n_threads)
    tol = float(np.sqrt(settings.quiet))
    if plan.schedule == "blurring":
        outcome = blur(field, stop=LargestShift(tol), max_iter=settings.max_iter)
    else:
        negligible = negligible_shift(tol, 1.0)
        outcome = wander(
            field,
            CompiledSteps(field, 1, tol, negligible, record=False),
            tol=tol,
            patience=1.0,
            max_iter=settings.max_iter,
            random_state=random_state,
        )
    ends = no_ends(n_bands, block.valid.size)
    pixels = np.flatnonzero(block.valid)
    ends.places[:, pixels] = np.rint(outcome.ends[:, :3] * np.array(settings.radius)).T
    ends.colours[:, pixels] = np.rint(outcome.ends[:, 3:] * plan.colours.range_units).T
    return ends, outcome.converged
