"""Write the page: from Python with a fitted model, and from the command with a table."""

from pathlib import Path
from typing import Any

from modeshift.io.write import check_place, write_whole
from modeshift.report.climb import Camera
from modeshift.report.content import make_content
from modeshift.report.explorer import make_explorer, script, style
from modeshift.report.fits import DescribedFit, describe
from modeshift.report.page import make_page

TAKEN = "To take this bandwidth, make the estimator like this and fit it to the same data:"


def write(
    model: Any,
    X: Any,
    path: Any,
    *,
    sample_weight: Any = None,
    camera: Camera | None = None,
) -> Path:
    """Write an HTML page about a fit: a map of the points, the clusters, the choices.

    It is the page of ``modeshift cluster --report``. It is one file and needs no network.

    Parameters
    ----------
    model : fitted MeanShift, StochasticMeanShift, BlurringMeanShift, or Consensus of them
    X : array-like of shape (n, d)
        The points of the fit.
    path : str or path
        The file. An existing one is replaced.
    sample_weight : array-like of shape (n,), default=None
        The weights of the fit.
    camera : Camera, default=None
        A callback of the fit (``model.set_callbacks(camera)``). With it the page plays the climb.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift import MeanShift, datasets, report
    >>> X, _ = datasets.make_paper_set(3, random_state=0)
    >>> model = MeanShift(bandwidth=0.9).fit(X)
    >>> with TemporaryDirectory() as folder:
    ...     report.write(model, X, Path(folder) / "page.html").name
    'page.html'
    """
    path = Path(path)
    check_place(path, force=True)
    write_page(path, describe(model, X, sample_weight, camera))
    return path


def write_page(path: Path, fit: DescribedFit) -> None:
    """Write the page of a fit that is described already."""
    explorer = make_explorer(fit, TAKEN)
    content = make_content(fit, explorer)
    page = make_page(content, script=script(), style=style())
    write_whole(path, lambda file: file.write(page.encode()))
