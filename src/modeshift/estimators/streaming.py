"""When ``partial_fit`` exists, and what it refuses."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any

from modeshift.engines.choose import choose_engine
from modeshift.engines.cpu.engine import CpuEngine
from modeshift.engines.cpu.stream import Stream
from modeshift.engines.kinds import is_dask
from modeshift.parameters import Values, shown
from modeshift.spec import Spec


class NoStream(AttributeError, ValueError):
    """The parameters of an estimator do not allow ``partial_fit``.

    It is an AttributeError, so ``hasattr(estimator, "partial_fit")`` is False, as scikit-learn's
    conventions ask for, and a ValueError for everybody who calls it.
    """


class needs_cells:  # a decorator
    """Make a method exist only if the points can be kept as cells of a known size."""

    def __init__(self, method: Callable) -> None:
        self._method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, estimator: Any, kind: type | None = None) -> Any:
        """Return the method; raise :class:`NoStream` if the estimator has none."""
        if estimator is None:
            return self._method
        check_cells(estimator)
        return MethodType(self._method, estimator)


def check_cells(estimator: Any) -> None:
    """Raise :class:`NoStream` if points cannot be kept as cells of a known size."""
    if estimator.resolution is None:
        raise NoStream(
            "partial_fit needs resolution=r, because it keeps cells of side bandwidth / r and not "
            "the points. Pass a number, for example resolution=8."
        )
    if estimator.bandwidth is None:
        raise NoStream(
            "partial_fit needs a bandwidth, because none can be chosen before all points are "
            "there. Pass a number; modeshift.estimate_bandwidth finds one for a sample."
        )


def stream_engine(values: Values, X: Any) -> CpuEngine:
    """Return the engine that keeps streams; refuse data that it does not take."""
    if is_dask(X):
        raise TypeError(
            "partial_fit takes arrays in memory, got a Dask collection. Pass it to fit, which "
            "reads it chunk by chunk."
        )
    if values["device"] == "cuda":
        raise ValueError(
            "partial_fit keeps its cells on the CPU, and clusters them there. Take device='cpu', "
            "or fit all points at once."
        )
    engine = choose_engine({**values, "device": "cpu"}, X)
    assert isinstance(engine, CpuEngine)  # the others are for Dask
    return engine


def check_goes_on(stream: Stream | None, spec: Spec, is_fitted: bool) -> None:
    """Refuse to go on from a fit without sums, or with cells of another kind."""
    if stream is None:
        if is_fitted:
            raise ValueError(
                "partial_fit goes on from partial_fit, or from a fit of an array with resolution, "
                "and this estimator was fitted in another way. Call partial_fit of a clone."
            )
        return
    for name, old, new in stream.differences(spec):
        raise ValueError(
            f"{shown(name, new)} differs from {shown(name, old)}, with which the stream began, so "
            f"the cells would be others. Take {shown(name, old)}, or call partial_fit of a clone."
        )
