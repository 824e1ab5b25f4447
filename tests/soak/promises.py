"""What the design promises of every fit, checked on one case.

Some promises hold to the last bit. Others hold up to rounding, which may decide ties: they are
checked only if the twin finds the same labels and steps for slightly smaller and larger bandwidths
(a *clear* case).
"""

import io
import os
import pickle
import re
import tempfile
import warnings
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import modeshift
from helpers import steps_of
from modeshift import Checkpoint
from modeshift.engines.cpu import parallel
from modeshift.watching.watch import Watch
from soak.cases import bandwidth_of, estimator_of, given_to_fit, points_of, weights_of
from twins import naive
from twins.compare import assert_keeps_labels, run_twin

os.environ.setdefault("TRITON_INTERPRET", "1")

RESULTS = ("labels_", "modes_", "cluster_centers_", "n_iter_", "n_steps_", "converged_")


def check(case):
    """Check all promises of a case. Return the names of those that were tried."""
    trial = Trial(case)
    try:
        assert trial.fit is not None
    except (ValueError, TypeError) as error:
        assert_is_refusal(error)
        return [f"refused: {re.sub(r'[0-9][0-9.e+-]*', 'x', str(error))[:60]}"]
    tried = []
    for name, promise in PROMISES.items():
        if promise(trial) is not False:
            tried.append(name)
    return tried


