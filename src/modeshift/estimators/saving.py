"""Estimators as plain data, for :mod:`modeshift.io.models`, and back."""

from typing import Any, NamedTuple

from modeshift.engines.prediction import Model
from modeshift.engines.problem import Problem
from modeshift.engines.rule import Flat, Gaussian, Nearest, Plane, Sphere
from modeshift.estimators.base import IndexCache, ModeSeeker
from modeshift.estimators.blurring_mean_shift import BlurringMeanShift
from modeshift.estimators.mean_shift import MeanShift
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.parameters import names_where

_INDEX = "_index_"  # attribute that is empty again in the estimator that comes back
_LEFT_OUT = {"paths_", "profile_", _INDEX}  # may be large, and predict needs no saved one


class SavedEstimator(NamedTuple):
    """An estimator as plain data.

    Attributes
    ----------
    kind : str
        A name of ``ESTIMATORS``.
    parameters : dict
        Parameters, without those that matter only while a fit runs.
    fitted : dict
        Attributes that the fit has set.
    """

    kind: str
    parameters: dict[str, Any]
    fitted: dict[str, Any]


ESTIMATORS: dict[str, type[ModeSeeker]] = {
    "MeanShift": MeanShift,
    "StochasticMeanShift": StochasticMeanShift,
    "BlurringMeanShift": BlurringMeanShift,
}
"""Name in files of each estimator. A name stays as it is when a class is renamed."""

REGISTER: dict[str, type] = {
    "estimator": SavedEstimator,
    "model": Model,
    "problem": Problem,
    "flat": Flat,
    "gaussian": Gaussian,
    "nearest": Nearest,
    "plane": Plane,
    "sphere": Sphere,
}
"""Name in files of each class that plain data of an estimator hold. Names stay as they are."""


def to_plain(estimator: ModeSeeker) -> SavedEstimator:
    """Return an estimator as plain data."""
    kinds = [name for name, kind in ESTIMATORS.items() if kind is type(estimator)]
    if not kinds:
        raise TypeError(
            f"estimator must be one of {', '.join(ESTIMATORS)}, got {type(estimator).__name__}."
        )
    parameters = estimator.get_params(deep=False)
    fitted = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and name not in _LEFT_OUT
    }
    for name in names_where(only_while_fitting=True):
        parameters.pop(name, None)
    return SavedEstimator(kinds[0], parameters, fitted)


def from_plain(saved: SavedEstimator) -> ModeSeeker:
    """Return the estimator that ``to_plain`` was given."""
    if saved.kind not in ESTIMATORS:
        raise ValueError(f"{saved.kind!r} is no estimator of modeshift")
    try:
        estimator = ESTIMATORS[saved.kind](**saved.parameters)
    except TypeError as error:
        raise ValueError(f"this is no {saved.kind} of modeshift: {error}") from error
    if saved.fitted:
        estimator.__setstate__(vars(estimator) | saved.fitted | {_INDEX: IndexCache()})
    return estimator
