"""The fit without compression: points stay in partitions, and every round asks all of them."""

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from modeshift.chunked import sweeps
from modeshift.chunked.merge import Merged, centers_of, merge
from modeshift.chunked.parts import Parts, Question
from modeshift.chunked.rows import Form, Rows
from modeshift.chunked.tree import new_token
from modeshift.fields.rule import Flat, Gaussian
from modeshift.nearest import nearest_rows
from modeshift.sphere import put_back
from modeshift.units import Problem, from_units
from modeshift.validation import check_randomness, refuse
from modeshift.watch import UNWATCHED, Progress, Watch


class ScatteredFit(NamedTuple):
    """What ``predict`` needs after a fit whose points are in partitions.

    Attributes
    ----------
    parts : Parts
        The fields that new points climb over.
    ends : list of Delayed
    merged : Merged
    problem : Problem
        Without points: radius, scale and units.
    """

    parts: Parts
    ends: list[Any]
    merged: Merged
    problem: Problem


_NEEDED = {
    "n_neighbors": (None, "a partition does not know the nearest of all points"),
    "record": (False, "paths would not fit anywhere"),
    "checkpoint": (None, "positions are on the workers"),
    "seeding": (None, "starts are the points themselves"),
    "n_climbers": (None, "all points climb"),
    "n_runs": (1, "runs are joined point by point"),
    "feature_weights": (None, "distances would change from sweep to sweep"),
    "stop": ("shift", "a histogram of all shifts would be needed"),
    "strays": ("noise", "strays would have to look through all partitions"),
}
"""What a fit in partitions cannot do: the value that it needs, and why."""


def check_supported(estimator: Any) -> None:
    """Refuse what needs all points in one place."""
    remedy = "pass resolution=r, with which everything works, or an array in memory."
    for name, (needed, why) in _NEEDED.items():
        value: Any = getattr(estimator, name, needed)
        if np.ndim(value) > 0 or value != needed:
            refuse(
                f"{name}={value!r}",
                "Dask data without resolution",
                f"{why}. Take {name}={needed!r}, or {remedy}",
            )
    if getattr(estimator, "batch_size", 2) in (None, 1):
        refuse(
            f"batch_size={estimator.batch_size!r}", "Dask data without resolution",
            "every single step would be a message to all workers. Take batch_size=b with b about a "
            f"hundredth of the rows, or {remedy}",
        )  # fmt: skip
    if isinstance(estimator.bandwidth, tuple | list):
        refuse(
            f"bandwidth={estimator.bandwidth!r}", "Dask data without resolution",
            f"all places of a round are asked for with one radius. Take one number, or {remedy}",
        )  # fmt: skip


def fit_scattered(estimator: Any, rows: Rows, form: Form, bandwidth: Any, problem: Problem) -> None:
    """Run the schedule over partitions, merge, and set what a fit sets."""
    rule = Gaussian() if estimator.kernel == "gaussian" else Flat()
    parts = Parts(rows, form, Question(problem.radius, rule, estimator.field, form.sphere))
    if len(parts) == 0:
        raise ValueError("X must hold at least one row, got only empty chunks.")
    if parts.weight == 0.0:
        raise ValueError("sample_weight must hold at least one weight above 0, got only zeros.")
    watch = Watch(_reporter(estimator, problem, rows.dtype))
    run = _run(estimator, parts, problem, watch)
    ends = parts.persist(run.ends)
    length = float(estimator.merge_radius) * problem.scale
    merged = merge(parts, ends, length, estimator._min_size(problem))
    centers = centers_of(parts, merged)
    if form.sphere:
        centers = put_back(centers, merged.anchors)
    estimator._fitted_ = ScatteredFit(parts, ends, merged, problem)
    estimator.labels_ = as_array(parts, merged.labels, np.empty(0, dtype=np.int64))
    modes = [parts.task("modes", from_units, each, problem, rows.dtype) for each in ends]
    estimator.modes_ = as_array(parts, modes, np.empty((0, form.n_features), dtype=rows.dtype))
    estimator.cluster_centers_ = from_units(centers, problem, rows.dtype)
    estimator._set_facts(problem, bandwidth, run)


