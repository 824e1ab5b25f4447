"""Save and load estimators without pickle."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.base import BaseEstimator

from modeshift.engines.cpu.cell_sums import Tally
from modeshift.engines.cpu.stream import Clock, Saved, Stream
from modeshift.engines.kinds import is_dask
from modeshift.engines.prediction import Grid, Model
from modeshift.engines.problem import Problem, Units
from modeshift.engines.rule import Flat, Gaussian, Globe, Latent, Nearest, Plane, Sphere
from modeshift.estimators.base import IndexCache, model_of
from modeshift.estimators.blurring_mean_shift import BlurringMeanShift
from modeshift.estimators.consensus import Consensus
from modeshift.estimators.mean_shift import MeanShift
from modeshift.estimators.saved_data import check_fitted
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.io import models
from modeshift.io.whole_file import whole_file
from modeshift.plda import PLDAMetric

_INDEX = "_index_"  # attribute that is empty in a loaded estimator
_STREAM = "_stream_"  # attribute that is saved in a form of its own
_LEFT_OUT = {"paths_", "profile_", "_spec_", _INDEX}  # predict and partial_fit work without them


class SavedEstimator(NamedTuple):
    """An estimator as plain data.

    Attributes
    ----------
    kind : str
        A key of ``ESTIMATORS``.
    parameters : dict
    fitted : dict
        Fitted attributes.
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
"""Name of each estimator in files. It stays the same when the class is renamed."""

REGISTER: dict[str, type] = {
    "estimator": SavedEstimator,
    "model": Model,
    "problem": Problem,
    "grid": Grid,
    "flat": Flat,
    "gaussian": Gaussian,
    "nearest": Nearest,
    "plane": Plane,
    "sphere": Sphere,
    "globe": Globe,
    "latent": Latent,
    "plda": PLDAMetric,
    "stream": Saved,
    "clock": Clock,
    "tally": Tally,
    "units": Units,
}
"""Name in files of each class that the data of an estimator contain. Names never change."""


def save(model: Any, path: Any) -> None:
    """Save an estimator to a file that any later version of modeshift can load.

    Parameters
    ----------
    model : MeanShift, StochasticMeanShift, BlurringMeanShift or Consensus
        Fitted or not. ``paths_``, ``profile_``, callbacks and lazy Dask arrays are not saved, and a
        ``RandomState`` in a parameter becomes None.
    path : str or path
        The file. It appears when it is complete; after an error there is no file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import modeshift
    >>> model = modeshift.MeanShift(bandwidth=1.0).fit([[1.0, 1.0], [8.0, 8.0], [8.1, 8.2]])
    >>> with TemporaryDirectory() as folder:
    ...     modeshift.save(model, Path(folder) / "model.npz")
    ...     again = modeshift.load(Path(folder) / "model.npz")
    >>> again.predict([[1.1, 1.0], [8.0, 8.1]])
    array([1, 0])
    """
    with whole_file(Path(path)) as file:
        models.save(file, to_plain(model), REGISTER)


def load(path: Any) -> Any:
    """Load an estimator from a file that ``save`` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Of the same class, with the same parameters and, if it was fitted, the same labels and
        predictions.

    Raises
    ------
    ValueError
        If the file is damaged, holds no estimator, or was written by a development version.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import modeshift
    >>> with TemporaryDirectory() as folder:
    ...     modeshift.save(modeshift.BlurringMeanShift(bandwidth=2.0), Path(folder) / "model.npz")
    ...     modeshift.load(Path(folder) / "model.npz")
    BlurringMeanShift(bandwidth=2.0)
    """
    return models.load(path, REGISTER, _estimator_of)


def _estimator_of(content: Any) -> Any:
    if not isinstance(content, SavedEstimator):
        raise ValueError("it was not written by modeshift.save")
    return from_plain(content)


def to_plain(estimator: Any) -> SavedEstimator:
    """Return an estimator as plain data."""
    kinds = [name for name, kind in ESTIMATORS.items() if kind is type(estimator)]
    if not kinds:
        raise TypeError(
            f"estimator must be one of {', '.join(ESTIMATORS)}, got {type(estimator).__name__}."
        )
    model = model_of(estimator)
    if model is not None and not (
        isinstance(model, Model) and isinstance(model.labels, np.ndarray)
    ):
        raise TypeError(
            "An estimator whose points are on Dask workers or on a GPU cannot be saved. Fit it to "
            "an array, or to Dask data with resolution."
        )
    fitted = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and name not in _LEFT_OUT and not is_dask(value)
    }
    parameters = _each(estimator.get_params(deep=False), RandomState, lambda _: None)
    if _STREAM in fitted:
        fitted[_STREAM] = fitted[_STREAM].saved()
    plain = (_each(part, BaseEstimator, to_plain) for part in (parameters, fitted))
    return SavedEstimator(kinds[0], *plain)


def _each(values: dict[str, Any], kind: type, change: Callable[[Any], Any]) -> dict[str, Any]:
    """Change all values of one kind: a Consensus contains estimators."""
    return {name: change(v) if isinstance(v, kind) else v for name, v in values.items()}


def from_plain(saved: SavedEstimator) -> Any:
    """Return the estimator of plain data, the inverse of ``to_plain``."""
    if saved.kind not in ESTIMATORS:
        raise ValueError(f"modeshift has no estimator {saved.kind!r}")
    try:
        parameters = _each(saved.parameters, SavedEstimator, from_plain)
        estimator = ESTIMATORS[saved.kind](**parameters)
    except TypeError as error:
        raise ValueError(f"the saved parameters do not fit {saved.kind}: {error}") from error
    if saved.fitted:
        check_fitted(saved.fitted)
        fitted = _each(saved.fitted, SavedEstimator, from_plain)
        if "_model_" in fitted:
            fitted[_INDEX] = IndexCache()
        if _STREAM in fitted:
            fitted[_STREAM] = Stream.of(fitted[_STREAM])
        estimator.__setstate__(vars(estimator) | fitted)
    return estimator
