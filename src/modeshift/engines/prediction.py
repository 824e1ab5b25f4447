"""Label new points: each climbs over the fitted points and joins the mode nearest its end."""

from typing import Any, NamedTuple

from modeshift.engines.problem import Problem
from modeshift.engines.rule import Sphere
from modeshift.engines.schedules.climb import climb
from modeshift.engines.schedules.field import BatchField
from modeshift.spec import Spec


class Model(NamedTuple):
    """Data of a fit for ``predict``, in the units of the problem.

    Attributes
    ----------
    problem : Problem
        Its points are the positions that new points climb over.
    ends : array of shape (n, d)
        Ends of the fitted points, in the coordinates in which distances are measured.
    labels : array of shape (n,)
    centers : array of shape (n_clusters, d)
    feature_scale : tuple of float, or None
        Length of each feature, by which points were divided.
    """

    problem: Problem
    ends: Any
    labels: Any
    centers: Any
    feature_scale: tuple[float, ...] | None = None

    @property
    def on_sphere(self) -> bool:
        """Whether points are unit vectors."""
        return isinstance(self.problem.rule.space, Sphere)


class Index:
    """The field and the trees of a fitted model, built once.

    Parameters
    ----------
    field : BatchField
        Field over the positions of the model's problem.
    model : Model
        With the same kind of arrays as the field.
    spec : Spec
        Its ``tol`` and ``max_iter`` end the climbs.
    """

    def __init__(self, field: BatchField, model: Model, spec: Spec) -> None:
        self._field = field
        self._model = model
        self._spec = spec
        centers = model.problem.measured(model.centers)
        self._nearest_end = field.space.nearest_search(model.ends)
        self._nearest_center = field.space.nearest_search(centers) if len(centers) else None

    def label(self, points: Any) -> Any:
        """Label new points. With cosine distance they must be unit vectors.

        A point with no mass within the bandwidth takes the label of the nearest cluster centre.
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
