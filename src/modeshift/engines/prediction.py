"""Labels for new points: each climbs over the fitted field and joins the mode nearest its end."""

from typing import Any, NamedTuple

from modeshift.engines.problem import Problem
from modeshift.engines.schedules.climb import climb
from modeshift.engines.schedules.field import BatchField
from modeshift.spec import Spec


class Model(NamedTuple):
    """What ``predict`` needs of a fit, in the units of the problem.

    Attributes
    ----------
    problem : Problem
        Its points are the positions that new points climb over.
    ends : array of shape (n, d)
        Where the fitted points ended, as distances are measured.
    labels : array of shape (n,)
    centers : array of shape (n_clusters, d)
    """

    problem: Problem
    ends: Any
    labels: Any
    centers: Any


class Index:
    """The field and the trees of a fitted model, built once.

    Parameters
    ----------
    field : BatchField
        Over the positions of the model's problem.
    model : Model
        In the space of the field.
    spec : Spec
        Whose ``tol`` and ``max_iter`` the climbs obey.
    """

    def __init__(self, field: BatchField, model: Model, spec: Spec) -> None:
        self._field = field
        self._model = model
        self._spec = spec
        centers = model.problem.measured(model.centers)
        self._nearest_end = field.space.nearest_search(model.ends)
        self._nearest_center = field.space.nearest_search(centers) if len(centers) else None

    def label(self, points: Any) -> Any:
        """Label new points, which are unit vectors with cosine distance.

        A point with nobody within the bandwidth takes the label of the nearest cluster centre.
        """
        space, problem = self._field.space, self._model.problem
        starts = problem.measured(space.to_units(points, problem.exponent))
        order = space.order_in_space(starts)
        labels = space.full(len(starts), -1)
        labels[order] = self._label_in_order(starts[order])
        return labels

    def _label_in_order(self, starts: Any) -> Any:
        climbs = climb(
            self._field,
            starts,
            tol=self._spec.tol * self._model.problem.scale,
            max_iter=self._spec.max_iter,
        )
        labels = self._model.labels[self._nearest_end(climbs.outcome.ends)]
        lonely = climbs.lonely
        if lonely.any():
            nearest = self._nearest_center
            labels[lonely] = -1 if nearest is None else nearest(starts[lonely])
        return labels
