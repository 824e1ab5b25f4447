"""Fitted estimators in a file, without pickle."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from numpy.random import RandomState
from sklearn.base import BaseEstimator

from modeshift.engines.prediction import Model
from modeshift.engines.problem import Problem
from modeshift.engines.rule import Flat, Gaussian, Nearest, Plane, Sphere
from modeshift.estimators.base import IndexCache
from modeshift.estimators.blurring_mean_shift import BlurringMeanShift
from modeshift.estimators.consensus import Consensus
from modeshift.estimators.mean_shift import MeanShift
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.io import models
from modeshift.io.whole_file import whole_file

_INDEX = "_index_"  # attribute that is empty again in the estimator that comes back
_LEFT_OUT = {"paths_", "profile_", _INDEX}  # may be large, and predict needs no saved one


class SavedEstimator(NamedTuple):
    """An estimator as plain data.

    Attributes
    ----------
    kind : str
        A name of ``ESTIMATORS``.
    parameters : dict
        Parameters.
    fitted : dict
        Attributes that the fit has set.
    """

    kind: str
    parameters: dict[str, Any]
    fitted: dict[str, Any]


ESTIMATORS: dict[str, type] = {
    "MeanShift": MeanShift,
    "StochasticMeanShift": StochasticMeanShift,
    "BlurringMeanShift": BlurringMeanShift,
    "Consensus": Consensus,
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


def save(model: Any, path: Any) -> None:
    """Save an estimator to a file that any later version of modeshift can load.

    Parameters
    ----------
    model : MeanShift, StochasticMeanShift, BlurringMeanShift or Consensus
        Fitted or not. ``paths_``, ``profile_`` and callbacks are left out, and a ``RandomState`` as
        parameter becomes None.
    path : str or path
        The file. It is written whole or not at all.
    """
    with whole_file(Path(path)) as file:
        models.save(file, to_plain(model), REGISTER)


def load(path: Any) -> Any:
    """Load an estimator that ``save`` has written. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If the file is damaged, or holds no estimator.
    """
    saved = models.load(path, REGISTER)
    if not isinstance(saved, SavedEstimator):
        raise ValueError(f"{path} holds no estimator of modeshift.")
    return from_plain(saved)


def to_plain(estimator: Any) -> SavedEstimator:
    """Return an estimator as plain data."""
    kinds = [name for name, kind in ESTIMATORS.items() if kind is type(estimator)]
    if not kinds:
        raise TypeError(
            f"estimator must be one of {', '.join(ESTIMATORS)}, got {type(estimator).__name__}."
        )
    fitted = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and name not in _LEFT_OUT
    }
    parameters = _each(estimator.get_params(deep=False), RandomState, lambda _: None)
    plain = (_each(part, BaseEstimator, to_plain) for part in (parameters, fitted))
    return SavedEstimator(kinds[0], *plain)


def _each(values: dict[str, Any], kind: type, change: Callable[[Any], Any]) -> dict[str, Any]:
    """Change the values of a kind: an estimator may hold another one."""
    return {name: change(v) if isinstance(v, kind) else v for name, v in values.items()}


def from_plain(saved: SavedEstimator) -> Any:
    """Return the estimator that ``to_plain`` was given."""
    if saved.kind not in ESTIMATORS:
        raise ValueError(f"{saved.kind!r} is no estimator of modeshift")
    try:
        parameters = _each(saved.parameters, SavedEstimator, from_plain)
        estimator = ESTIMATORS[saved.kind](**parameters)
    except TypeError as error:
        raise ValueError(f"this is no {saved.kind} of modeshift: {error}") from error
    if saved.fitted:
        fitted = _each(saved.fitted, SavedEstimator, from_plain)
        estimator.__setstate__(vars(estimator) | fitted | {_INDEX: IndexCache()})
    return estimator
