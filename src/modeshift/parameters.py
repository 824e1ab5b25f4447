"""The table of the estimators' parameters: allowed values, and the engines that refuse them.

A new parameter is a row here. The checks of an estimator, the refusals of the engines,
``device="auto"``, checkpoints, the command, the tests of all pairs of options and the list in
docs/engines.md follow from the row. The command reads the table to make its parser, so NumPy is not
imported here.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from math import inf
from numbers import Integral
from typing import Any, NamedTuple

from modeshift.checks import (
    check_choice,
    check_feature_scale,
    check_feature_weights,
    check_flag,
    check_jobs,
    check_real,
    check_seeding,
    check_whole,
    refuse,
)

ENGINES = {
    "cpu": "arrays in memory, on the CPU",
    "cuda": "a GPU",
    "cells": "Dask data with resolution",
    "rounds": "Dask data without resolution",
}
"""Name of each engine, and its description in errors and documentation."""

WAYS_OUT = {
    "cpu": "Leave {name} at its default.",
    "cuda": "Take device='cpu', or leave {name} at its default.",
    "cells": "Leave {name} at its default, or pass an array in memory.",
    "rounds": "Leave {name} at its default, pass resolution=r, or pass an array in memory.",
}
"""Remedy in the error of each engine."""

Values = Mapping[str, Any]
Check = Callable[[str, Any], Any]


class Refusal(NamedTuple):
    """A parameter value that an engine cannot use, and the reason.

    Attributes
    ----------
    engine : str
    why : str
    when : function or None
        Returns whether a value is refused. None: every value but ``Parameter.off`` is.
    way_out : str or None
        Remedy in the error. None: the one in ``WAYS_OUT``.
    """

    engine: str
    why: str
    when: Callable[[Any], bool] | None = None
    way_out: str | None = None


class Parameter(NamedTuple):
    """One parameter of the estimators.

    Attributes
    ----------
    check : function of name and value
        Returns the value as a Python number; raises if no estimator can use it.
    off : object
        Value that means "not used". ``ALWAYS``: there is no such value.
    refusals : tuple of Refusal
    changes_result : bool
        Whether a fit that continues from a checkpoint needs the same value.
    in_signature : bool
        Whether it is a parameter of the estimators. (A checkpoint is set with ``set_callbacks``.)
    in_command : bool
        Whether ``modeshift cluster`` has an option for it.
    """

    check: Check
    off: Any
    refusals: tuple[Refusal, ...] = ()
    changes_result: bool = True
    in_signature: bool = True
    in_command: bool = True

    def is_used(self, value: Any) -> bool:
        """Return whether the value differs from ``off``."""
        if self.off is ALWAYS or value is self.off:
            return False
        return not (isinstance(value, type(self.off)) and value == self.off)


ALWAYS = object()
_METRICS = ("euclidean", "cosine", "haversine")


def _number(**limits: Any) -> Check:
    return partial(check_real, **limits)


def _whole(low: int) -> Check:
    return partial(check_whole, low=low)


def _choice(*choices: str) -> Check:
    return partial(check_choice, choices=choices)


def _or_none(check: Check) -> Check:
    def checked(name: str, value: Any) -> Any:
        if value is None:
            return None
        try:
            return check(name, value)
        except (TypeError, ValueError) as error:
            message = str(error).replace("must be ", "must be None, or ", 1)
            raise type(error)(message) from None

    return checked


def _anything(name: str, value: Any) -> Any:
    """Accept a value that is checked together with others, or with the data."""
    return value


def _metric(name: str, value: Any) -> Any:
    """Return a metric that is one of the names or a trained PLDA."""
    from modeshift.plda import PLDAMetric  # not earlier: it brings NumPy

    if isinstance(value, PLDAMetric) or (isinstance(value, str) and value in _METRICS):
        return value
    named = ", ".join(repr(choice) for choice in _METRICS)
    got = type(value).__name__ if hasattr(value, "get_params") else repr(value)
    raise ValueError(
        f"{name} must be one of {named}, or a trained PLDA "
        f"(TwoCovariancePLDA().fit(vectors, speakers).metric_), got {got}."
    )


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list)


def _is_way_of_the_cpu(value: Any) -> bool:
    return value not in ("auto", "fast")


def _is_fast(value: Any) -> bool:
    return bool(value == "fast")


def _is_model(metric: Any) -> bool:
    return not isinstance(metric, str)


def _is_one_point(value: Any) -> bool:
    return value in (None, 1)


PARAMETERS: dict[str, Parameter] = {
    "bandwidth": Parameter(
        _anything,
        ALWAYS,
        (
            Refusal(
                "cuda",
                "all points of a batch have the same radius on a GPU",
                _is_pair,
                "Take one number, or device='cpu'.",
            ),
            Refusal(
                "rounds",
                "all points of a round have the same radius",
                _is_pair,
                "Take one number, pass resolution=r, or pass an array in memory.",
            ),
        ),
    ),
    "kernel": Parameter(_choice("flat", "gaussian"), "flat"),
    "metric": Parameter(
        _metric,
        "euclidean",
        (
            Refusal(
                "cuda",
                "places on the globe and scores of a PLDA are computed only on the CPU",
                lambda value: value not in ("euclidean", "cosine"),
            ),
            Refusal("rounds", "scores of a PLDA are computed only for arrays in memory", _is_model),
        ),
    ),
    "n_neighbors": Parameter(
        _or_none(_whole(1)),
        None,
        (Refusal("rounds", "the nearest points may be in any partition"),),
    ),
    "stop": Parameter(
        _choice("shift", "entropy"),
        "shift",
        (
            Refusal("cuda", "the histogram of the steps is computed only on the CPU"),
            Refusal("rounds", "entropy needs the steps of all points in one place"),
        ),
    ),
    "tol": Parameter(_number(low=0.0, high=1.0), ALWAYS),
    "merge_radius": Parameter(_number(low=0.0), ALWAYS),
    "patience": Parameter(_number(low=0.0, low_allowed=False), ALWAYS),
    "batch_size": Parameter(
        _or_none(_whole(1)),
        None,
        (
            Refusal(
                "rounds",
                "every step of a single point would be a message to all workers",
                _is_one_point,
                "Take batch_size=b with b about a hundredth of the rows, pass resolution=r, or "
                "pass an array in memory.",
            ),
        ),
    ),
    "max_iter": Parameter(_whole(1), ALWAYS),
    "feature_weights": Parameter(
        check_feature_weights,
        None,
        (
            Refusal("cuda", "the weights change the distances in every sweep"),
            Refusal("rounds", "the weights change the distances in every sweep"),
        ),
    ),
    "n_clusters": Parameter(_or_none(_whole(1)), None),
    "significance": Parameter(_or_none(_number(low=0.0, high=1.0, low_allowed=False)), 0.05),
    "feature_scale": Parameter(check_feature_scale, None),
    "min_cluster_size": Parameter(_or_none(_number(low=0.0, low_allowed=False)), None),
    "strays": Parameter(
        _or_none(_choice("noise", "nearest")),
        None,
        (
            Refusal(
                "rounds",
                "the nearest mode of a stray may be in any partition",
                lambda value: value == "nearest",
            ),
        ),
    ),
    "seeding": Parameter(
        check_seeding,
        None,
        (Refusal("rounds", "every point climbs, and starts cannot be chosen"),),
    ),
    "resolution": Parameter(_or_none(_number(low=0.0, low_allowed=False)), None),
    "algorithm": Parameter(
        _choice("auto", "tree", "anchors", "brute", "fast"),
        "auto",
        (
            Refusal(
                "cuda", '"tree", "anchors" and "brute" run only on the CPU', _is_way_of_the_cpu
            ),
            Refusal(
                "cpu",
                '"fast" runs only on a GPU',
                _is_fast,
                "Take device='cuda', or algorithm='auto'.",
            ),
            *(
                Refusal(
                    engine,
                    "neighbours in Dask data are always exact",
                    _is_fast,
                    "Take algorithm='auto'.",
                )
                for engine in ("cells", "rounds")
            ),
        ),
    ),
    "n_jobs": Parameter(_or_none(check_jobs), None, changes_result=False),
    "device": Parameter(_choice("cpu", "cuda", "auto"), "cpu"),
    "random_state": Parameter(_anything, ALWAYS),
    "record": Parameter(
        check_flag,
        False,
        (
            Refusal("cuda", "the paths of all points would fill the memory of the GPU"),
            Refusal("rounds", "the paths of all points would not fit into memory"),
        ),
        in_command=False,
    ),
    "checkpoint": Parameter(
        _anything,
        None,
        (Refusal("rounds", "the positions on the workers cannot be saved"),),
        changes_result=False,
        in_signature=False,
    ),
}


class Conflict(NamedTuple):
    """Two options that no engine can combine.

    Attributes
    ----------
    name, other : str
    clashes : function of the two values
        Returns whether they clash. Called if the estimator has both parameters.
    why : str
        The reason, and the remedy.
    """

    name: str
    other: str
    clashes: Callable[[Any, Any], bool]
    why: str


def _both_used(name: str, other: str, why: str) -> Conflict:
    def clashes(value: Any, other_value: Any) -> bool:
        return PARAMETERS[name].is_used(value) and PARAMETERS[other].is_used(other_value)

    return Conflict(name, other, clashes, why)


def _is_infinite(bandwidth: Any) -> bool:
    return isinstance(bandwidth, float) and bandwidth == inf


CONFLICTS = (
    Conflict(
        "feature_scale",
        "metric",
        lambda scale, metric: scale is not None and metric == "cosine",
        "features of unit vectors cannot be scaled. Take metric='euclidean' or feature_scale=None.",
    ),
    Conflict(
        "feature_scale",
        "metric",
        lambda scale, metric: scale is not None and _is_model(metric),
        "a PLDA scales features by itself. Take feature_scale=None.",
    ),
    Conflict(
        "resolution",
        "metric",
        lambda resolution, metric: resolution is not None and _is_model(metric),
        "the mean of a cell has another score than its points. Take resolution=None.",
    ),
    Conflict(
        "algorithm",
        "metric",
        lambda algorithm, metric: algorithm in ("tree", "anchors") and _is_model(metric),
        "scores of a PLDA are compared point by point. Take algorithm='auto'.",
    ),
    _both_used(
        "feature_weights",
        "metric",
        "learned weights do not work on the unit sphere. Take metric='euclidean' or "
        "feature_weights=None.",
    ),
    Conflict(
        "bandwidth",
        "kernel",
        lambda bandwidth, kernel: _is_infinite(bandwidth) and kernel == "gaussian",
        "with an infinite bandwidth all points have the same weight. Give a finite bandwidth, or "
        "take kernel='flat'.",
    ),
    Conflict(
        "bandwidth",
        "resolution",
        lambda bandwidth, resolution: _is_infinite(bandwidth) and resolution is not None,
        "the size of cells is a fraction of the bandwidth. Give a finite bandwidth, or "
        "resolution=None.",
    ),
    Conflict(
        "bandwidth",
        "seeding",
        lambda bandwidth, seeding: _is_infinite(bandwidth) and isinstance(seeding, str),
        "bins are as large as the bandwidth. Give a finite bandwidth, or an array of starts.",
    ),
)


OF_SCIKIT_LEARN = {
    "seeds": ("seeding", "seeding=seeds"),
    "bin_seeding": ("seeding", "seeding='bins'"),
    "min_bin_freq": ("seeding", "seeding='bins', which starts from every occupied bin"),
    "cluster_all": ("strays", "min_cluster_size and strays='noise' for points without a cluster"),
}
"""Parameters that only scikit-learn's MeanShift has: our parameter, and how to use it."""


