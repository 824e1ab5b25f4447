"""Mean-shift clustering: deterministic, stochastic and blurring, as scikit-learn estimators."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeshift import datasets, image, metrics, plots, presets, report, speech
    from modeshift.compat.patching import patch_sklearn, unpatch_sklearn
    from modeshift.estimators.bandwidth import bandwidth_profile, estimate_bandwidth
    from modeshift.estimators.blurring_mean_shift import BlurringMeanShift
    from modeshift.estimators.consensus import Consensus
    from modeshift.estimators.mean_shift import MeanShift
    from modeshift.estimators.saving import load, save
    from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
    from modeshift.watching import Checkpoint, ProgressBar

try:
    __version__ = version("modeshift")
except PackageNotFoundError:  # a copy of the source that was never installed
    __version__ = "0+unknown"

__all__ = [
    "BlurringMeanShift",
    "Checkpoint",
    "Consensus",
    "MeanShift",
    "ProgressBar",
    "StochasticMeanShift",
    "bandwidth_profile",
    "datasets",
    "estimate_bandwidth",
    "image",
    "load",
    "metrics",
    "patch_sklearn",
    "plots",
    "presets",
    "report",
    "save",
    "speech",
    "unpatch_sklearn",
]

# Loaded on first use: ``modeshift --version`` must not wait for scikit-learn and Numba.
_HOMES = {
    "BlurringMeanShift": "modeshift.estimators.blurring_mean_shift",
    "Checkpoint": "modeshift.watching",
    "Consensus": "modeshift.estimators.consensus",
    "MeanShift": "modeshift.estimators.mean_shift",
    "ProgressBar": "modeshift.watching",
    "StochasticMeanShift": "modeshift.estimators.stochastic_mean_shift",
    "bandwidth_profile": "modeshift.estimators.bandwidth",
    "estimate_bandwidth": "modeshift.estimators.bandwidth",
    "load": "modeshift.estimators.saving",
    "patch_sklearn": "modeshift.compat.patching",
    "save": "modeshift.estimators.saving",
    "unpatch_sklearn": "modeshift.compat.patching",
}

_OF_SCIKIT_LEARN = ("get_bin_seeds", "mean_shift")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        hint = f"; use modeshift.compat.sklearn.{name}" if name in _OF_SCIKIT_LEARN else ""
        raise AttributeError(f"module 'modeshift' has no attribute {name!r}{hint}")
    if name not in _HOMES:
        return import_module(f"modeshift.{name}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
