"""The fit without ``resolution``: points stay in partitions, and all work in each round."""

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from modeshift.checks import ONLY_ZEROS
from modeshift.engines.cpu.chart import chart_of
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.cpu.sphere import put_back
from modeshift.engines.dask import rounds
from modeshift.engines.dask.merge import centers_of, merge
from modeshift.engines.dask.parts import Parts, Question
from modeshift.engines.dask.rows import Form, Rows
from modeshift.engines.dask.tree import new_token
from modeshift.engines.pose import smallest_cluster
from modeshift.engines.prediction import metric_of
from modeshift.engines.problem import Problem
from modeshift.engines.rule import Flat, Gaussian
from modeshift.spec import Blur, Fit, Spec, Wander
from modeshift.watching.observer import Observer
from modeshift.watching.progress import Progress
from modeshift.watching.watch import Watch


class RoundsModel(NamedTuple):
    """Data for ``predict`` after a fit over partitions.

    Attributes
    ----------
    parts : Parts
        The fields of the fitted rows.
    labels : list of Delayed
        Labels of the rows of each partition.
    problem : Problem
        Radius, scale and units, without points.
    n_clusters : int
    feature_scale : tuple of float, or None
    """

    parts: Parts
    labels: list[Any]
    problem: Problem
    n_clusters: int
    feature_scale: tuple[float, ...] | None

    @property
    def metric(self) -> str:
        """The metric of the fit."""
        return metric_of(self.problem)

    def engine(self) -> Any:
        """Return the engine with the partitions. Only this engine can predict."""
        from modeshift.engines.dask.engine import RoundsEngine

        return RoundsEngine()


def fit_in_rounds(
    spec: Spec, problem: Problem, rows: Rows, form: Form, random_state: Any, observer: Observer,
    on_gpu: bool,
) -> Fit:  # fmt: skip
    """Run the schedule over partitions, merge, label."""
    rule = Gaussian() if spec.kernel == "gaussian" else Flat()
    question = Question(problem.radius, rule, spec.algorithm, spec.on_sphere, on_gpu)
    parts = Parts(rows, form, question)
    if len(parts) == 0:
        raise ValueError("X must have at least one row, got only empty chunks.")
    if parts.weight == 0.0:
        raise ValueError(ONLY_ZEROS)
    watch = observer.watch(_reporter(observer, spec, problem, rows.dtype))
    fitted = parts.fields  # schedules replace them where points move
    run = _run(spec, parts, problem, random_state, watch)
    ends = parts.persist(run.ends)
    length = spec.merge_radius * problem.scale
    merged = merge(parts, ends, length, smallest_cluster(spec, problem), spec.n_clusters)
    centers = centers_of(parts, merged)
    parts.fields = fitted
    if spec.on_sphere:
        centers = put_back(centers, merged.anchors)
    space = NumpySpace(chart=form.chart)
    modes = [
        parts.task("modes", _in_user_units, each, space, problem.exponent, rows.dtype)
        for each in ends
    ]
    return Fit(
        labels=as_array(parts, merged.labels, np.empty(0, dtype=np.int64)),
        modes=as_array(parts, modes, np.empty((0, form.n_features), dtype=rows.dtype)),
        centers=_in_user_units(centers, space, problem.exponent, rows.dtype),
        scale=float(np.ldexp(problem.scale, problem.exponent)) * spec.unit,
        n_iter=run.n_iter,
        n_steps=run.n_steps,
        converged=run.converged,
        model=RoundsModel(parts, merged.labels, problem, len(centers), spec.feature_scale),
    )


def _run(spec: Spec, parts: Parts, problem: Problem, random_state: Any, watch: Watch) -> rounds.Run:
    """Run the schedule of the spec."""
    limits: dict[str, Any] = {"tol": spec.tol * problem.scale, "max_iter": spec.max_iter}
    if isinstance(spec.schedule, Wander):
        return rounds.wander(
            parts,
            scale=problem.scale,
            patience=spec.schedule.patience,
            batch_size=spec.schedule.batch_size or 1,
            random_state=random_state,
            watch=watch,
            **limits,
        )
    if isinstance(spec.schedule, Blur):
        return rounds.blur(parts, watch=watch, **limits)
    starts = [parts.task("climb-start", rounds.positions_of, field) for field in parts.fields]
    return rounds.climb(parts, starts, watch=watch, **limits)


def _in_user_units(
    positions: np.ndarray, space: NumpySpace, exponent: int, dtype: np.dtype
) -> np.ndarray:
    return space.from_units(positions, exponent).astype(dtype)


def as_array(parts: Parts, pieces: list[Any], meta: np.ndarray) -> Any:
    """Return a lazy array of the partitions' results, in the chunks of X, empty ones included."""
    all_pieces = [parts.task("empty", meta.copy) for _ in parts.all_sizes]
    for chunk, piece in zip(parts.chunks, pieces, strict=True):
        all_pieces[chunk] = piece
    return stacked(all_pieces, tuple(parts.all_sizes.tolist()), meta)


def stacked(pieces: list[Any], sizes: tuple, meta: np.ndarray) -> Any:
    """Return a lazy array of delayed chunks. Dask's own functions drop empty chunks."""
    name = f"modeshift-rows-{new_token()}"
    columns = meta.shape[1:]
    rest = (0,) * len(columns)
    layer: Any = {(name, i, *rest): (_same, piece.key) for i, piece in enumerate(pieces)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=pieces)
    return da.Array(graph, name, (sizes, *((n,) for n in columns)), meta=meta)


def _same(piece: np.ndarray) -> np.ndarray:
    return piece


def _reporter(observer: Observer, spec: Spec, problem: Problem, dtype: np.dtype) -> Any:
    """Return the function that calls the callbacks after a sweep; positions are lazy."""
    if not observer.callbacks:
        return None

    def report(positions: tuple[Parts, list[Any]], factors: None, **numbers: int) -> None:
        parts, places = positions
        space = NumpySpace(chart=chart_of(spec))
        shown = [
            parts.task("positions", _in_user_units, each, space, problem.exponent, dtype)
            for each in places
        ]

        def count_clusters() -> int:
            return len(merge(parts, places, spec.merge_radius * problem.scale, 0.0, None).anchors)

        meta = np.empty((0, parts.rows.points.shape[1]), dtype=dtype)
        observer.tell(
            Progress(
                max_iter=spec.max_iter,
                positions=as_array(parts, shown, meta),
                count_clusters=count_clusters,
                **numbers,
            )
        )

    return report
