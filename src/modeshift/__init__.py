"""Mean-shift clustering: deterministic, stochastic and blurring, as scikit-learn estimators."""

from modeshift import datasets, metrics
from modeshift.bandwidth import estimate_bandwidth
from modeshift.blurring_mean_shift import BlurringMeanShift
from modeshift.mean_shift import MeanShift
from modeshift.stochastic_mean_shift import StochasticMeanShift

__version__ = "0.1.0.dev0"

__all__ = [
    "BlurringMeanShift",
    "MeanShift",
    "StochasticMeanShift",
    "datasets",
    "estimate_bandwidth",
    "metrics",
]