class Trial:
    """A case, its data, and its fit."""

    def __init__(self, case):
        self.case = case
        self.options = case["options"]
        self.X = points_of(case)
        self.weights = weights_of(case)
        self.random = np.random.default_rng([4, case["seed"]])

    def made(self, **more):
        """The estimator of the case, unfitted."""
        return estimator_of(self.case, self.X, **more)

    def fitted(self, X=None, weights="own", **more):
        """The estimator, fitted in memory on the CPU."""
        X = given_to_fit(self.case, self.X) if X is None else X
        weights = self.weights if isinstance(weights, str) else weights
        return quietly(self.made(**more), X, weights)

    @cached_property
    def fit(self):
        """The fit that the case asks for."""
        engine = self.case["engine"]
        if engine == "dask":
            import dask
            import dask.array as da

            n = len(self.X)
            chunks = da.from_array(self.X.astype(self.case["dtype"]), chunks=(max(1, n // 3), -1))
            with dask.config.set(scheduler="synchronous"):
                estimator = quietly(self.made(), chunks, self.weights)
                for name in ("labels_", "modes_"):
                    value = getattr(estimator, name)
                    setattr(
                        estimator, name, value.compute() if hasattr(value, "compute") else value
                    )
                return estimator
        return self.fitted_on_gpu() if engine == "cuda" else self.fitted()

    def fitted_on_gpu(self, **more):
        """The estimator, fitted on a GPU."""
        with np.errstate(over="ignore"):  # the interpreter mentions it, a GPU does not
            return self.fitted(self.X.astype(self.case["dtype"]), device="cuda", **more)

    @cached_property
    def plain(self):
        """The fit in memory, on the CPU."""
        return self.fit if self.case["engine"] == "cpu" else self.fitted()

    @cached_property
    def unit(self):
        """A power of two that brings the radius near 1: the twin squares what it gets."""
        scale = self.plain.scale_
        if not 0 < scale < np.inf:
            return 1.0
        return float(np.ldexp(1.0, -int(np.frexp(scale)[1])))

    @cached_property
    def twins(self):
        """The twin's results at the bandwidth, at a smaller and at a larger one; None: no twin.

        Each is a result, its labels, and whether no stray is as near to two clusters.
        """
        if not self.has_twin:
            return None
        return [self._twin(factor) for factor in (1.0, 1 - 1e-9, 1 + 1e-9)]

    @cached_property
    def shaken_twins(self):
        """The twin's results when each point has moved by a billionth of the extent, and back.

        Of two equal distances, the one that becomes the longer by a movement becomes the shorter by
        its opposite: one of the two results shows that they were equal.
        """
        return [self._twin(1.0, self._moves), self._twin(1.0, -self._moves)]

    @cached_property
    def _moves(self):
        return self.random.uniform(-1e-9, 1e-9, self.X.shape) * self.extent

    @property
    def has_twin(self):
        odd = {"resolution", "n_clusters", "feature_scale"} & set(self.options)
        seeded = self.options.get("seeding") == "bins"
        to_the_last_bit = self.options.get("merge_radius") == 0.0  # who meets, rounding decides
        usual = self.case["bandwidth"] not in ("none", "inf")
        vanishes = self.temperature is not None and self.temperature < np.finfo(float).tiny
        return usual and not (odd or seeded or to_the_last_bit or vanishes)

    @cached_property
    def temperature(self):
        """The temperature of learned feature weights, a squared length, in the twin's units.

        It is infinite where the points are tiny; all features then have the same weight.
        """
        given = self.options.get("feature_weights")
        with np.errstate(over="ignore"):
            return given and (1.0 if given == "learned" else given) * np.square(self.unit)

    def _twin(self, factor, moved_by=0.0):
        h = bandwidth_of(self.case, self.X)
        unit = 1.0 if self.options.get("metric") == "cosine" else self.unit
        h = tuple(factor * unit * b for b in h) if isinstance(h, tuple) else factor * unit * h
        estimator = self.made(bandwidth=h)
        estimator.scale_ = factor * unit * self.plain.scale_
        X = (self.X.astype(self.case["dtype"]).astype(float) + moved_by) * unit
        if self.temperature is not None:
            estimator.set_params(feature_weights=self.temperature)
        with np.errstate(all="ignore"):
            result = run_twin(estimator, X, self.weights)
            merge_radius = estimator.merge_radius * estimator.scale_
            components = naive.merge(result.modes, merge_radius, result.rule)
            labels = naive.label(components, self.weights, estimator.min_cluster_size or 1)
            if estimator.strays != "nearest":
                return result, labels, True
            return result, *naive.join_strays(
                result.modes, labels, self.weights, result.rule, slack=4 * self.precision
            )

    @cached_property
    def is_clear(self):
        """Whether rounding decides nothing: neither who is near, nor who is among the nearest."""
        if self.twins is None or not np.all(np.isfinite(self.twins[0][0].modes)):
            return False
        if not self.twins[0][2]:
            return False
        others = self.twins[1:]
        others += self.shaken_twins if "n_neighbors" in self.options else []
        return all(self._is_like_the_twin(*other) for other in others)

    @cached_property
    def is_robust(self):
        """Whether a small movement of each point decides nothing: no two distances are equal."""
        return self.is_clear and all(self._is_like_the_twin(*other) for other in self.shaken_twins)

    @cached_property
    def is_steady(self):
        """Whether the same movements change no label of the CPU: for cells, which have no twin."""
        moved = (self.fitted(self.X + moves) for moves in (self._moves, -self._moves))
        return all(np.array_equal(other.labels_, self.plain.labels_) for other in moved)

    def _is_like_the_twin(self, other, labels, _):
        """Whether labels and steps are the same, and all positions on the way.

        The ends alone may hide a tie: all points of a symmetric line end in its middle.
        """
        twin, own_labels, _ = self.twins[0]
        return (
            np.array_equal(labels, own_labels)
            and [len(path) for path in other.paths] == [len(path) for path in twin.paths]
            and np.allclose(
                np.concatenate([*other.paths, other.modes]),
                np.concatenate([*twin.paths, twin.modes]),
                rtol=0,
                atol=self.precision,
            )
        )

    @property
    def precision(self):
        """Difference between positions of a fit and its twin that rounding explains, in units."""
        unit = 1.0 if self.options.get("metric") == "cosine" else self.unit
        rounding = np.finfo(self.plain.modes_.dtype)
        # Below the smallest normal number digits are lost.
        lost = 4 * float(rounding.eps) * max(np.max(np.abs(self.X)), float(rounding.tiny))
        return unit * (1e-7 * self.extent + lost)

    @property
    def extent(self):
        return max(float(np.max(np.ptp(self.X / 4, axis=0)) * 4), self.plain.scale_)


def quietly(estimator, X, weights):
    """Fit; all warnings are errors but those that a user may expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        return estimator.fit(X, sample_weight=weights)


def assert_is_refusal(error):
    """One short message in words, without the inside of another program."""
    message = str(error)
    assert 10 < len(message) < 700, message
    assert "\n" not in message.strip(), message
    assert "numba" not in message.lower(), message


def assert_same_bits(one, other):
    for name in RESULTS:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def same_partition(labels, others):
    """Whether two labellings differ only in their numbers."""
    pairs = set(zip(labels.tolist(), others.tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


# --------------------------------------------------------------- promises
# Each returns False where the design does not promise it for this case.


def results_make_sense(trial):
    """Labels count down by weight, positions are numbers, and all have their shapes."""
    fit, n, d = trial.fit, *trial.X.shape
    n_clusters = int(fit.labels_.max()) + 1
    assert fit.labels_.shape == (n,)
    assert set(range(n_clusters)) <= set(fit.labels_.tolist()) <= set(range(-1, n_clusters))
    assert fit.modes_.shape == (n, d)
    assert fit.cluster_centers_.shape == (n_clusters, d)
    assert np.all(np.isfinite(fit.modes_))
    assert np.all(np.isfinite(fit.cluster_centers_))
    if trial.options.get("strays") != "nearest" and trial.case["bandwidth"] != "none":
        weights = np.ones(n) if trial.weights is None else trial.weights
        sizes = [weights[fit.labels_ == k].sum() for k in range(n_clusters)]
        assert np.all(np.diff(sizes) <= 1e-9 * np.max(sizes, initial=0.0))


def nobody_leaves_the_hull(trial):
    if trial.options.get("metric") == "cosine":
        return False
    eps = np.finfo(trial.fit.modes_.dtype).eps
    low, high = trial.X.min(axis=0), trial.X.max(axis=0)
    slack = (1e-9 if trial.case["engine"] != "cuda" else 1e-4) * trial.extent
    slack = slack + 8 * eps * np.maximum(abs(low), abs(high))
    for positions in (trial.fit.modes_, trial.fit.cluster_centers_):
        assert np.all(positions >= low - slack)
        assert np.all(positions <= high + slack)


def a_second_fit_is_the_same(trial):
    if trial.case["engine"] != "cpu":
        return False
    assert_same_bits(
        quietly(clone(trial.fit), given_to_fit(trial.case, trial.X), trial.weights), trial.fit
    )


def threads_change_no_bit(trial):
    assert_same_bits(trial.fitted(n_jobs=2), trial.plain)


def fitted_points_keep_their_labels(trial):
    if trial.case["engine"] == "dask":
        return False
    assert_keeps_labels(trial.fit, trial.X.astype(trial.case["dtype"]))


def labels_are_the_twins(trial):
    if not trial.is_clear:
        return False
    (twin, labels, _), *_ = trial.twins
    fit = trial.plain
    assert_array_equal(fit.labels_, labels)
    if trial.options.get("tol") != 0.0:  # whether a point still moves at all, rounding decides
        assert (fit.n_iter_, fit.n_steps_, fit.converged_) == (
            twin.n_iter, twin.n_steps, twin.converged,
        )  # fmt: skip
    unit = 1.0 if trial.options.get("metric") == "cosine" else trial.unit
    modes = unit * fit.modes_.astype(float)
    assert_allclose(modes, twin.modes, rtol=0, atol=trial.precision)


def all_fields_agree(trial):
    if not trial.is_clear or "algorithm" in trial.options:
        return False
    for algorithm in ("tree", "anchors", "brute"):
        try:
            other = trial.fitted(algorithm=algorithm)
        except ValueError:  # a field that cannot answer this rule says so
            continue
        assert_array_equal(other.labels_, trial.plain.labels_, err_msg=algorithm)


def engines_agree(trial):
    """Cells are the same to the last bit; a GPU adds up the means of cells in its own order."""
    engine, in_cells = trial.case["engine"], "resolution" in trial.options
    if engine == "cpu" or (engine == "dask" and trial.case["bandwidth"] == "none"):
        return False  # the samples of the choice differ
    steady = in_cells and (engine == "dask" or trial.is_steady)
    if not (steady or trial.is_clear):
        return False
    fit, options = trial.fit, {}
    if engine == "cuda" and trial.made().get_params().get("batch_size", 1) is None:
        options["batch_size"] = max(1, -(-len(trial.X) // 16))
        if in_cells:  # by default there are 16 batches of cells, not of points
            fit = trial.fitted_on_gpu(**options)
    plain = trial.fitted(trial.X.astype(trial.case["dtype"]), **options)
    assert_array_equal(np.asarray(fit.labels_), plain.labels_)


def units_of_length_change_no_bit(trial):
    """A power of two; beyond what floats hold there is nothing to compare."""
    in_units = {"resolution", "feature_scale", "feature_weights"}  # cells, lengths, temperature
    if in_units & set(trial.options) or trial.case["dtype"] != "float64":
        return False
    largest = np.max(np.abs(trial.X))
    smallest = np.min(np.abs(trial.X[trial.X != 0]), initial=1.0)
    if trial.options.get("metric") == "cosine" or largest > 1e250 or smallest < 1e-250:
        return False
    heavy = slice(None) if trial.weights is None else trial.weights > 0
    if trial.case["bandwidth"] == "none" and np.ptp(trial.X[heavy], axis=0).max() == 0:
        return False  # there is no length in the data to choose a bandwidth by
    factor = 2.0 ** trial.random.integers(-60, 60)
    h = bandwidth_of(trial.case, trial.X)
    h = h if h is None else tuple(factor * b for b in h) if isinstance(h, tuple) else factor * h
    options = {}
    if (
        isinstance(trial.options.get("feature_weights"), float)
        or "feature_weights" in trial.options
    ):
        return False  # the temperature is in squared units
    other = trial.fitted(factor * trial.X, bandwidth=h, **options)
    assert_array_equal(other.labels_, trial.fitted(trial.X).labels_)
    assert_array_equal(other.modes_, factor * trial.fitted(trial.X).modes_)


def units_of_weight_change_no_bit(trial):
    counts_weight = {"n_neighbors", "min_cluster_size", "resolution"}  # the last: in digits
    if trial.weights is None or counts_weight & set(trial.options):
        return False
    if trial.case["bandwidth"] == "none":
        return False  # n_neighbors may be chosen, and it counts weights
    other = trial.fitted(weights=2.0**20 * trial.weights)
    assert_same_bits(other, trial.plain)


def movements_change_no_label(trial):
    """Translation, and rotation where features have no lengths of their own."""
    if trial.options.get("metric") == "cosine" or trial.case["dtype"] != "float64":
        return False
    if not trial.is_robust:  # equal distances stay equal with any bandwidth
        return False
    spread = np.max(np.ptp(trial.X, axis=0))
    if not 1e-100 < spread < 1e100 or np.max(np.abs(trial.X)) > 1e3 * max(
        spread, trial.plain.scale_
    ):
        return False
    if spread > 1e3 * trial.plain.scale_:
        return False  # digits of the points would be lost
    d = trial.X.shape[1]
    moved = trial.X + trial.random.normal(size=d) * spread
    assert_array_equal(trial.fitted(moved).labels_, trial.plain.labels_)
    if "feature_weights" not in trial.options:
        rotation = np.linalg.qr(trial.random.normal(size=(d, d)))[0]
        assert_array_equal(trial.fitted(trial.X @ rotation).labels_, trial.plain.labels_)


def order_of_rows_changes_no_cluster(trial):
    if not trial.is_clear or trial.case["estimator"] == "StochasticMeanShift":
        return False
    if {"seeding", "n_neighbors"} & set(trial.options):
        return False
    order = trial.random.permutation(len(trial.X))
    weights = None if trial.weights is None else trial.weights[order]
    X = trial.X.astype(trial.case["dtype"])
    other = trial.fitted(X[order], weights)
    assert same_partition(other.labels_, trial.plain.labels_[order])


def whole_weights_are_repeated_points(trial):
    if not trial.is_clear or trial.case["weights"] != "whole":
        return False
    if trial.case["estimator"] == "StochasticMeanShift":
        return False
    if {"seeding", "n_neighbors", "stop"} & set(trial.options):
        return False
    times = trial.weights.astype(int)
    X = trial.X.astype(trial.case["dtype"])
    repeated = trial.fitted(np.repeat(X, times, axis=0), None)
    assert_array_equal(repeated.labels_, np.repeat(trial.plain.labels_, times))


def phi_never_rises(trial):
    """Phi = sum over pairs of w_i w_j min(|x_i - x_j|^2, h^2), step by step."""
    fine = trial.case["estimator"] == "StochasticMeanShift" and trial.case["dtype"] == "float64"
    odd = {
        "kernel",
        "metric",
        "n_neighbors",
        "resolution",
        "batch_size",
        "feature_scale",
        "n_clusters",
    }
    if (
        not fine
        or odd & set(trial.options)
        or trial.case["bandwidth"] not in ("small", "middle", "large")
    ):
        return False
    X = trial.X * trial.unit
    h = bandwidth_of(trial.case, trial.X) * trial.unit
    if not np.all(np.abs(X) < 1e6 * h):
        return False
    estimator = trial.fitted(X, bandwidth=h, record=True, max_iter=4)
    weights = np.ones(len(X)) if trial.weights is None else trial.weights / trial.weights.max()
    Y = X.copy()
    for j, _, after in steps_of(estimator, len(X)):
        before = _pull_of(Y, weights, j, h)
        Y[j] = after
        assert _pull_of(Y, weights, j, h) <= before + 1e-9 * h * h * weights[j] * weights.sum()


def _pull_of(Y, weights, j, h):
    """The part of Phi that belongs to point j."""
    return weights[j] * np.sum(weights * np.minimum(np.sum((Y - Y[j]) ** 2, axis=1), h * h))


def batches_are_one_fit(trial):
    if "resolution" not in trial.options or trial.case["bandwidth"] in ("none", "inf"):
        return False
    if {"n_clusters"} & set(trial.options) or trial.case["frame"] != "array":
        return False
    X = trial.X.astype(trial.case["dtype"])
    order = trial.random.permutation(len(X))  # ties of clusters go by first appearance
    X, weights = X[order], None if trial.weights is None else trial.weights[order]
    cuts = np.sort(trial.random.integers(0, len(X), 2))
    stream = trial.made()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows in np.split(np.arange(len(X)), cuts):
            if len(rows):
                part = None if weights is None else weights[rows]
                if part is not None and not part.any():
                    return False
                stream.partial_fit(X[rows], sample_weight=part)
        centers = trial.fitted(X, weights).cluster_centers_
    assert_array_equal(stream.cluster_centers_, centers)
    own = trial.plain.cluster_centers_
    if trial.case["estimator"] == "BlurringMeanShift" and trial.case["frame"] == "array":
        assert_array_equal(np.sort(centers, axis=0), np.sort(own, axis=0))


def saved_models_predict_the_same(trial):
    if trial.case["engine"] != "cpu":
        return False
    X = given_to_fit(trial.case, trial.X)
    expected = trial.fit.predict(X)
    file = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        modeshift.save(trial.fit, path)
        loaded = modeshift.load(path)
    pickle.dump(trial.fit, file)
    for other in (loaded, pickle.loads(file.getvalue())):
        assert_array_equal(other.predict(X), expected)
        assert_array_equal(other.labels_, trial.fit.labels_)


def a_stopped_fit_goes_on(trial):
    """Ctrl-C at random moments, then the same bits."""
    if trial.case["engine"] != "cpu":
        return False
    with tempfile.TemporaryDirectory() as folder, short_bites():
        path = Path(folder) / "fit.checkpoint"
        estimator = trial.made().set_callbacks(Checkpoint(path))
        X = given_to_fit(trial.case, trial.X)
        for after in (*trial.random.integers(1, 12, 3), 10**9):
            with ctrl_c(after), suppress(KeyboardInterrupt):
                quietly(estimator, X, trial.weights)
                break
            assert [name for name in vars(estimator) if name.endswith("_")] == []
        assert_same_bits(estimator, trial.fit)
        assert list(Path(folder).iterdir()) == []


@contextmanager
def ctrl_c(after):
    """Stop at the n-th time that a schedule passes a place where it might be stopped."""
    beat, left = Watch.beat, after

    def stop_or_go_on(watch):
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        beat(watch)

    Watch.beat = stop_or_go_on
    try:
        yield
    finally:
        Watch.beat = beat


@contextmanager
def short_bites():
    """Return to Python after a few steps, so that there is much to stop."""
    learn = parallel.Pace.learn
    parallel.Pace.learn = lambda *_: None
    try:
        yield
    finally:
        parallel.Pace.learn = learn


PROMISES = {
    promise.__name__: promise
    for promise in (
        results_make_sense,
        nobody_leaves_the_hull,
        a_second_fit_is_the_same,
        threads_change_no_bit,
        fitted_points_keep_their_labels,
        labels_are_the_twins,
        all_fields_agree,
        engines_agree,
        units_of_length_change_no_bit,
        units_of_weight_change_no_bit,
        movements_change_no_label,
        order_of_rows_changes_no_cluster,
        whole_weights_are_repeated_points,
        phi_never_rises,
        batches_are_one_fit,
        saved_models_predict_the_same,
        a_stopped_fit_goes_on,
    )
}
