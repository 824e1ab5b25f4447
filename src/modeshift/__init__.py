"""Mean-shift clustering: deterministic, stochastic and blurring, as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeshift import datasets, metrics, presets
    from modeshift.estimators.bandwidth import bandwidth_profile, estimate_bandwidth
    from modeshift.estimators.blurring_mean_shift import BlurringMeanShift
    from modeshift.estimators.mean_shift import MeanShift
    from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift

__version__ = "0.1.0.dev0"

__all__ = [
    "BlurringMeanShift",
    "MeanShift",
    "StochasticMeanShift",
    "bandwidth_profile",
    "datasets",
    "estimate_bandwidth",
    "metrics",
    "presets",
]

# Loaded on first use: the command must be able to say its version without scikit-learn and Numba.
_HOMES = {
    "BlurringMeanShift": "modeshift.estimators.blurring_mean_shift",
    "MeanShift": "modeshift.estimators.mean_shift",
    "StochasticMeanShift": "modeshift.estimators.stochastic_mean_shift",
    "bandwidth_profile": "modeshift.estimators.bandwidth",
    "estimate_bandwidth": "modeshift.estimators.bandwidth",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'modeshift' has no attribute {name!r}")
    if name not in _HOMES:
        return import_module(f"modeshift.{name}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
