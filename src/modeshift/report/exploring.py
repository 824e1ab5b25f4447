"""The explorer in a notebook."""

from typing import Any

from modeshift.io.optional import require
from modeshift.report.climb import Camera
from modeshift.report.fits import describe


def explore(
    model: Any,
    X: Any,
    *,
    sample_weight: Any = None,
    camera: Camera | None = None,
) -> Any:
    """Return the explorer of a fit, a widget for notebooks.

    Slide the bandwidth, draw around points, play the climb. *Take* sets the bandwidth on ``model``,
    and all that is chosen with it; ``model.fit(X)`` then fits it. Needs the extra ``widget``.

    Parameters
    ----------
    model : fitted MeanShift, StochasticMeanShift, BlurringMeanShift, or Consensus of them
        Fitted without a bandwidth, so that there is a profile to slide through.
    X : array-like of shape (n, d)
        The points of the fit.
    sample_weight : array-like of shape (n,), default=None
        The weights of the fit.
    camera : Camera, default=None
        A callback of the fit (``model.set_callbacks(camera)``). With it the climb can be played.

    Returns
    -------
    modeshift.report.widget.Explorer
        ``selected`` has the rows of X that are chosen, by a lasso or as a cluster. ``bandwidth``
        is the one that was taken last, or None. Both can be watched with ``observe``.

    Examples
    --------
    >>> from modeshift import MeanShift, datasets, report
    >>> X, _ = datasets.make_paper_set(1, random_state=0)
    >>> model = MeanShift().fit(X)
    >>> report.explore(model, X)
    Explorer of MeanShift: 750 points, 3 clusters
    """
    require("anywidget", "widget")
    from modeshift.report.widget import Explorer

    return Explorer(describe(model, X, sample_weight, camera))
