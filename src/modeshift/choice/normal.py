"""The normal-scale rule: what would be best if the data were one Gaussian."""

import numpy as np

from modeshift.choice.sample import Sample


def normal_radius(sample: Sample) -> float:
    """Radius for the flat kernel by the normal-scale rule for the gradient of a density.

    For the Gaussian kernel (J. E. Chacon, T. Duong, "Data-driven density derivative estimation,
    with applications to nonparametric clustering and bump hunting", Electronic Journal of
    Statistics 7, 2013)::

        h = sigma (4 / ((d + 4) n))^(1 / (d + 6))

    with sigma^2 the mean variance of the features. Flat mean-shift climbs the density that the
    Epanechnikov kernel estimates (Cheng 1995), whose variance in each feature is r^2 / (d + 4); so
    the radius of the same variance is r = h sqrt(d + 4).
    """
    places = sample.places
    d = places.shape[1]
    offsets = places - np.average(places, axis=0, weights=sample.weights)
    variance = np.average((offsets**2).mean(axis=1), weights=sample.weights)
    h = np.sqrt(variance) * (4.0 / ((d + 4.0) * sample.total)) ** (1.0 / (d + 6.0))
    return float(h * np.sqrt(d + 4.0))
