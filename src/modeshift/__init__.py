"""Mean-shift clustering: deterministic, stochastic and blurring, as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeshift import datasets, metrics, presets
    from modeshift.estimators.bandwidth import bandwidth_profile, estimate_bandwidth
    from modeshift.estimators.blurring_mean_shift import BlurringMeanShift
    from modeshift.estimators.consensus import Consensus
    from modeshift.estimators.mean_shift import MeanShift
    from modeshift.estimators.saving import load, save
    from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
    from modeshift.watching import Checkpoint

__version__ = "0.1.0.dev0"

__all__ = [
    "BlurringMeanShift",
    "Checkpoint",
    "Consensus",
    "MeanShift",
    "StochasticMeanShift",
    "bandwidth_profile",
    "datasets",
    "estimate_bandwidth",
    "load",
    "metrics",
    "presets",
    "save",
]

# Loaded on first use: ``modeshift --version`` must not wait for scikit-learn and Numba.
_HOMES = {
    "BlurringMeanShift": "modeshift.estimators.blurring_mean_shift",
    "Checkpoint": "modeshift.watching",
    "Consensus": "modeshift.estimators.consensus",
    "MeanShift": "modeshift.estimators.mean_shift",
    "StochasticMeanShift": "modeshift.estimators.stochastic_mean_shift",
    "bandwidth_profile": "modeshift.estimators.bandwidth",
    "estimate_bandwidth": "modeshift.estimators.bandwidth",
    "load": "modeshift.estimators.saving",
    "save": "modeshift.estimators.saving",
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
