"""How wide a neighbourhood should be, judged from the data."""

from typing import Any

import numpy as np

from modeshift.checks import check_choice, check_real, check_weights, check_whole, refuse
from modeshift.choice.normal import normal_radius
from modeshift.choice.profile import BandwidthProfile
from modeshift.choice.quantile import quantile_radius
from modeshift.choice.sample import draw_sample
from modeshift.engines.cpu.chart import chart_of
from modeshift.engines.cpu.scale import nearest_scale
from modeshift.estimators.base import ModeSeeker, asked_to_profile
from modeshift.estimators.choosing import profile_for
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.estimators.validation import as_places, check_matrix, check_randomness
from modeshift.parameters import shown
from modeshift.spec import Sampled

_METHODS = ("stability", "quantile", "normal", "neighbors")
_USED_BY = {
    "estimator": ("stability",),
    "quantile": ("quantile",),
    "n_samples": ("stability", "quantile", "normal"),
}
_QUANTILE = 0.3  # scikit-learn's default
_SAMPLES = 1500


def estimate_bandwidth(
    X: Any,
    *,
    method: str = "stability",
    estimator: Any = None,
    quantile: float | None = None,
    n_samples: int | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> float:
    """Estimate a bandwidth, by one of several rules.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    method : {"stability", "quantile", "normal", "neighbors"}, default="stability"
        "stability": the estimator is fitted to a sample over a range of bandwidths. The bandwidth
        is chosen whose clusters are set apart best and change least with the bandwidth; see
        :func:`bandwidth_profile` and docs/bandwidth.md. Estimators without a bandwidth use the same
        rule, and choose ``n_neighbors`` too. Costs up to 40 fits of ``n_samples`` points, whatever
        n is.

        "quantile": scikit-learn's rule, with the same numbers up to ``n_samples`` points: the mean
        over the points of the distance to their k-th nearest one, themselves included, where k is
        ``quantile`` times their number. Too wide as a rule. Quadratic in ``n_samples``.

        "normal": what suits the gradient of one Gaussian (Chacon & Duong 2013), as a radius of the
        flat kernel. Linear in ``n_samples``.

        "neighbors": the median distance to the k-th nearest point with k = sqrt(n), the number of
        neighbours that Loftsgaarden & Quesenberry (1965) suggest to estimate a density. Asks for
        1,000 points in a tree of all.
    estimator : estimator, default=None
        Only with "stability": the estimator that will use the bandwidth; None is
        ``StochasticMeanShift()``. With ``metric="cosine"`` the bandwidth is a cosine distance.
    quantile : float, default=None
        Only with "quantile": share of the data that a ball holds, between 0 and 1; None is 0.3.
    n_samples : int, default=None
        Not with "neighbors": above this many points a random sample of that size is used; None is
        1500.
    sample_weight : array-like of shape (n,), default=None
        A point of weight 2 counts as two points.
    random_state : int, RandomState instance or None, default=0
        Draws the sample.

    Returns
    -------
    float
        Always positive and finite; 1.0 when all points coincide. By "quantile", where most points
        coincide and the rule gives 0, half the smallest gap between two points.

    Examples
    --------
    >>> from modeshift import datasets, estimate_bandwidth
    >>> X, _ = datasets.make_paper_set(1, random_state=0)
    >>> round(estimate_bandwidth(X), 2)
    0.83
    >>> round(estimate_bandwidth(X, method="quantile"), 2)
    1.38
    """
    check_choice("method", method, _METHODS)
    _refuse_unused(method, estimator=estimator, quantile=quantile, n_samples=n_samples)
    share = _QUANTILE if quantile is None else quantile
    share = check_real("quantile", share, low=0.0, high=1.0, high_allowed=True)
    n_samples = check_whole("n_samples", _SAMPLES if n_samples is None else n_samples, low=1)
    if method == "stability":
        profile = _profile(
            X, estimator, sample_weight, True, n_samples=n_samples, random_state=random_state
        )
        return profile.bandwidth
    points = check_matrix("X", X)
    weights = check_weights(sample_weight, len(points))
    sample = draw_sample(points, weights, n_samples, check_randomness(random_state))
    if method == "neighbors":
        k = int(np.ceil(np.sqrt(sample.total)))
        return nearest_scale(points, weights, k)
    length = quantile_radius(sample, share) if method == "quantile" else normal_radius(sample)
    return float(sample.in_user_units(length)) if length > 0 else 1.0


def _refuse_unused(method: str, **given: Any) -> None:
    """Refuse an argument that the method would ignore; None was not given."""
    for name, value in given.items():
        if value is not None and method not in _USED_BY[name]:
            methods = " or ".join(f"method={each!r}" for each in _USED_BY[name])
            why = f"the method does not use it. Leave it out, or take {methods}."
            refuse(shown(name, value), f"method={method!r}", why)


def bandwidth_profile(
    X: Any,
    estimator: Any = None,
    *,
    n_bandwidths: int | None = None,
    n_samples: int = _SAMPLES,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> BandwidthProfile:
    """Profile the clusters of X over a range of bandwidths, and choose one.

    The estimator is fitted to a sample at ``n_bandwidths`` bandwidths, in many dimensions also with
    several ``n_neighbors``. docs/bandwidth.md explains the score; ``plots.bandwidth_profile``
    draws it.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    estimator : estimator, default=None
        The estimator that needs a bandwidth, with all its other parameters and its callbacks; None
        is ``StochasticMeanShift()``.
    n_bandwidths : int, default=None
        Steps of the range; None is 20, and 9 in many dimensions. The range ends early where 95% of
        the points are one cluster.
    n_samples : int, default=1500
        Above this many points a random sample of that size is used.
    sample_weight : array-like of shape (n,), default=None
        A point of weight 2 counts as two points.
    random_state : int, RandomState instance or None, default=0
        Draws the sample.

    Returns
    -------
    BandwidthProfile
        The chosen ``bandwidth`` and ``n_neighbors``, the ``p_value`` of the test of clusters at
        all, ``finer`` and ``coarser`` alternatives, and as ``chosen`` the curves over the
        bandwidths with the labels at each.

    Examples
    --------
    >>> from modeshift import bandwidth_profile, datasets
    >>> X, _ = datasets.make_paper_set(1, random_state=0)
    >>> profile = bandwidth_profile(X)
    >>> profile.one_cluster
    False
    """
    if n_bandwidths is not None:
        n_bandwidths = check_whole("n_bandwidths", n_bandwidths, low=2)
    return _profile(
        X, estimator, sample_weight, False,
        n_bandwidths=n_bandwidths,
        n_samples=check_whole("n_samples", n_samples, low=1),
        random_state=random_state,
    )  # fmt: skip


def _profile(
    X: Any, estimator: Any, sample_weight: Any, plain: bool, *, random_state: Any, **settings: Any
) -> BandwidthProfile:
    estimator = StochasticMeanShift() if estimator is None else estimator
    if not isinstance(estimator, ModeSeeker):
        raise TypeError(
            "estimator must be a MeanShift, StochasticMeanShift or BlurringMeanShift, or None, "
            f"got {estimator!r}."
        )
    points = check_matrix("X", as_places(X, estimator.metric))
    spec, level, observer = asked_to_profile(estimator, points.shape[1])
    weights = check_weights(sample_weight, len(points))
    points = chart_of(spec).points(points, "X")
    rng = check_randomness(random_state)
    sampled = Sampled(points, weights)
    settings |= {"level": level, "progress": observer.tell_choice}
    with observer.fitting("sweep"):
        return profile_for(spec, sampled, plain=plain, random_state=rng, **settings)