def _run(estimator: Any, parts: Parts, problem: Problem, watch: Watch) -> sweeps.Run:
    """Run the schedule that is the estimator's."""
    limits = {"tol": float(estimator.tol) * problem.scale, "max_iter": estimator.max_iter}
    if hasattr(estimator, "batch_size"):
        return sweeps.wander(
            parts,
            scale=problem.scale,
            patience=float(estimator.patience),
            batch_size=estimator.batch_size,
            random_state=check_randomness(estimator.random_state),
            watch=watch,
            **limits,
        )
    if hasattr(estimator, "stop"):
        return sweeps.blur(parts, watch=watch, **limits)
    starts = [parts.task("climb-start", sweeps.positions_of, field) for field in parts.fields]
    return sweeps.climb(parts, starts, watch=watch, **limits)[0]


def as_array(parts: Parts, pieces: list[Any], meta: np.ndarray) -> Any:
    """Lazy array of results of the partitions, in the chunks of X, those without rows included."""
    all_pieces = [parts.task("empty", meta.copy) for _ in parts.all_sizes]
    for chunk, piece in zip(parts.chunks, pieces, strict=True):
        all_pieces[chunk] = piece
    return stacked(all_pieces, tuple(parts.all_sizes.tolist()), meta)


def stacked(pieces: list[Any], sizes: tuple, meta: np.ndarray) -> Any:
    """Lazy array of delayed chunks; Dask's own ways of making one drop those without rows."""
    name = f"modeshift-rows-{new_token()}"
    columns = meta.shape[1:]
    rest = (0,) * len(columns)
    layer: Any = {(name, i, *rest): (_same, piece.key) for i, piece in enumerate(pieces)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=pieces)
    return da.Array(graph, name, (sizes, *((n,) for n in columns)), meta=meta)


def _same(piece: np.ndarray) -> np.ndarray:
    return piece


def _reporter(estimator: Any, problem: Problem, dtype: np.dtype) -> Any:
    """Return what tells the callback about a sweep; positions are a lazy array."""
    if estimator.callback is None:
        return None

    def report(positions: tuple[Parts, list[Any]], factors: None, **numbers: int) -> None:
        parts, places = positions
        shown = [parts.task("positions", from_units, each, problem, dtype) for each in places]

        def count_clusters() -> int:
            length = float(estimator.merge_radius) * problem.scale
            return len(merge(parts, places, length, 0.0).anchors)

        meta = np.empty((0, parts.rows.points.shape[1]), dtype=dtype)
        estimator.callback(
            Progress(
                max_iter=estimator.max_iter,
                positions=as_array(parts, shown, meta),
                count_clusters=count_clusters,
                **numbers,
            )
        )

    return report


def predict_scattered(estimator: Any, rows: Rows) -> Any:
    """Label new rows. They climb now, over all partitions; only the labels are lazy."""
    fitted = estimator._fitted_
    parts, problem = fitted.parts, fitted.problem
    form = Form(rows.dtype, parts.rows.points.shape[1], parts.question.sphere, problem.exponent)
    starts = parts.persist(
        [
            parts.task("predict-start", _placed, block, form, chunk)
            for chunk, (block, _) in enumerate(rows.blocks())
        ]
    )
    run, lonely = sweeps.climb(
        parts,
        starts,
        tol=float(estimator.tol) * problem.scale,
        max_iter=estimator.max_iter,
        watch=UNWATCHED,
    )
    centers = _placed(estimator.cluster_centers_, form, 0)
    labels = []
    for start, end, alone in zip(starts, run.ends, lonely, strict=True):
        nearest = [
            parts.task("predict-nearest", _nearest, modes, label, end)
            for modes, label in zip(fitted.ends, fitted.merged.labels, strict=True)
        ]
        labels.append(parts.task("predict", _nearest_label, start, alone, centers, *nearest))
    return stacked(labels, rows.points.chunks[0], np.empty(0, dtype=np.int64))


def _placed(block: Any, form: Form, chunk: int) -> np.ndarray:
    return form.points(block, chunk)


def _nearest(
    modes: np.ndarray, labels: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance to the nearest mode of a partition, and its label."""
    nearest = nearest_rows(modes, ends)
    return ((modes[nearest] - ends) ** 2).sum(axis=1), labels[nearest]


def _nearest_label(
    starts: np.ndarray,
    lonely: np.ndarray,
    centers: np.ndarray,
    *answers: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Label of the nearest mode of all; of the nearest centre for those that are alone."""
    squares, labels = (np.array(column) for column in zip(*answers, strict=True))
    chosen = labels[np.argmin(squares, axis=0), np.arange(len(starts))]
    if lonely.any():
        alone = starts[lonely]
        chosen[lonely] = nearest_rows(centers, alone) if len(centers) else -1
    return chosen
