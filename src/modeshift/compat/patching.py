"""Put the names of :mod:`modeshift.compat.sklearn` into scikit-learn, and take them out again."""

import sklearn.cluster
from sklearn.cluster import _mean_shift

from modeshift.compat import sklearn as ours

_ORIGINALS = {name: getattr(_mean_shift, name) for name in ours.__all__}
_MODULES = (sklearn.cluster, _mean_shift)


def patch_sklearn() -> None:
    """Replace scikit-learn's mean-shift by the one of :mod:`modeshift.compat.sklearn`.

    Afterwards ``from sklearn.cluster import MeanShift`` imports ours, and likewise ``mean_shift``,
    ``estimate_bandwidth`` and ``get_bin_seeds``. Names that were imported before stay as they are.

    Examples
    --------
    >>> import modeshift
    >>> modeshift.patch_sklearn()
    >>> from sklearn.cluster import MeanShift
    >>> MeanShift.__module__
    'modeshift.compat.sklearn'
    >>> modeshift.unpatch_sklearn()
    """
    _put({name: getattr(ours, name) for name in ours.__all__})


def unpatch_sklearn() -> None:
    """Put scikit-learn's own mean-shift back.

    Examples
    --------
    >>> import modeshift
    >>> modeshift.patch_sklearn()
    >>> modeshift.unpatch_sklearn()
    >>> from sklearn.cluster import MeanShift
    >>> MeanShift.__module__
    'sklearn.cluster._mean_shift'
    """
    _put(_ORIGINALS)


def _put(values: dict[str, object]) -> None:
    for module in _MODULES:
        for name, value in values.items():
            setattr(module, name, value)
