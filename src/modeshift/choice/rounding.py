"""Rounded data: every observation is put somewhere in its cell of the grid."""

from typing import Any

import numpy as np

from modeshift.choice.sample import Sample
from modeshift.globe import to_places, to_vectors

_DISTINCT = 0.9  # share of distinct points below which data count as rounded
_GAPS = 3  # gaps between the values of a feature, at least, that make a grid
_DECIMALS = 9  # of degrees, which come back from unit vectors with an error of 1e-14
_NO_GRID = 0.1  # of the smallest gap: the step of values that are too few to make a grid


def undo_rounding(sample: Sample, n_samples: int, metric: Any) -> tuple[Sample, float]:
    """Spread the observations of rounded data over the cells of their grid.

    Data are rounded if fewer than 90% of the observations are distinct. Each place then becomes as
    many observations as it has weight, at most ``n_samples`` in all, and each observation is moved
    by uniform noise of one step in each feature. The step of a feature is the median gap between
    its distinct values. Fewer than four values are no grid but places; a tenth of their smallest
    gap keeps them apart. Without this a grid has a cluster at each of its places, which is strong
    and false evidence of clusters. The noise has a fixed seed and the places are sorted, so
    repeated points and weighted ones give the same.

    Returns
    -------
    sample : Sample
        The sample itself if the data are not rounded.
    step : float
        The largest step, in the unit of the places; 0 if the data are not rounded.
    """
    counted = sample.weights.sum()
    if len(sample.weights) >= _DISTINCT * counted or len(sample.weights) == 1:
        return sample, 0.0
    rng = np.random.RandomState(0)
    counts = np.rint(sample.weights).astype(np.int64)
    if counted > n_samples:
        counts = rng.multinomial(n_samples, sample.weights / counted)
    on_globe = metric == "haversine"
    places = _degrees(sample) if on_globe else sample.places
    steps = np.array([_median_gap(values) for values in places.T])
    places = np.repeat(places, counts, axis=0)
    places += steps * rng.uniform(-0.5, 0.5, size=places.shape)
    if metric == "cosine":
        lengths = np.linalg.norm(places, axis=1, keepdims=True)
        places = np.ldexp(places / np.where(lengths > 0, lengths, 1.0), -sample.exponent)
    if on_globe:
        places[:, 0] = places[:, 0].clip(-90.0, 90.0)
        places = np.ldexp(to_vectors(places, "X"), -sample.exponent)
        steps = np.ldexp(np.radians(steps), -sample.exponent)
    spread = sample._replace(
        rows=np.repeat(sample.rows, counts), places=places, weights=np.ones(len(places))
    ).in_own_unit()  # a light outlier may have no observation; in its unit the others vanished
    return spread, float(np.ldexp(steps.max(), sample.exponent - spread.exponent))


def _degrees(sample: Sample) -> np.ndarray:
    """Return latitudes and longitudes: they are rounded, and not the unit vectors."""
    return to_places(sample.points).round(_DECIMALS)


def _median_gap(values: np.ndarray) -> float:
    gaps = np.diff(np.unique(values))
    if len(gaps) == 0:
        return 0.0
    return float(np.median(gaps) if len(gaps) >= _GAPS else _NO_GRID * gaps.min())
