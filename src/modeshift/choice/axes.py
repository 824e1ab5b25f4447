"""Fewer axes for trials in many dimensions, where fits are nearly all of the cost."""

import numpy as np
from scipy.linalg import eigh

from modeshift.choice.sample import Sample

_AXES = 64  # with 48 the speakers of short segments are lost; with all nothing is gained


def on_leading_axes(sample: Sample, on_sphere: bool) -> Sample:
    """Return the sample on its 64 leading principal axes; the sample itself if it has no more.

    On the sphere the axes go through its centre, and the places are put back on the sphere. Else
    they go through the mean.
    """
    places = sample.places
    if places.shape[1] <= _AXES or len(places) <= _AXES:
        return sample
    if not on_sphere:
        places = places - np.average(places, axis=0, weights=sample.weights)
    m, d = places.shape
    last = min(m, d) - 1
    ends = [last - _AXES + 1, last]
    if d <= m:
        axes = eigh(places.T @ places, subset_by_index=ends)[1]
        reduced = places @ axes
    else:  # the smaller of the two matrices with the same eigenvalues
        squares, vectors = eigh(places @ places.T, subset_by_index=ends)
        reduced = vectors * np.sqrt(np.maximum(squares, 0.0))
    if on_sphere:
        lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
        reduced = np.ldexp(reduced / np.where(lengths > 0, lengths, 1.0), -sample.exponent)
    return sample._replace(places=reduced)