def refusal_of_foreign(owner: str, own: Collection[str], given: Iterable[str]) -> str | None:
    """Return an error about the first of scikit-learn's parameters; None if there is none.

    ``own`` holds the parameters that the estimator has, ``owner`` is its name.
    """
    for name in given:
        if name in OF_SCIKIT_LEARN and name not in own:
            ours, use = OF_SCIKIT_LEARN[name]
            whose = "" if ours in own else "MeanShift with "
            return (
                f"{owner} has no parameter {name}; use {whose}{use}. "
                "modeshift.compat.sklearn.MeanShift takes scikit-learn's parameters."
            )
    return None


_LONGEST_SHOWN = 100  # characters of an option in an error


def shown(name: str, value: Any) -> str:
    """Return an option as users write it; for long values only the name."""
    plain = value is None or isinstance(value, str | int | float | tuple | list)
    written = f"{name}={value!r}" if plain else name
    return written if len(written) <= _LONGEST_SHOWN else name


def check_each(values: Values) -> dict[str, Any]:
    """Check every parameter by itself; return the checked values."""
    return {name: PARAMETERS[name].check(name, value) for name, value in values.items()}


def check_together(values: Values) -> None:
    """Refuse options that no engine can combine."""
    for name, other, clashes, why in CONFLICTS:
        if name in values and other in values and clashes(values[name], values[other]):
            refuse(shown(name, values[name]), shown(other, values[other]), why)
    _check_starts_can_be_drawn_again(values)


def _check_starts_can_be_drawn_again(values: Values) -> None:
    drawn = isinstance(values.get("seeding"), Integral)
    if drawn and values.get("checkpoint") and not isinstance(values["random_state"], Integral):
        refuse(
            f"random_state={values['random_state']!r}", "a checkpoint with seeding=m",
            "a later fit would draw other starts. Pass an int as random_state.",
        )  # fmt: skip


def refusal_by(engine: str, values: Values) -> tuple[str, str] | None:
    """Return the first option that an engine refuses, and why; None if there is none."""
    for name, value in values.items():
        for refusal in PARAMETERS[name].refusals:
            if refusal.engine != engine:
                continue
            if (refusal.when or PARAMETERS[name].is_used)(value):
                way_out = (refusal.way_out or WAYS_OUT[engine]).format(name=name)
                return shown(name, value), f"{refusal.why}. {way_out}"
    return None


def names_where(**flags: bool) -> set[str]:
    """Return the names of the parameters whose row has these values."""
    return {
        name
        for name, row in PARAMETERS.items()
        if all(getattr(row, flag) == value for flag, value in flags.items())
    }
